/** Proves that no member waits for what has happened: finds nothing after ordinary lives, and finds what was damaged. */
import { expect, test } from 'vitest'
import type { DependencyCursor, DependencyProblem, EdgeGroup, Execution } from '../../src/kernel/index.ts'
import { FLOW_RECONCILE_COUNT } from '../../src/kernel/index.ts'
import { names, nodes, quorum } from './given-flow.ts'
import { CLASS } from './given.ts'
import type { Bench } from './harness.ts'
import { conforms } from './harness.ts'

/** Walks all lanes once. */
async function reconcile({ fabric }: Bench) {
  const repaired: DependencyProblem[] = []
  const examined: number[] = []
  let cursor: DependencyCursor | undefined
  do {
    const step = await fabric.run('reconcileDependencies', { cursor })
    repaired.push(...step.repaired)
    examined.push(step.examined)
    cursor = step.cursor
  } while (cursor !== undefined && examined.length < 100)
  return { repaired, examined }
}

function withGroup(execution: Execution, change: Partial<EdgeGroup>): Execution {
  const { member } = execution
  if (member?.group === undefined) throw new Error('the test needs a member with a group')
  return { ...execution, member: { ...member, group: { ...member.group, ...change } } }
}

conforms('reconcileDependencies', (bench) => {
  const { fabric, flows, given, clock } = bench

  test('finds nothing to repair where everything waits rightly, and writes nothing', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['b'], d: [], q: ['a', 'd'] }, { policies: { q: quorum(2) } })
    await graph.complete('a')
    await flows.held(['a']).then((held) => held.add('b', { after: ['a'] }))
    const running = await flows.graph({ parent: [] })
    const holder = await running.claim('parent')
    await running.add('child', { holder, awaited: {} })
    await fabric.run('waitForChildren', { executionId: holder.executionId, fence: holder.fence })
    const before = await fabric.dump()

    expect(await reconcile(bench)).toMatchObject({ repaired: [] })
    expect(await fabric.dump()).toEqual(before)
  })

  test('looks at every lane, page by page, so that no member starves', async () => {
    const fan = names('w', FLOW_RECONCILE_COUNT + 20)
    await flows.graph({ a: [], ...nodes(fan, ['a']) }, { class: CLASS })
    await flows.graph({ a: [], b: ['a'] }, { drafts: { b: { lane: 'another' }, a: { lane: 'main-2' } } })

    const { examined, repaired } = await reconcile(bench)

    expect(examined.reduce((sum, count) => sum + count, 0)).toBe(fan.length + 1)
    expect(Math.max(...examined)).toBe(FLOW_RECONCILE_COUNT)
    expect(repaired).toEqual([])
  })

  test('leaves to an upstream that knows what it owes', async () => {
    const fan = names('w', 120)
    const graph = await flows.graph({ a: [], ...nodes(fan, ['a']) }, { class: CLASS })
    await graph.complete('a')

    expect((await reconcile(bench)).repaired).toEqual([])
    await flows.drain()
    expect((await graph.view()).flow.counts.waiting).toBe(120)
  })

  test('resolves edges that missed the end of their upstream, and what follows from them', async () => {
    const fan = names('w', 120)
    const graph = await flows.graph({ a: [], ...nodes(fan, ['a']), z: ['w119'] }, { class: CLASS })
    await graph.fail('a')
    await forgetDebts()
    const { counts } = (await graph.view()).flow

    const { repaired } = await reconcile(bench)

    expect(new Set(repaired.map(({ problem }) => problem))).toEqual(new Set(['unresolved_edge']))
    expect(repaired).toHaveLength(counts.waiting_dependencies - 1)
    expect((await graph.view()).flow).toMatchObject({ state: { phase: 'ended' }, counts: { failed: 1, skipped: 121 } })
    expect((await reconcile(bench)).repaired).toEqual([])
  })

  test('decides a group whose edges have decided', async () => {
    const graph = await flows.held(['a'])
    await graph.add('b', { after: ['a'] })
    await graph.add('c', { after: ['b'] })
    await graph.cancelMember('a')
    await fabric.plant({ ...(await graph.view()).flow, state: { phase: 'sealed' } })

    expect((await reconcile(bench)).repaired).toEqual([{ problem: 'undecided', executionId: graph.id('b') }])
    expect(await graph.states()).toEqual(['cancelled', 'skipped', 'skipped'])
    expect((await graph.view()).state).toBe('failed')
  })

  test('moves a member that was decided and not moved', async () => {
    const { executionId } = await given.endedExecution()
    const graph = await flows.held()
    await graph.add('a', { executionId })
    await graph.add('b', { after: ['a'] })
    await fabric.plant(withGroup(await graph.look('b'), { verdict: 'satisfied', decidedAt: clock.now() }))
    await fabric.plant({ ...(await graph.view()).flow, state: { phase: 'open' } })

    expect((await reconcile(bench)).repaired).toEqual([{ problem: 'unmoved', executionId: graph.id('b') }])
    expect(await graph.state('b')).toBe('waiting')
  })

  test('lets a member go that waits for nothing', async () => {
    const graph = await flows.graph({ a: [], b: [] })
    const { flow } = await graph.view()
    await fabric.plant({ ...(await graph.look('a')), state: { phase: 'blocked', by: 'dependencies', gate: undefined } })
    await fabric.plant({ ...flow, counts: { ...flow.counts, waiting: 1, waiting_dependencies: 1 } })

    expect((await reconcile(bench)).repaired).toEqual([{ problem: 'edgeless', executionId: graph.id('a') }])
    expect(await graph.states()).toEqual(['waiting', 'waiting'])
    await graph.complete('a', 'b')
  })

  test('skips what its input excludes, and what its filter does not name', async () => {
    const graph = await flows.held(['a'])
    await graph.add('b', { after: ['a'] })
    await graph.cancelMember('a')
    await fabric.plant({ ...(await graph.view()).flow, state: { phase: 'sealed' } })

    const skip = await fabric.run('reconcileDependencies', { skip: [graph.id('b')] })
    const other = await fabric.run('reconcileDependencies', { filter: { namespace: 'other' } })
    expect([skip.repaired, other.repaired]).toEqual([[], []])
    expect((await reconcile(bench)).repaired).toHaveLength(1)
  })

  /** Every member that owes edges is made to believe that it does not. */
  async function forgetDebts(): Promise<void> {
    for (const record of (await fabric.dump()).records) {
      if (record.type !== 'execution' || record.member?.owesEdges !== true) continue
      await fabric.plant({ ...record, member: { ...record.member, owesEdges: false } })
    }
  }
})
