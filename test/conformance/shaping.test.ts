/** Shaped submits: what becomes of each is decided and stored in one operation, and every answer names the execution. */
import { expect, test } from 'vitest'
import { SHAPING_MEMORY_MS, SHAPING_MERGED_MAX, shapingKeyId } from '../../src/kernel/index.ts'
import type { CreateResult, ExecutionId, ShapingKind, SubmitShaping } from '../../src/kernel/index.ts'
import { LANE, RETENTION_MS, fixedRetry, forcedCancel, heldOf, permanentFailure, transientFailure } from './given.ts'
import type { Draft, Held } from './given.ts'
import { conforms } from './harness.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
/** Shorter than any window. */
const short = { completed: 10, failed: 10, cancelled: 10, expired: 10, skipped: 10 }
const KEY = 'document:17'
const WAIT_MS = 1_000
const MAX_MS = 2_500
const debounced: SubmitShaping = { kind: 'debounce', key: KEY, waitMs: WAIT_MS, maxMs: MAX_MS }
const throttled: SubmitShaping = { kind: 'throttle', key: KEY, everyMs: WAIT_MS }
const ordered: SubmitShaping = { kind: 'order', key: KEY, onFailure: 'continue' }
const blocking: SubmitShaping = { ...ordered, onFailure: 'block' }
const single = (ifTaken: 'join' | 'reject' | 'replace'): SubmitShaping => ({ kind: 'singleton', key: KEY, ifTaken })

type Accepted = Exclude<CreateResult, { readonly kind: 'refused' }>

conforms('shaped submits', ({ fabric, given, clock }) => {
  const submit = async (shaping: SubmitShaping, draft: Draft = {}): Promise<Accepted> => {
    const result = await given.submit({ shaping, ifExists: undefined, requestId: undefined, ...draft })
    if (result.kind === 'refused') throw new Error(`the test's submit was refused: ${result.code}`)
    return result
  }
  const look = (executionId: ExecutionId) => fabric.look(executionId)
  const executions = async () => (await fabric.dump()).records.filter(({ type }) => type === 'execution')
  const keyOf = async (kind: ShapingKind) => {
    const { records } = await fabric.dump()
    const id = shapingKeyId('default', kind, 'greet', KEY)
    return records.find((record) => record.type === 'shaping_key' && record.id === id)
  }
  const next = async (): Promise<Held> => heldOf((await given.claim()).executions[0]!)
  const inputOf = async (executionId: ExecutionId) => {
    const reply = await fabric.reply('describeExecution', { executionId, payload: true })
    return new TextDecoder().decode(reply.blobs[0])
  }

  test('debounce: the last input of a window wins and starts after silence', async () => {
    const first = await submit(debounced, { bytes: bytes('one'), priority: 1 })
    clock.advance(WAIT_MS - 1)
    const second = await submit(debounced, { bytes: bytes('two'), priority: 2 })
    expect(await given.claim()).toMatchObject({ executions: [] })
    clock.advance(WAIT_MS - 1)
    expect(await given.claim()).toMatchObject({ executions: [] })
    clock.advance(1)

    const { executions: claimed } = await given.claim()

    expect(first).toMatchObject({ kind: 'created', state: 'delayed' })
    expect(second).toMatchObject({ kind: 'replaced', executionId: first.executionId, state: 'delayed' })
    expect(claimed).toMatchObject([{ executionId: first.executionId }])
    expect(await inputOf(first.executionId)).toBe('two')
    expect(await look(first.executionId)).toMatchObject({ priority: 2, shaping: { kind: 'debounce', key: KEY } })
    expect(await executions()).toHaveLength(1)
  })

  test('debounce: a window ends at its maximum without silence, and the next submit opens another', async () => {
    const first = await submit(debounced)
    const openedAt = clock.now()
    for (let i = 0; i < 3; i++) {
      clock.advanceTo(openedAt + (i + 1) * 800)
      expect(await submit(debounced)).toMatchObject({ kind: 'replaced', executionId: first.executionId })
    }
    expect((await look(first.executionId)).state).toMatchObject({ phase: 'delayed', until: openedAt + MAX_MS })
    clock.advanceTo(openedAt + MAX_MS)

    // No due pass has run: what is due has left its window all the same.
    const late = await submit(debounced)

    expect(late).toMatchObject({ kind: 'created', state: 'delayed' })
    expect(late.executionId).not.toBe(first.executionId)
    expect(await next()).toMatchObject({ executionId: first.executionId })
  })

  test.each([
    ['debounce', debounced],
    ['singleton', single('replace')],
  ] as const)('%s: a submit for another lane moves the execution, and no empty queue stays', async (_, shaping) => {
    const first = await submit(shaping)
    await submit(shaping, { lane: 'elsewhere' })

    // One lane for each call.
    const { cursor } = await fabric.run('reconcileBlocked', {})
    await fabric.run('reconcileBlocked', { cursor })

    const { records } = await fabric.dump()

    expect(await look(first.executionId)).toMatchObject({ lane: 'elsewhere' })
    expect(records.flatMap((record) => (record.type === 'queue' ? [record.lane] : []))).toEqual(['elsewhere'])
  })

  test('debounce: a repeated submit does not bring its input back, neither in its window nor after it', async () => {
    const draft = { bytes: bytes('two'), executionId: given.newId() }
    const first = await submit(debounced, { bytes: bytes('one') })
    await submit(debounced, draft)
    await submit(debounced, { bytes: bytes('three') })
    const before = await fabric.dump()

    expect(await submit(debounced, draft)).toMatchObject({ kind: 'replaced', executionId: first.executionId })
    expect(await fabric.dump()).toEqual(before)
    clock.advance(WAIT_MS)
    await fabric.run('completeExecution', await next())

    expect(await submit(debounced, draft)).toMatchObject({ kind: 'replaced', state: 'completed' })
    expect(await executions()).toHaveLength(1)
    expect(await inputOf(first.executionId)).toBe('three')
  })

  test('debounce: a cancelled window takes no more submits, and its key is forgotten in the end', async () => {
    const first = await submit(debounced)
    await fabric.run('cancelExecution', { executionId: first.executionId, ...forcedCancel })

    const second = await submit(debounced)

    expect(second).toMatchObject({ kind: 'created' })
    expect(second.executionId).not.toBe(first.executionId)
    for (let i = 0; i < SHAPING_MERGED_MAX + 2; i++) await submit(debounced)
    expect(await keyOf('debounce')).toMatchObject({ merged: { length: SHAPING_MERGED_MAX } })
    clock.advance(WAIT_MS + SHAPING_MEMORY_MS)
    await fabric.duePass()
    expect(await keyOf('debounce')).toBeUndefined()
  })

  test('throttle: the first submit of a period runs, and later ones join it, also after its end', async () => {
    const first = await submit(throttled, {
      retentionMs: 10,
      retentions: { ...short, failed: undefined, keep: undefined },
      bytes: bytes('one'),
    })
    const held = await next()
    expect(await submit(throttled)).toMatchObject({
      kind: 'joined',
      executionId: first.executionId,
      state: 'active',
    })
    await fabric.run('completeExecution', held)
    clock.advance(WAIT_MS - 1)
    await fabric.run('purgeExecutions', {})

    const late = await submit(throttled, { bytes: bytes('two') })
    clock.advance(1)
    const after = await submit(throttled, { bytes: bytes('three') })

    expect(late).toMatchObject({ kind: 'joined', executionId: first.executionId, state: 'completed' })
    expect(after).toMatchObject({ kind: 'created', state: 'waiting' })
    expect(await inputOf(first.executionId)).toBe('one')
    clock.advance(WAIT_MS)
    await fabric.duePass()
    expect(await keyOf('throttle')).toBeUndefined()
  })

  test('keys are apart by namespace, by kind, and but for orders by task', async () => {
    const kinds = [debounced, throttled, single('join'), ordered]
    const results = []
    for (const shaping of kinds) {
      results.push(await submit(shaping))
      results.push(await submit(shaping, { task: 'another', class: 'another' }))
      results.push(await submit(shaping, { namespace: 'elsewhere', class: 'elsewhere' }))
    }

    expect(results.map(({ kind }) => kind)).toEqual(results.map(() => 'created'))
    expect(results.map(({ state }) => state)).toEqual([
      ...['delayed', 'delayed', 'delayed'],
      ...['waiting', 'waiting', 'waiting'],
      ...['waiting', 'waiting', 'waiting'],
      ...['waiting', 'waiting_dependencies', 'waiting'],
    ])
  })

  test('singleton: others join or are refused until it has ended', async () => {
    const first = await submit(single('join'))
    expect(await submit(single('join'))).toMatchObject({ kind: 'joined', executionId: first.executionId })
    const held = await next()
    const before = await fabric.dump()

    expect(await given.submit({ shaping: single('reject') })).toMatchObject({
      kind: 'refused',
      code: 'singleton_taken',
      detail: { executionId: first.executionId, phase: 'active' },
    })
    expect(await submit(single('join'))).toMatchObject({ kind: 'joined', state: 'active' })
    expect(await fabric.dump()).toEqual(before)
    await fabric.run('completeExecution', held)

    expect(await keyOf('singleton')).toBeUndefined()
    expect(await submit(single('reject'))).toMatchObject({ kind: 'created', state: 'waiting' })
  })

  test('singleton: replace changes one that has not started, and cancels one that runs before the next starts', async () => {
    const first = await submit(single('replace'), { bytes: bytes('one') })
    expect(await submit(single('replace'), { bytes: bytes('two') })).toMatchObject({
      kind: 'replaced',
      executionId: first.executionId,
      state: 'waiting',
    })
    const held = await next()

    const second = await submit(single('replace'), { bytes: bytes('three') })
    const third = await submit(single('replace'), { bytes: bytes('four') })

    expect(second).toMatchObject({ kind: 'created', state: 'waiting_dependencies' })
    expect(third).toMatchObject({ kind: 'replaced', executionId: second.executionId, state: 'waiting_dependencies' })
    expect((await look(first.executionId)).state).toMatchObject({ phase: 'active', cancel: { by: 'shaping' } })
    expect(await given.claim()).toMatchObject({ executions: [] })
    await fabric.run('cancelExecution', { ...held, ...forcedCancel })
    expect(await next()).toMatchObject({ executionId: second.executionId })
    expect(await inputOf(first.executionId)).toBe('two')
    expect(await inputOf(second.executionId)).toBe('four')
  })

  test('singleton: a holder that was lost is cancelled at the end of its grace, and the next starts', async () => {
    await submit(single('replace'))
    await next()
    const second = await submit(single('replace'))
    clock.advance(60_000)

    await fabric.duePass()

    expect(await next()).toMatchObject({ executionId: second.executionId })
    expect(await submit(single('join'))).toMatchObject({ kind: 'joined', executionId: second.executionId })
  })

  test('order: executions run one after the other in the order of their submits, over retries and lost leases', async () => {
    const retry = { retry: fixedRetry(3, 100) }
    const ids = []
    for (const priority of [0, 9, 5]) ids.push((await submit(ordered, { ...retry, priority })).executionId)
    const states = await Promise.all(ids.map(async (id) => (await look(id)).state.phase))
    expect(states).toEqual(['eligible', 'blocked', 'blocked'])

    await fabric.run('failExecution', { ...(await next()), ...transientFailure })
    expect(await given.claim()).toMatchObject({ executions: [] })
    clock.advance(100)
    expect(await next()).toMatchObject({ executionId: ids[0] })
    clock.advance(60_000)
    await fabric.duePass()
    const last = await next()
    expect(last).toMatchObject({ executionId: ids[0] })
    expect(await fabric.run('explainExecution', { executionId: ids[2]! })).toMatchObject({
      explanation: {
        why: 'blocked',
        by: 'order',
        line: { kind: 'order', key: KEY, current: { executionId: ids[0], state: 'active' }, ahead: 1 },
      },
    })

    // A completion that claims finds the next of its key.
    const done = await fabric.run('completeExecution', { ...last, next: given.claimInput() })
    expect(done).toMatchObject({ kind: 'completed' })
    const second = await look(ids[1]!)
    expect(second.state.phase).toBe('active')
    await fabric.run('cancelExecution', { executionId: ids[1]!, ...forcedCancel })
    await fabric.run('completeExecution', await next())
    expect((await look(ids[2]!)).state).toMatchObject({ phase: 'ended', outcome: 'completed' })
    expect(await keyOf('order')).toBeUndefined()
  })

  test('order: who leaves the line from its middle holds back no other, and a delay counts from the submit', async () => {
    const first = await submit(ordered)
    const second = await submit(ordered)
    const third = await submit(ordered, { delayMs: 5_000 })
    const fourth = await submit(ordered, { totalTimeoutMs: 1_000 })
    await fabric.run('cancelExecution', { executionId: second.executionId, ...forcedCancel })
    await fabric.run('completeExecution', await next())

    expect((await look(first.executionId)).state.phase).toBe('ended')
    expect((await look(third.executionId)).state).toMatchObject({ phase: 'delayed' })
    clock.advance(1_000)
    await fabric.duePass()
    expect((await look(fourth.executionId)).state).toMatchObject({ phase: 'ended', outcome: 'expired' })
    clock.advance(4_000)
    expect(await next()).toMatchObject({ executionId: third.executionId })
  })

  test('order: a failure holds back the others until its replay completes', async () => {
    const first = await submit(blocking)
    const second = await submit(blocking)
    await fabric.run('failExecution', { ...(await next()), ...permanentFailure })
    expect(await given.claim()).toMatchObject({ executions: [] })
    expect(await fabric.run('explainExecution', { executionId: second.executionId })).toMatchObject({
      explanation: { line: { current: { executionId: first.executionId, state: 'failed' }, heldSince: clock.now() } },
    })
    // What holds back others is not removed after its retention.
    clock.advance(2 * RETENTION_MS)
    await fabric.run('purgeExecutions', {})

    await fabric.run('replayExecution', { executionId: first.executionId, requestId: given.requestId() })
    const { executions: again } = await given.claim({ count: 2 })
    expect(again).toMatchObject([{ executionId: first.executionId }])
    expect((await look(first.executionId)).shaping).toMatchObject({ holdsBack: undefined })
    await fabric.run('completeExecution', heldOf(again[0]!))

    expect(await next()).toMatchObject({ executionId: second.executionId })
  })

  test('order: an operator lets the others run, once', async () => {
    const first = await submit(blocking)
    const second = await submit(blocking)
    await fabric.run('failExecution', { ...(await next()), ...permanentFailure })
    const request = { executionId: first.executionId, by: 'ada', reason: 'repaired by hand' }

    expect(await fabric.run('continueOrder', request)).toEqual({ kind: 'order_continued' })
    const before = await fabric.dump()
    expect(await fabric.run('continueOrder', request)).toEqual({ kind: 'order_not_held' })
    expect(await fabric.dump()).toEqual(before)

    expect(await given.eventsOf(first, 'order_continued')).toMatchObject([{ by: 'ada', reason: 'repaired by hand' }])
    expect(await given.purgeAt(first)).toBeGreaterThan(clock.now())
    expect(await next()).toMatchObject({ executionId: second.executionId })
    expect(await fabric.run('continueOrder', { executionId: given.newId() })).toMatchObject({
      code: 'execution_not_found',
    })
  })

  test('order: a replay waits for its turn at the end of the line', async () => {
    const first = await submit(ordered)
    await fabric.run('completeExecution', await next())
    const second = await submit(ordered)
    const third = await submit(ordered)
    await fabric.run('replayExecution', { executionId: first.executionId, requestId: given.requestId() })

    const order: string[] = []
    for (let i = 0; i < 3; i++) {
      const held = await next()
      order.push(held.executionId)
      expect(await given.claim()).toMatchObject({ executions: [] })
      await fabric.run('completeExecution', held)
    }

    expect(order).toEqual([second, third, first].map(({ executionId }) => executionId))
  })

  test('a drained lane takes no shaped submit, and a join needs none', async () => {
    const first = await submit(single('join'))
    const drained = await fabric.runIn('m:0', 'configureLane', { lane: LANE, state: 'draining', by: 'ada' })
    if (drained.kind === 'refused') throw new Error(drained.code)
    await fabric.run('applyLane', { lane: drained.lane })
    const before = await fabric.dump()

    for (const shaping of [debounced, throttled, single('replace'), ordered]) {
      expect(await given.submit({ shaping })).toMatchObject({ kind: 'refused', code: 'lane_draining' })
    }
    expect(await submit(single('join'))).toMatchObject({ kind: 'joined', executionId: first.executionId })
    expect(await fabric.dump()).toEqual(before)
  })
})
