/** Recounts everything and compares: finds nothing after ordinary lives, returns what differs, and writes nothing. */
import { expect, test } from 'vitest'
import type { AuditCursor, FlowDrift } from '../../src/kernel/index.ts'
import { anyOf, names, nodes, quorum } from './given-flow.ts'
import { CLASS } from './given.ts'
import type { Bench } from './harness.ts'
import { conforms } from './harness.ts'

/** Counts all flows once; `between` happens before each step but the first. */
async function audit({ fabric }: Bench, between: () => Promise<unknown> = async () => undefined) {
  const drifts: FlowDrift[] = []
  const total = { audited: 0, unsteady: 0, steps: 0 }
  let cursor: AuditCursor | undefined
  do {
    const step = await fabric.run('auditFlows', { cursor })
    drifts.push(...step.drifts)
    total.audited += step.audited
    total.unsteady += step.unsteady
    total.steps += 1
    cursor = step.cursor
    if (cursor !== undefined) await between()
  } while (cursor !== undefined && total.steps < 100)
  return { drifts, ...total }
}

conforms('auditFlows', (bench) => {
  const { fabric, flows } = bench

  test('finds no drift after lives of every kind, and writes nothing', async () => {
    const won = await flows.graph({ a: [], b: [], z: ['a', 'b'] }, { policies: { z: anyOf } })
    await won.complete('a', 'z')
    const lost = await flows.graph({ a: [], b: ['a'], c: ['b'] }, { flow: { outcomeRule: 'sinks' } })
    await lost.fail('a')
    await lost.replay('a', { subtree: true })
    const short = await flows.open(['a'])
    await short.add('q', { after: ['a'], policy: quorum(2) })
    await (await flows.graph({ a: [], b: ['a'] })).cancel()
    const before = await fabric.dump()

    expect(await audit(bench)).toMatchObject({ drifts: [], audited: 4, unsteady: 0 })
    expect(await fabric.dump()).toEqual(before)
  })

  test('counts a flow of more members than one step looks at', async () => {
    await flows.graph(nodes(names('n', 450)), { class: CLASS })

    expect(await audit(bench)).toMatchObject({ drifts: [], audited: 1, unsteady: 0, steps: 4 })
  })

  test('leaves a flow for the next time that changes while it is counted', async () => {
    const graph = await flows.graph(nodes(names('n', 250)), { class: CLASS })

    const { unsteady, audited } = await audit(bench, () => graph.complete('n0').catch(() => undefined))

    expect([unsteady, audited]).toEqual([1, 0])
  })

  test('returns what differs, flow by flow', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    const { flow } = await graph.view()
    const counts = { ...flow.counts, waiting: 0, completed: 1 }
    await fabric.plant({ ...flow, counts, memberCount: 3, edgeCount: 0, shortGroupCount: 1 })

    const { drifts } = await audit(bench)
    await fabric.plant(flow)

    expect(drifts.map(({ what, recorded, counted }) => [what, recorded, counted])).toEqual([
      ['waiting', 0, 1],
      ['completed', 1, 0],
      ['members', 3, 2],
      ['edges', 0, 1],
      ['short_groups', 1, 0],
    ])
    expect(drifts.every(({ flowId }) => flowId === graph.flowId)).toBe(true)
  })

  test('reports a sealed flow that should have ended', async () => {
    const graph = await flows.graph({ a: [] })
    await graph.complete('a')
    const { flow } = await graph.view()
    await fabric.plant({ ...flow, state: { phase: 'sealed' } })

    const { drifts } = await audit(bench)
    await fabric.plant(flow)

    expect(drifts.map(({ what }) => what)).toEqual(['not_ended'])
  })
})
