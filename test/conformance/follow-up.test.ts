import { expect, test } from 'vitest'
import { PAST_REQUEST_MAX } from '../../src/kernel/index.ts'
import { DELAY_MS, LEASE_TTL_MS, fixedRetry, forcedCancel, permanentFailure, transientFailure } from './given.ts'
import type { Draft, Held } from './given.ts'
import { conforms } from './harness.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (blob: Uint8Array | undefined) => new TextDecoder().decode(blob)

conforms('createExecution after the present run', ({ fabric, given, clock }) => {
  const after = (executionId: Held['executionId'], draft: Draft = {}) =>
    given.submit({ executionId, ifExists: 'after', ...draft })
  const inputOf = async (executionId: Held['executionId']) =>
    text((await fabric.reply('describeExecution', { executionId, payload: true })).blobs[0])

  test.each(['eligible', 'delayed', 'active'] as const)('waits while the present run is %s', async (phase) => {
    const { executionId } = await given.inPhase(phase, { bytes: bytes('one'), digest: 'one' })
    const { followUp: _none, ...before } = await fabric.look(executionId)

    expect(await after(executionId, { bytes: bytes('two'), digest: 'two', priority: 7 })).toMatchObject({
      kind: 'follow_up',
      executionId,
    })
    const { followUp, ...now } = await fabric.look(executionId)
    expect(now).toEqual(before)
    expect(followUp).toMatchObject({ digest: 'two', priority: 7, at: clock.now() })
    expect(await inputOf(executionId)).toBe('one')
  })

  const endings: Record<string, (held: Held) => Promise<unknown>> = {
    completed: (held) => fabric.run('completeExecution', held),
    failed: (held) => fabric.run('failExecution', { ...held, ...permanentFailure }),
    expired: async () => {
      clock.advance(LEASE_TTL_MS)
      await fabric.duePass()
    },
    'cancelled by its holder': (held) => fabric.run('cancelExecution', { ...held, ...forcedCancel }),
  }

  test.each(Object.keys(endings))('the follow-up begins in the operation that ends the run as %s', async (ending) => {
    const held = await given.activeExecution({ bytes: bytes('one'), totalTimeoutMs: LEASE_TTL_MS })
    const { executionId } = held
    await after(executionId, { bytes: bytes('two'), digest: 'two', priority: 7, retry: fixedRetry(3, 10) })

    await endings[ending]!(held)

    const now = await fabric.look(executionId)
    expect(now).toMatchObject({
      state: { phase: 'eligible' },
      followUp: undefined,
      priority: 7,
      digest: 'two',
      failureCount: 0,
      createdAt: clock.now(),
      startedAt: undefined,
      deadlineAt: undefined,
      result: undefined,
      epoch: held.fence.epoch,
    })
    expect(await inputOf(executionId)).toBe('two')
    expect((await given.eventTypesOf(held)).slice(-2)).toEqual(['execution_ended', 'follow_up_started'])
    const again = await given.claimOf(held)
    expect(again.fence).toMatchObject({ epoch: held.fence.epoch + 1, attempt: held.fence.attempt + 1 })
    await fabric.run('completeExecution', again)
    expect(await fabric.look(executionId)).toMatchObject({ state: { outcome: 'completed' } })
    expect((await fabric.attemptsOf(executionId)).map(({ number }) => number)).toContain(held.fence.attempt)
  })

  test('a retry of the present run comes before the follow-up', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 0), bytes: bytes('one') })
    await after(held.executionId, { bytes: bytes('two') })
    await fabric.run('failExecution', { ...held, ...transientFailure })

    expect(await inputOf(held.executionId)).toBe('one')
    await fabric.run('completeExecution', await given.claimOf(held))
    expect(await inputOf(held.executionId)).toBe('two')
  })

  test('a later one takes its place, as the answer shows', async () => {
    const held = await given.activeExecution({ bytes: bytes('one') })
    await after(held.executionId, { bytes: bytes('two') })

    expect(await after(held.executionId, { bytes: bytes('three') })).toMatchObject({ kind: 'follow_up_replaced' })
    await fabric.run('completeExecution', held)
    expect(await inputOf(held.executionId)).toBe('three')
    await fabric.run('completeExecution', await given.claimOf(held))
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { phase: 'ended' }, followUp: undefined })
  })

  test('a later one without an input leaves none behind', async () => {
    const held = await given.activeExecution({ bytes: bytes('one') })
    await after(held.executionId, { bytes: bytes('two') })
    await after(held.executionId)
    await fabric.run('completeExecution', held)

    expect((await fabric.look(held.executionId)).payload).toBeUndefined()
    expect((await fabric.dump()).blobKeys).toEqual([])
  })

  test('runs follow each other for as long as they are asked for', async () => {
    let held = await given.activeExecution({ bytes: bytes('run 0') })
    for (let number = 1; number <= 5; number++) {
      await after(held.executionId, { bytes: bytes(`run ${number}`) })
      await fabric.run('completeExecution', held)
      expect(await inputOf(held.executionId)).toBe(`run ${number}`)
      held = await given.claimOf(held)
    }
    await fabric.run('completeExecution', held)
    expect(await given.eventsOf(held, 'execution_ended')).toHaveLength(6)
  })

  test('its delay begins when the present run has ended', async () => {
    const held = await given.activeExecution()
    await after(held.executionId, { delayMs: DELAY_MS })
    clock.advance(1_000)
    await fabric.run('completeExecution', held)

    expect((await fabric.look(held.executionId)).state).toMatchObject({
      phase: 'delayed',
      until: clock.now() + DELAY_MS,
    })
  })

  test('an absent execution begins at once', async () => {
    const executionId = given.newId()

    expect(await after(executionId)).toMatchObject({ kind: 'created', state: 'waiting' })
  })

  test('an ended execution begins again at once, and its history continues', async () => {
    const ended = await given.endedExecution('completed', { bytes: bytes('one') })

    expect(await after(ended.executionId, { bytes: bytes('two'), lane: 'other lane' })).toMatchObject({
      kind: 'replaced',
      state: 'waiting',
      at: clock.now(),
    })
    expect(await inputOf(ended.executionId)).toBe('two')
    expect(await fabric.attemptsOf(ended.executionId)).toMatchObject([{ number: 1, outcome: 'completed' }])
    expect(await given.readyOrder('other lane')).toEqual([ended.executionId])
  })

  test('its own repetition is answered as before and starts nothing', async () => {
    const held = await given.activeExecution()
    const input = given.createInput({ executionId: held.executionId, ifExists: 'after' })
    const first = await fabric.run('createExecution', input)
    const before = await fabric.dump()

    expect(await fabric.run('createExecution', input)).toEqual(first)
    expect(await fabric.dump()).toEqual(before)
  })

  test('its own repetition is recognised after it has begun, has ended, or was displaced', async () => {
    const held = await given.activeExecution()
    const first = given.createInput({ executionId: held.executionId, ifExists: 'after' })
    const second = given.createInput({ executionId: held.executionId, ifExists: 'after' })
    await fabric.run('createExecution', first)
    await fabric.run('createExecution', second)
    const repeat = async () => {
      const before = await fabric.dump()
      for (const input of [first, second]) await fabric.run('createExecution', input)
      expect(await fabric.dump()).toEqual(before)
    }

    await repeat()
    await fabric.run('completeExecution', held)
    await repeat()
    const again = await given.claimOf(held)
    await repeat()
    await after(held.executionId)
    await fabric.run('completeExecution', again)
    await fabric.run('completeExecution', await given.claimOf(held))
    await repeat()
  })

  test('an execution remembers a bounded number of past submits', async () => {
    const held = await given.activeExecution()
    for (let i = 0; i < PAST_REQUEST_MAX + 5; i++) await after(held.executionId)

    expect((await fabric.look(held.executionId)).pastRequests).toHaveLength(PAST_REQUEST_MAX)
  })

  test('the last call of the holder may be repeated after the follow-up has begun', async () => {
    const completed = await given.activeExecution()
    await after(completed.executionId)
    await fabric.run('completeExecution', completed)
    expect(await fabric.run('completeExecution', completed)).toMatchObject({ kind: 'already_completed' })

    const failed = await given.claimOf(completed)
    await after(failed.executionId)
    await fabric.run('failExecution', { ...failed, ...permanentFailure })
    expect(await fabric.run('failExecution', { ...failed, ...permanentFailure })).toMatchObject({
      kind: 'already_failed',
    })
  })

  test('a stale holder of the earlier run can change nothing', async () => {
    const held = await given.activeExecution()
    await after(held.executionId)
    await fabric.run('completeExecution', held)
    await given.claimOf(held)

    expect(await fabric.run('failExecution', { ...held, ...permanentFailure })).toMatchObject({ code: 'stale_lease' })
  })

  test('a cancel drops the follow-up, as its answer shows', async () => {
    const held = await given.activeExecution()
    await after(held.executionId, { bytes: bytes('two') })

    const cancel = { executionId: held.executionId, ...forcedCancel, force: false, graceMs: 1_000 }
    expect(await fabric.run('cancelExecution', cancel)).toMatchObject({
      kind: 'cancel_requested',
      droppedFollowUp: true,
    })
    expect(await fabric.run('cancelExecution', cancel)).not.toHaveProperty('droppedFollowUp')
    expect((await fabric.dump()).blobKeys).toEqual([])
    expect(await given.eventsOf(held, 'follow_up_dropped')).toMatchObject([{ by: forcedCancel.by }])
    clock.advance(1_000)
    await fabric.duePass()
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { outcome: 'cancelled' } })
  })

  test('a submit after the cancel request is not dropped', async () => {
    const held = await given.activeExecution()
    const { executionId } = held
    await fabric.run('cancelExecution', { executionId, ...forcedCancel, force: false, graceMs: 1_000 })
    await after(executionId, { bytes: bytes('two') })
    clock.advance(1_000)
    await fabric.duePass()

    expect(await fabric.look(executionId)).toMatchObject({ state: { phase: 'eligible' } })
    expect(await inputOf(executionId)).toBe('two')
  })

  test('the repetition of a dropped one starts nothing', async () => {
    const held = await given.activeExecution()
    const input = given.createInput({ executionId: held.executionId, ifExists: 'after' })
    await fabric.run('createExecution', input)
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    await fabric.run('createExecution', input)

    expect(await fabric.look(held.executionId)).toMatchObject({ state: { outcome: 'cancelled' }, followUp: undefined })
  })

  test('replace of an execution that has not started keeps its follow-up', async () => {
    const { executionId } = await given.eligibleExecution({ bytes: bytes('one') })
    await after(executionId, { bytes: bytes('two') })
    await given.submit({ executionId, ifExists: 'replace', bytes: bytes('changed') })

    expect(await inputOf(executionId)).toBe('changed')
    await fabric.run('completeExecution', await given.claimOf({ executionId }))
    expect(await inputOf(executionId)).toBe('two')
  })

  test('a follow-up that has not started can be replaced, and one that has started cannot', async () => {
    const held = await given.activeExecution({ bytes: bytes('one') })
    await after(held.executionId, { bytes: bytes('two') })
    await fabric.run('completeExecution', held)

    const replacement = { executionId: held.executionId, ifExists: 'replace', bytes: bytes('three') } as const
    expect(await given.submit(replacement)).toMatchObject({ kind: 'replaced' })
    expect(await inputOf(held.executionId)).toBe('three')
    await given.claimOf(held)
    expect(await given.submit(replacement)).toMatchObject({ code: 'execution_in_progress' })
  })

  test('an execution with a follow-up cannot become a member of a flow', async () => {
    const { executionId } = await given.eligibleExecution()
    await after(executionId)
    const flow = await fabric.run('createFlow', {
      flowId: `f${executionId}` as never,
      namespace: 'default',
      name: 'flow',
      tags: [],
      outcomeRule: 'all_members',
      retentionMs: 1_000,
      hold: false,
    })
    if (flow.kind === 'refused') throw new Error(flow.code)
    const member = { flowId: flow.flowId, executionId, name: 'node', after: [] }

    expect(await fabric.run('addExecutionToFlow', member)).toMatchObject({ code: 'follow_up_pending' })
    await fabric.run('cancelExecution', { executionId, ...forcedCancel })
    expect(await fabric.run('addExecutionToFlow', member)).toMatchObject({ kind: 'added' })
    expect(await after(executionId)).toMatchObject({ code: 'execution_in_flow' })
  })

  test.each(['first', 'second'] as const)('races with the end of the run: the submit comes %s', async (order) => {
    const held = await given.activeExecution({ bytes: bytes('one') })
    const submit = () => after(held.executionId, { bytes: bytes('two') })
    const end = () => fabric.run('completeExecution', held)

    const calls: (() => Promise<unknown>)[] = order === 'first' ? [submit, end] : [end, submit]
    await Promise.all(calls.map((call) => call()))

    expect(await fabric.look(held.executionId)).toMatchObject({ state: { phase: 'eligible' }, followUp: undefined })
    expect(await inputOf(held.executionId)).toBe('two')
    expect(await given.eventsOf(held, 'follow_up_started')).toHaveLength(1)
  })

  test('of two that arrive together, one takes the place of the other', async () => {
    const held = await given.activeExecution()

    const results = await Promise.all([after(held.executionId), after(held.executionId)])

    expect(results.map(({ kind }) => kind)).toEqual(['follow_up', 'follow_up_replaced'])
    expect(await given.eventsOf(held, 'follow_up_set')).toHaveLength(2)
  })
})
