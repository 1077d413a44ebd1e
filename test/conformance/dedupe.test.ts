import { expect, test } from 'vitest'
import { DURATION_MAX_MS } from '../../src/kernel/index.ts'
import { RETENTION_MS, forcedCancel, permanentFailure } from './given.ts'
import type { Draft } from './given.ts'
import { conforms } from './harness.ts'

const DEDUPE_MS = 30 * RETENTION_MS
const bytes = (text: string) => new TextEncoder().encode(text)

conforms('an id that stays taken for longer than the retention', ({ fabric, given, clock }) => {
  const purge = () => fabric.run('purgeExecutions', {})
  const withResult = { result: { blob: 0, size: 3, encoding: 'bytes' as const } }

  /** An execution of which only the id is left. */
  async function keptId(draft: Draft = {}) {
    const held = await given.activeExecution({
      bytes: bytes('in'),
      digest: 'one',
      dedupeMs: DEDUPE_MS,
      tags: [{ name: 'team', value: 'a', indexed: true }],
      ...draft,
    })
    await fabric.run('completeExecution', { ...held, ...withResult }, [bytes('out')])
    const endedAt = clock.now()
    clock.advance(RETENTION_MS)
    await purge()
    return { ...held, endedAt }
  }

  test('the retention removes everything but a small record, which no list shows', async () => {
    const { executionId, endedAt } = await keptId()

    const { records, entries, blobKeys } = await fabric.dump()
    expect(records.map(({ id }) => id)).toEqual([executionId])
    expect(entries).toEqual([{ index: 'purge', score: endedAt + DEDUPE_MS, id: executionId }])
    expect(blobKeys).toEqual([])
    expect(await fabric.run('listExecutions', { limit: 10 })).toMatchObject({ executions: [] })
    expect((await given.eventTypesOf({ executionId })).at(-1)).toBe('execution_purged')
  })

  test('a purge for one tag removes the small record too', async () => {
    const { executionId } = await keptId()
    const purgeFor = (value: string) => fabric.run('purgeExecutions', { filter: { tag: { name: 'team', value } } })
    clock.advance(DEDUPE_MS)

    await purgeFor('b')
    expect(await fabric.exists(executionId)).toBe(true)
    await purgeFor('a')
    expect((await fabric.dump()).records).toEqual([])
  })

  test('the small record has nothing of its replays and failures', async () => {
    const held = await given.activeExecution({ dedupeMs: DEDUPE_MS })
    const { executionId } = held
    await fabric.run('failExecution', { ...held, ...permanentFailure })
    await fabric.run('replayExecution', { executionId, requestId: 'again' })
    await fabric.run('failExecution', { ...(await given.claimOf(held)), ...permanentFailure })
    clock.advance(RETENTION_MS)
    await purge()

    expect(await fabric.look(executionId)).toMatchObject({
      lastReplay: undefined,
      failure: undefined,
      unwinding: undefined,
      parent: undefined,
    })
  })

  test('the retention is reported as a purge once, and the end of the id removes the record', async () => {
    const held = await given.activeExecution({ dedupeMs: DEDUPE_MS })
    await fabric.run('completeExecution', held)
    const endedAt = clock.now()
    clock.advance(RETENTION_MS)

    expect(await purge()).toMatchObject({ purged: [held.executionId], oldestDueAt: endedAt + RETENTION_MS })
    expect(await purge()).toMatchObject({ purged: [], nextDueAt: endedAt + DEDUPE_MS })
    clock.advance(DEDUPE_MS - RETENTION_MS - 1)
    await purge()
    expect(await given.submit({ ...held, ifExists: 'reject' })).toMatchObject({ code: 'execution_exists' })
    clock.advance(1)
    expect(await purge()).toMatchObject({ purged: [], oldestDueAt: endedAt + DEDUPE_MS })
    expect((await fabric.dump()).records).toEqual([])
    expect(await given.eventsOf(held, 'execution_purged')).toHaveLength(1)
    expect(await given.submit({ executionId: held.executionId, ifExists: 'reject' })).toMatchObject({ kind: 'created' })
  })

  test.each([undefined, 0, RETENTION_MS])(
    'an id taken for %s ms costs no record after the retention',
    async (dedupeMs) => {
      const { executionId } = await given.endedExecution('completed', { dedupeMs })
      expect((await fabric.look(executionId)).dedupeMs).toBeUndefined()
      clock.advance(RETENTION_MS)
      await purge()

      expect((await fabric.dump()).records).toEqual([])
    },
  )

  test('a purge that comes late removes all at once', async () => {
    const held = await given.endedExecution('completed', { dedupeMs: DEDUPE_MS })
    clock.advance(DEDUPE_MS)

    expect((await purge()).purged).toEqual([held.executionId])
    expect((await fabric.dump()).records).toEqual([])
  })

  test('an id may stay taken for as long as any duration', async () => {
    const { executionId } = await given.endedExecution('completed', { dedupeMs: DURATION_MAX_MS })
    clock.advance(RETENTION_MS)
    await purge()

    expect(await given.submit({ executionId, ifExists: 'reject' })).toMatchObject({ code: 'execution_exists' })
  })

  test.each([undefined, 'join'] as const)('the same input joins what is left (ifExists: %s)', async (ifExists) => {
    const { executionId } = await keptId()
    const before = await fabric.dump()

    expect(await given.submit({ executionId, ifExists, digest: 'one' })).toMatchObject({
      kind: 'joined',
      state: 'completed',
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('another input is refused, another task is refused, and reject refuses', async () => {
    const { executionId } = await keptId()

    expect(await given.submit({ executionId, ifExists: undefined, digest: 'two' })).toMatchObject({
      code: 'input_differs',
    })
    expect(await given.submit({ executionId, ifExists: 'join', task: 'another' })).toMatchObject({
      code: 'execution_exists',
    })
    expect(await given.submit({ executionId, ifExists: 'reject' })).toMatchObject({ code: 'execution_exists' })
  })

  test.each(['replace', 'after'] as const)('%s begins again, as if nothing had the id', async (ifExists) => {
    const { executionId } = await keptId()

    const result = await given.submit({ executionId, ifExists, digest: 'two', bytes: bytes('new') })

    expect(result).toMatchObject({ kind: 'created', state: 'waiting', at: clock.now() })
    expect(await fabric.look(executionId)).toMatchObject({ epoch: 0, attempt: undefined, digest: 'two' })
    const held = await given.claimOf({ executionId })
    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'completed' })
  })

  test('what is left describes how it ended, without input and result', async () => {
    const { executionId, endedAt } = await keptId()

    const reply = await fabric.reply('describeExecution', { executionId, payload: true, result: true })
    expect(reply.result).toMatchObject({
      state: 'completed',
      execution: { state: { outcome: 'completed', at: endedAt }, removed: { at: clock.now(), hadResult: true } },
    })
    expect(reply.blobs).toEqual([])
  })

  test('what is left cannot be changed, replayed, tagged or added to a flow', async () => {
    const { executionId } = await keptId()
    const flow = await fabric.run('createFlow', {
      flowId: `f${executionId}` as never,
      namespace: 'default',
      name: 'flow',
      tags: [],
      outcomeRule: 'all_members',
      retentionMs: RETENTION_MS,
      hold: false,
    })
    if (flow.kind === 'refused') throw new Error(flow.code)
    const before = await fabric.dump()

    const codes = [
      await fabric.run('replayExecution', { executionId, requestId: given.requestId() }),
      await fabric.run('setTags', { executionId, set: [{ name: 'a', value: 'b', indexed: false }], remove: [] }),
      await fabric.run('cancelExecution', { executionId, ...forcedCancel }),
      await fabric.run('changePriority', { executionId, priority: 3 }),
      await fabric.run('addExecutionToFlow', { flowId: flow.flowId, executionId, name: 'node', after: [] }),
    ].map((result) => (result.kind === 'refused' ? result.code : result.kind))

    expect(codes).toEqual(['retention_over', 'retention_over', 'execution_ended', 'execution_ended', 'execution_ended'])
    expect(await fabric.dump()).toEqual(before)
  })

  test('an id is not visible from another namespace', async () => {
    const { executionId } = await keptId({ namespace: 'mine' })

    expect(await fabric.run('describeExecution', { executionId, within: 'other' } as never)).toMatchObject({
      code: 'execution_not_found',
    })
    expect(
      await fabric.run('createExecution', {
        ...given.createInput({ executionId, namespace: 'other', ifExists: undefined }),
        within: 'other',
      } as never),
    ).toMatchObject({ code: 'execution_not_found' })
  })

  test('two purges that arrive together keep one record of the id', async () => {
    const held = await given.endedExecution('completed', { dedupeMs: DEDUPE_MS })
    clock.advance(RETENTION_MS)

    const results = await Promise.all([purge(), purge()])

    expect(results.flatMap(({ purged }) => purged)).toEqual([held.executionId])
    expect((await fabric.dump()).records).toHaveLength(1)
  })
})
