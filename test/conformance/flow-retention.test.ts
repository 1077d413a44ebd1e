/** A flow and its members go together, when the flow's own retention is over. */
import { expect, test } from 'vitest'
import { chain, input, names, nodes } from './given-flow.ts'
import { CLASS, RETENTION_MS, fixedRetry, transientFailure } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('the retention of a flow', ({ fabric, flows, given, clock }) => {
  const purge = () => fabric.run('purgeExecutions', {})

  /** Completes everything of a class that can be claimed. */
  const completeAll = async () => {
    for (;;) {
      const { executions } = await given.claim({ count: 50 })
      if (executions.length === 0) return
      await Promise.all(
        executions.map(({ executionId, fence }) => fabric.run('completeExecution', { executionId, fence })),
      )
    }
  }

  test('keeps members as long as their flow, however short their own is', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] }, { drafts: { a: { retentionMs: 0 } } })
    await graph.complete('a')
    clock.advance(RETENTION_MS)
    expect(await purge()).toMatchObject({ purged: [], purgedFlows: [] })
    await graph.complete('b')
    clock.advance(RETENTION_MS - 1)
    expect((await purge()).nextDueAt).toBe(clock.now() + 1)

    clock.advance(1)
    const { purged, purgedFlows } = await purge()

    expect([purged.length, purgedFlows]).toEqual([2, [graph.flowId]])
  })

  test('leaves nothing behind: no record, entry or byte', async () => {
    const bytes = new Uint8Array([1, 2, 3])
    const drafts = { a: { bytes, retry: fixedRetry(2, 0) }, b: { bytes } }
    const graph = await flows.graph({ a: [], b: [input('a')], c: ['b'] }, { drafts })
    await fabric.run('failExecution', { ...(await graph.claim('a')), ...transientFailure })
    await graph.completeWith('a', bytes)
    await graph.replay('a')
    await graph.complete('a')
    await graph.fail('b')
    clock.advance(RETENTION_MS)

    await purge()

    const { records, entries, blobKeys } = await fabric.dump()
    expect([records, entries, blobKeys]).toEqual([[], [], []])
  })

  test('removes a large flow over several calls, during which no caller sees it', async () => {
    const links = names('n', 130)
    const graph = await flows.graph(
      { ...nodes(links), z: links.slice(0, 100) },
      { class: CLASS, flow: { retentionMs: 0 } },
    )
    await completeAll()
    expect((await graph.view()).state).toBe('completed')

    const first = await purge()
    expect(first).toMatchObject({ purgedFlows: [] })
    expect(first.next).toBeDefined()
    const { flowId } = graph
    expect((await refusal(fabric, () => fabric.run('describeFlow', { flowId }))).code).toBe('flow_not_found')
    expect((await fabric.run('listFlows', { limit: 10 })).flows).toEqual([])
    expect((await fabric.run('createFlow', flows.createInput({ flowId }))).kind).toBe('refused')
    let step = first
    for (let i = 0; step.next !== undefined && i < 20; i++)
      step = await fabric.run('purgeExecutions', { from: step.next })

    expect(step.purgedFlows).toEqual([flowId])
    expect((await fabric.dump()).records).toEqual([])
    expect((await fabric.run('createFlow', flows.createInput({ flowId }))).kind).toBe('created')
  })

  test('begins with the last change: a replay puts it off, and a cancelled flow waits for its last member', async () => {
    const replayed = await flows.graph({ a: [] })
    const cancelled = await flows.graph({ b: [] })
    await replayed.fail('a')
    await cancelled.claim('b')
    await cancelled.cancel({ policy: 'cancel_pending' })
    clock.advance(RETENTION_MS - 1)
    await replayed.replay('a')
    clock.advance(1)

    expect((await purge()).purgedFlows).toEqual([])
    await replayed.complete('a')
    await flows.drain()
    clock.advance(RETENTION_MS)

    expect((await purge()).purgedFlows.sort()).toEqual([replayed.flowId, cancelled.flowId].sort())
  })

  test('does not touch a flow that is open, whatever has become of its members', async () => {
    const graph = await flows.open(['a'])
    await graph.complete('a')
    clock.advance(10 * RETENTION_MS)

    expect((await purge()).purgedFlows).toEqual([])
    expect((await graph.add('b', { after: ['a'] })).kind).toBe('added')
  })

  test('goes by the filter of the engine that looks', async () => {
    const graph = await flows.graph(chain(['a', 'b']), { flow: { namespace: 'mine', retentionMs: 0 } })
    await graph.complete('a', 'b')

    expect((await fabric.run('purgeExecutions', { filter: { namespace: 'other' } })).purgedFlows).toEqual([])
    expect((await fabric.run('purgeExecutions', { filter: { namespace: 'mine' } })).purgedFlows).toEqual([graph.flowId])
  })
})
