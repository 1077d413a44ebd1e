/** What a submit of a flow does if its id exists, and how long an id stays taken. */
import { expect, test } from 'vitest'
import type { SubmitFlowInput, SubmitFlowResult } from '../../src/kernel/index.ts'
import { input, names, nodes } from './given-flow.ts'
import { CLASS, RETENTION_MS } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const DEDUPE_MS = 30 * RETENTION_MS
const bytes = new Uint8Array([1, 2, 3])

conforms('the id of a flow', ({ fabric, flows, given, clock }) => {
  const purge = () => fabric.run('purgeExecutions', {})
  const from = (call: SubmitFlowInput, change: Partial<SubmitFlowInput>): SubmitFlowInput => {
    return { ...call, requestId: given.requestId(), ...change }
  }

  /** Sends a call until nothing of the flow that it replaces is left, as a client does. */
  const send = async (call: SubmitFlowInput): Promise<SubmitFlowResult> => {
    for (;;) {
      const result = await fabric.run('submitFlow', call)
      if (result.kind === 'refused' || result.isClearing !== true) return result
    }
  }

  /** A flow of two nodes that has completed, and the call that submitted it. */
  const completed = async (change: Partial<SubmitFlowInput> = {}) => {
    const { graph, calls } = flows.draw({ a: [], b: [input('a')] }, { flow: change })
    await fabric.run('submitFlow', calls[0]!)
    await graph.completeWith('a', bytes)
    await graph.complete('b')
    return { graph, call: calls[0]! }
  }

  const keptId = async () => {
    const { graph, call } = await completed({ dedupeMs: DEDUPE_MS })
    const endedAt = clock.now()
    clock.advance(RETENTION_MS)
    const report = await purge()
    return { graph, call, endedAt, report }
  }

  test('a purge for one tag removes what is left of a flow too', async () => {
    const tags = [{ name: 'team', value: 'a', indexed: true }]
    await completed({ dedupeMs: DEDUPE_MS, tags })
    const filter = { tag: { name: 'team', value: 'a' } }
    clock.advance(RETENTION_MS)
    await fabric.run('purgeExecutions', { filter })
    const left = (await fabric.dump()).records.map(({ type }) => type)
    clock.advance(DEDUPE_MS)
    await fabric.run('purgeExecutions', { filter })

    expect(left).toEqual(['flow'])
    expect((await fabric.dump()).records).toEqual([])
  })

  test('the purge of a member whose id stays taken is reported with its flow and its tags', async () => {
    const tags = [{ name: 'team', value: 'a', indexed: true }]
    const graph = await flows.graph({ a: [] }, { drafts: { a: { dedupeMs: DEDUPE_MS, tags } } })
    await graph.complete('a')
    clock.advance(RETENTION_MS)
    await purge()

    const executionId = graph.id('a')
    expect(await fabric.exists(executionId)).toBe(true)
    expect(await given.eventsOf({ executionId }, 'execution_purged')).toMatchObject([
      { flowId: graph.flowId, tags: ['team', 'a'] },
    ])
  })

  test('an explicit join joins another graph of the same flow, in every state, and writes nothing', async () => {
    const { graph, calls } = flows.draw({ a: [], b: ['a'] })
    await fabric.run('submitFlow', calls[0]!)
    const other = from(calls[0]!, { digest: 'other', ifExists: 'join' })
    const before = await fabric.dump()

    expect(await fabric.run('submitFlow', other)).toMatchObject({ kind: 'joined', state: 'open' })
    expect(await fabric.dump()).toEqual(before)
    await graph.complete('a', 'b')
    expect(await fabric.run('submitFlow', other)).toMatchObject({ kind: 'joined', state: 'completed' })
  })

  test('an explicit join refuses another flow', async () => {
    const { call } = await completed()
    const other = from(call, { name: 'another', ifExists: 'join' })

    expect((await refusal(fabric, () => fabric.run('submitFlow', other))).code).toBe('flow_exists')
  })

  test('reject refuses the same graph, but not the repetition of its own call', async () => {
    const { calls } = flows.draw({ a: [] })
    const own = { ...calls[0]!, ifExists: 'reject' as const }
    expect(await fabric.run('submitFlow', own)).toMatchObject({ kind: 'submitted' })

    expect(await fabric.run('submitFlow', own)).toMatchObject({ kind: 'submitted' })
    const other = from(own, {})
    expect((await refusal(fabric, () => fabric.run('submitFlow', other))).code).toBe('flow_exists')
  })

  test('reject lets its own submission in several calls go on', async () => {
    const { graph, calls } = flows.draw({ a: [], ...nodes(names('w', 100), ['a']) })
    for (const call of calls) {
      expect(await fabric.run('submitFlow', { ...call, ifExists: 'reject' })).not.toHaveProperty('code')
    }

    expect((await graph.view()).flow).toMatchObject({ state: { phase: 'sealed' }, memberCount: 101 })
  })

  test('replace refuses a flow that has not ended', async () => {
    const { calls } = flows.draw({ a: [] })
    await fabric.run('submitFlow', calls[0]!)
    const other = from(calls[0]!, { ifExists: 'replace', digest: 'other' })

    expect((await refusal(fabric, () => fabric.run('submitFlow', other))).code).toBe('flow_in_progress')
  })

  test('replace removes a flow that has ended and begins again, and the id stays taken meanwhile', async () => {
    const { graph, call } = await completed()
    const again = from(call, { ifExists: 'replace', digest: 'other' })

    expect(await fabric.run('submitFlow', again)).toMatchObject({
      kind: 'accepted',
      nodes: 0,
      edges: 0,
      isClearing: true,
    })
    const meanwhile = from(call, { ifExists: 'reject' })
    expect((await refusal(fabric, () => fabric.run('submitFlow', meanwhile))).code).toBe('flow_exists')
    expect(await send(again)).toMatchObject({ kind: 'submitted', nodes: 2, edges: 1 })

    expect((await graph.view()).flow).toMatchObject({ state: { phase: 'sealed' }, submission: { digest: 'other' } })
    expect((await fabric.dump()).blobKeys).toEqual([])
    const before = await fabric.dump()
    expect(await fabric.run('submitFlow', again)).toMatchObject({ kind: 'submitted' })
    expect(await fabric.dump()).toEqual(before)
    await graph.complete('a', 'b')
    expect((await graph.view()).state).toBe('completed')
  })

  test('replace removes a large flow over several calls', async () => {
    const wide = nodes(names('w', 130))
    const { graph, calls } = flows.draw(wide, { class: CLASS })
    for (const call of calls) await fabric.run('submitFlow', call)
    await fabric.run('cancelFlow', {
      flowId: graph.flowId,
      policy: 'cancel_all',
      reason: 'again',
      by: 'test',
      force: true,
      graceMs: 0,
    })
    for (let i = 0; i < 10; i++) await fabric.duePass()
    const requestId = given.requestId()
    for (const call of calls) {
      const result = await send({ ...call, requestId, ifExists: 'replace', digest: 'other' })
      expect(result).not.toHaveProperty('code')
    }

    expect((await graph.view()).flow).toMatchObject({ state: { phase: 'sealed' }, memberCount: 130 })
  })

  test('of two replacements that arrive together, one begins and one is refused', async () => {
    const { call } = await completed()
    const two = ['one', 'two'].map((digest) => from(call, { ifExists: 'replace', digest }))

    const results = await Promise.all(two.map((one) => send(one)))

    const kinds = results.map((result) => (result.kind === 'refused' ? result.code : result.kind))
    expect(kinds.toSorted()).toEqual(['flow_in_progress', 'submitted'])
  })

  test('the retention removes everything but a small record, and the end of the id removes that', async () => {
    const { graph, endedAt, report } = await keptId()

    expect(report).toMatchObject({ purgedFlows: [graph.flowId], nextDueAt: endedAt + DEDUPE_MS })
    const { records, entries, blobKeys } = await fabric.dump()
    expect(records.map(({ id }) => id)).toEqual([graph.flowId])
    expect(entries).toEqual([{ index: 'purge', score: endedAt + DEDUPE_MS, id: graph.flowId }])
    expect(blobKeys).toEqual([])
    expect(await fabric.run('listFlows', { limit: 10 })).toMatchObject({ flows: [] })
    clock.advance(DEDUPE_MS - RETENTION_MS)
    expect(await purge()).toMatchObject({ purged: [], purgedFlows: [] })
    expect((await fabric.dump()).records).toEqual([])
  })

  test('an id that stays taken joins the same graph, refuses another one, and can be replaced', async () => {
    const { graph, call } = await keptId()

    expect(await fabric.run('submitFlow', from(call, {}))).toMatchObject({ kind: 'joined', state: 'completed' })
    expect(await graph.view()).toMatchObject({ state: 'completed', flow: { removedAt: clock.now(), memberCount: 0 } })
    const code = async (change: Partial<SubmitFlowInput>) =>
      (await refusal(fabric, () => fabric.run('submitFlow', from(call, change)))).code
    expect(await code({ digest: 'other' })).toBe('input_differs')
    expect(await code({ ifExists: 'reject' })).toBe('flow_exists')
    const tags = { flowId: graph.flowId, set: [{ name: 'a', value: 'b', indexed: false }], remove: [] }
    expect((await refusal(fabric, () => fabric.run('setFlowTags', tags))).code).toBe('retention_over')
    expect(await fabric.run('submitFlow', from(call, { ifExists: 'replace', digest: 'other' }))).toMatchObject({
      kind: 'submitted',
    })
    await graph.complete('a', 'b')
    expect((await graph.view()).flow.removedAt).toBeUndefined()
  })
})
