/** Registered compensations: an execution that does not complete keeps or gets a worker to run them before it ends. */
import { expect, test } from 'vitest'
import {
  COMPENSATION_MAX,
  COMPENSATION_RECLAIM_COUNT,
  COMPENSATION_TIMEOUT_DEFAULT_MS,
  INCOMPLETE_RUN_MAX,
  RECLAIM_CAP,
} from '../../src/kernel/index.ts'
import type { Claimed } from '../../src/kernel/index.ts'
import { anyOf } from './given-flow.ts'
import {
  CLASS,
  LEASE_TTL_MS,
  fixedRetry,
  forcedCancel,
  heldOf,
  permanentFailure,
  politeCancel,
  transientFailure,
} from './given.ts'
import type { Draft, Held } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const undone = { reason: 'undone', by: 'worker', force: false, graceMs: 0 } as const

conforms('an execution with registered compensations', ({ fabric, given, journal, children, clock }) => {
  const register = (held: Held, count = 1) => fabric.run('registerCompensation', { ...held, count })

  /** An execution whose handler has registered a compensation, and completed no step. */
  const registered = async (draft: Draft = {}): Promise<Held> => {
    const held = await given.activeExecution(draft)
    await register(held)
    return held
  }

  const claimAgain = async (): Promise<Claimed> => {
    const [claimed] = (await given.claim()).executions
    if (claimed === undefined) throw new Error('the execution was not claimed')
    return claimed
  }

  test('stores their number, which only rises', async () => {
    const held = await given.activeExecution()

    expect(await register(held, 2)).toEqual({ kind: 'registered' })
    expect(await register(held, 2)).toEqual({ kind: 'already_registered' })
    expect(await register(held, 1)).toEqual({ kind: 'already_registered' })
    expect(await journal.journal(held)).toMatchObject({ compensationCount: 2 })
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    expect(await claimAgain()).toMatchObject({ journal: { compensationCount: 2, stepCount: 0 } })
  })

  test('refuses to register more than the limit, and by a holder that has lost its lease', async () => {
    const held = await given.activeExecution()
    expect((await refusal(fabric, () => register(held, COMPENSATION_MAX + 1))).code).toBe('step_limit_exceeded')
    clock.advance(LEASE_TTL_MS)
    expect((await refusal(fabric, () => register(held))).code).toBe('lease_expired')
  })

  test('a final failure is stored, and the holder keeps its lease to undo', async () => {
    const held = await registered()

    const answer = await fabric.run('failExecution', { ...held, ...permanentFailure })
    expect(answer).toMatchObject({
      kind: 'unwinding',
      unwinding: { outcome: 'failed', reason: 'no such user', leftMs: COMPENSATION_TIMEOUT_DEFAULT_MS },
    })
    expect(await fabric.run('failExecution', { ...held, ...permanentFailure })).toMatchObject({
      kind: 'already_unwinding',
    })
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { phase: 'active' }, failureCount: 1 })
    expect(await given.eventsOf(held, 'execution_unwinding')).toMatchObject([
      { outcome: 'failed', reason: 'no such user', effect: 'under_lease' },
    ])

    expect(await journal.record(held, 'refund#undo', { isCompensation: true })).toMatchObject({ kind: 'recorded' })
    expect(await fabric.run('cancelExecution', { ...held, ...undone })).toEqual({ kind: 'cancelled' })
    expect(await fabric.run('cancelExecution', { ...held, ...undone })).toEqual({ kind: 'already_cancelled' })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'failed', reason: 'no such user' },
      failure: permanentFailure.failure,
      failureCount: 1,
      unwinding: { undoFailure: undefined },
    })
    expect(await given.eventsOf(held, 'execution_ended')).toMatchObject([{ outcome: 'failed' }])
  })

  test('a run that only undoes begins no wait and no child, and finds those of earlier runs', async () => {
    const held = await registered()
    const [child] = await children.started(held, ['a'])
    const only = { unlessUnwinding: true }
    await journal.open(held, 'reply')
    await journal.signal(held, 'reply')
    expect(await journal.wait(held, { ...only, opens: [] })).toMatchObject({ kind: 'answered' })
    await fabric.run('failExecution', { ...held, ...permanentFailure })

    const code = async (run: Parameters<typeof refusal>[1]) => (await refusal(fabric, run)).code
    expect(await code(() => journal.wait(held, { ...only, name: 'other' }))).toBe('execution_failed')
    expect(await code(() => children.start(held, ['a', 'b'], only))).toBe('execution_failed')
    expect(await code(() => children.join(held, ['a'], only))).toBe('execution_failed')
    expect(await journal.wait(held, { ...only, opens: [] })).toMatchObject({ kind: 'answered' })
    expect(await children.start(held, ['a'], only)).toMatchObject({
      kind: 'started',
      children: [{ executionId: child, isNew: false }],
    })
    expect(await journal.sleep(held, 1_000)).toMatchObject({ kind: 'suspended' })
  })

  test('a failure that is retried leaves them alone', async () => {
    const held = await registered({ retry: fixedRetry(2, 1_000) })

    expect(await fabric.run('failExecution', { ...held, ...transientFailure })).toMatchObject({
      kind: 'retry_scheduled',
    })
    clock.advance(1_000)
    const claimed = await claimAgain()
    expect(claimed).toMatchObject({ unwinding: undefined, journal: { compensationCount: 1 } })
    expect(await fabric.run('failExecution', { ...heldOf(claimed), ...transientFailure })).toMatchObject({
      kind: 'unwinding',
    })
  })

  test('a later run cannot complete it once its failure is final', async () => {
    const held = await registered()
    await fabric.run('failExecution', { ...held, ...permanentFailure })
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()

    const claimed = await claimAgain()
    expect(claimed).toMatchObject({ attemptKind: 'reclaim', unwinding: { outcome: 'failed' } })
    expect(await fabric.run('completeExecution', heldOf(claimed))).toMatchObject({ kind: 'unwound' })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { outcome: 'failed' },
      failure: permanentFailure.failure,
      result: undefined,
    })
  })

  test('is neither cancelled nor expired while it undoes its steps after a failure', async () => {
    const held = await registered({ totalTimeoutMs: 10_000, attemptTimeoutMs: 8_000 })
    await fabric.run('failExecution', { ...held, ...permanentFailure })

    expect(await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })).toMatchObject({
      kind: 'cancel_requested',
    })
    clock.advance(12_000)
    expect((await fabric.duePass()).handled).toEqual([])
    await fabric.run('cancelExecution', { ...held, ...undone })
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { outcome: 'failed' } })
  })

  test('ends with its failure when the time to undo is over', async () => {
    const held = await registered({ compensationTimeoutMs: 10_000 })
    clock.advance(5_000)
    await fabric.run('failExecution', { ...held, ...permanentFailure })
    clock.advance(9_999)
    expect((await fabric.duePass()).handled).toEqual([])
    clock.advance(1)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'compensation_timeout' }])
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { outcome: 'failed' },
      failure: permanentFailure.failure,
      unwinding: { undoFailure: { category: 'compensation_timeout' } },
    })
  })

  test('keeps what went wrong beside its outcome and its failure', async () => {
    const failure = { category: 'compensation_failed', message: 'no refund' }
    const failed = await registered()
    await fabric.run('failExecution', { ...failed, ...permanentFailure })
    await fabric.run('cancelExecution', { ...failed, ...undone, failure })
    expect(await fabric.look(failed.executionId)).toMatchObject({
      failure: permanentFailure.failure,
      unwinding: { undoFailure: failure },
    })
    expect(await fabric.run('explainExecution', { executionId: failed.executionId })).toMatchObject({
      explanation: { why: 'ended', outcome: 'failed', undoFailure: failure },
    })

    const cancelled = await registered()
    await fabric.run('cancelExecution', { executionId: cancelled.executionId, ...politeCancel })
    await fabric.run('cancelExecution', { ...cancelled, ...undone, failure })
    expect(await fabric.look(cancelled.executionId)).toMatchObject({ state: { outcome: 'cancelled' }, failure })
  })

  test('a run that has not registered all of them gets another, after a growing delay, a bounded number of times', async () => {
    let held = await registered()
    const delays: number[] = []
    for (let i = 0; i < INCOMPLETE_RUN_MAX; i++) {
      const input = { ...held, ...permanentFailure, isIncomplete: true }
      const result = await fabric.run('failExecution', input)
      if (result.kind !== 'retry_scheduled') throw new Error(`the run was answered with ${result.kind}`)
      expect(await fabric.run('failExecution', input)).toMatchObject({ kind: 'already_scheduled' })
      delays.push(result.retryAt - clock.now())
      clock.advance(result.retryAt - clock.now())
      held = heldOf(await claimAgain())
    }

    expect(delays.slice(0, 3)).toEqual([1_000, 2_000, 4_000])
    expect(await fabric.run('failExecution', { ...held, ...permanentFailure, isIncomplete: true })).toMatchObject({
      unwinding: { outcome: 'failed', incompleteRuns: INCOMPLETE_RUN_MAX },
    })
    await fabric.run('cancelExecution', { ...held, ...undone })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { outcome: 'failed' },
      failure: permanentFailure.failure,
      failureCount: 1,
    })
  })

  test('a cancel wakes it even if no step has completed, and gives a running handler time', async () => {
    const parked = await registered()
    await journal.sleep(parked, 3_600_000)
    expect(await fabric.run('cancelExecution', { executionId: parked.executionId, ...politeCancel })).toMatchObject({
      kind: 'cancel_requested',
    })
    expect(await claimAgain()).toMatchObject({ unwinding: { outcome: 'cancelled' } })

    const running = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: running.executionId, ...politeCancel })
    await register(running)
    const forceAt = clock.now() + COMPENSATION_TIMEOUT_DEFAULT_MS
    expect(await fabric.look(running.executionId)).toMatchObject({ state: { cancel: { forceAt } } })
  })

  test('a forced cancel ends it at once', async () => {
    const held = await registered()
    const { executionId } = held
    expect(await fabric.run('cancelExecution', { executionId, ...forcedCancel })).toEqual({ kind: 'cancelled' })
    expect(await fabric.look(executionId)).toMatchObject({ state: { phase: 'ended', outcome: 'cancelled' } })
  })

  test('a final attempt timeout wakes it, and it ends as expired', async () => {
    const held = await registered({ attemptTimeoutMs: 5_000 })
    clock.advance(5_000)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'attempt_timeout' }])

    const claimed = await claimAgain()
    expect(claimed).toMatchObject({
      unwinding: { outcome: 'expired', reason: 'attempt_timeout' },
      timeoutAt: undefined,
    })
    await fabric.run('cancelExecution', { ...heldOf(claimed), ...undone })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { outcome: 'expired', reason: 'attempt_timeout' },
      failure: { category: 'timeout' },
    })
  })

  test('the last lost lease wakes it, and it may lose a few more', async () => {
    const held = await registered()
    const { executionId } = held
    const lose = async () => {
      await fabric.run('revokeLease', { executionId, reason: 'stuck', by: 'op' })
      return (await fabric.look(executionId)).state.phase
    }
    for (let i = 0; i < RECLAIM_CAP; i++) {
      expect(await lose()).toBe('eligible')
      expect(await claimAgain()).toMatchObject({ unwinding: undefined })
    }
    expect(await lose()).toBe('eligible')
    for (let i = 0; i < COMPENSATION_RECLAIM_COUNT; i++) {
      expect(await claimAgain()).toMatchObject({ unwinding: { outcome: 'failed', reason: 'reclaims_exhausted' } })
      expect(await lose()).toBe('eligible')
    }
    await claimAgain()
    expect(await lose()).toBe('ended')
    expect(await fabric.look(executionId)).toMatchObject({
      state: { outcome: 'failed', reason: 'reclaims_exhausted' },
      unwinding: { undoFailure: { category: 'lease_revoked' } },
    })
  })

  test.each([
    ['fail', 'failed'],
    ['expire', 'expired'],
    ['cancel', 'cancelled'],
  ] as const)('a wait that times out to %s wakes it', async (onTimeout, outcome) => {
    const held = await registered()
    await journal.wait(held, { timeoutMs: 1_000, onTimeout })
    clock.advance(1_000)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'suspension_timeout' }])

    const claimed = await claimAgain()
    expect(claimed).toMatchObject({ unwinding: { outcome, reason: 'suspension_timeout' } })
    await fabric.run('cancelExecution', { ...heldOf(claimed), ...undone })
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { outcome } })
  })

  test('a wait of the run that undoes steps resumes when it times out', async () => {
    const held = await registered()
    await journal.sleep(held, 3_600_000)
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })
    const undoing = heldOf(await claimAgain())
    await journal.wait(undoing, { timeoutMs: 1_000, onTimeout: 'fail' })
    clock.advance(1_000)
    await fabric.duePass()

    expect(await claimAgain()).toMatchObject({ unwinding: { outcome: 'cancelled' } })
    expect(await journal.step(held, 'answer')).toMatchObject({ state: { how: 'timed_out' } })
  })

  test('an input that workers refuse for good leaves it to a worker that accepts the input', async () => {
    const held = await registered()
    const refused = { build: 'b1', countLimit: 1, buildLimit: 1 }
    const release = { ...held, reason: 'not a box', refusal: refused }
    expect(await fabric.run('releaseExecution', release)).toEqual({ kind: 'released' })
    expect(await fabric.run('releaseExecution', release)).toEqual({ kind: 'already_released' })

    expect(await claimAgain()).toMatchObject({
      unwinding: { outcome: 'failed', failure: { category: 'input_refused' } },
    })
  })

  /** A completed execution with a compensation is replayed from one of its steps, and claimed. */
  const replayedFrom = async (name: 'pack' | 'ship'): Promise<Claimed> => {
    const held = await given.activeExecution()
    await journal.record(held, 'charge')
    await journal.record(held, 'pack')
    await register(held)
    await journal.record(held, 'ship')
    await register(held, 2)
    await fabric.run('completeExecution', held)
    const { executionId } = held
    await fabric.run('replayExecution', { executionId, requestId: given.requestId(), from: { kind: 'step', name } })
    return await claimAgain()
  }

  test('a replay from a step keeps those that were registered before it', async () => {
    expect(await replayedFrom('ship')).toMatchObject({ attemptKind: 'replay', journal: { compensationCount: 1 } })
    expect(await replayedFrom('pack')).toMatchObject({ attemptKind: 'replay', journal: { compensationCount: 0 } })
  })

  test('and a replay from a step that was replayed before keeps them again', async () => {
    const held = heldOf(await replayedFrom('ship'))
    await journal.record(held, 'ship')
    await register(held, 2)
    await journal.record(held, 'bill')
    await fabric.run('completeExecution', held)
    const { executionId } = held
    const counts: number[] = []
    for (const name of ['bill', 'ship', 'charge']) {
      await fabric.run('replayExecution', { executionId, requestId: given.requestId(), from: { kind: 'step', name } })
      const again = await claimAgain()
      counts.push(again.journal?.compensationCount ?? -1)
      await fabric.run('completeExecution', heldOf(again))
    }

    expect(counts).toEqual([2, 1, 0])
  })

  test('a final failure of a replay from a step is left to a run that has registered those of kept steps', async () => {
    const held = heldOf(await replayedFrom('ship'))

    const failed = await fabric.run('failExecution', { ...held, ...permanentFailure, isIncomplete: true })
    expect(failed).toMatchObject({ kind: 'retry_scheduled' })
    clock.advance(10_000)
    await fabric.duePass()

    const undoing = await claimAgain()
    expect(undoing).toMatchObject({ unwinding: { outcome: 'failed' }, journal: { compensationCount: 1 } })
    await journal.record(heldOf(undoing), 'unpack#undo', { isCompensation: true })
    expect(await fabric.run('cancelExecution', { ...heldOf(undoing), ...undone })).toEqual({ kind: 'cancelled' })
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { outcome: 'failed' } })
  })

  test.each(['ship', 'pack'] as const)(
    'an input that is refused after a replay from %s leaves it to a worker',
    async (name) => {
      const claimed = await replayedFrom(name)
      const refused = { build: 'b1', countLimit: 1, buildLimit: 1 }
      await fabric.run('releaseExecution', { ...heldOf(claimed), reason: 'not a box', refusal: refused })

      const undoing = await claimAgain()
      expect(undoing).toMatchObject({ unwinding: { outcome: 'failed', failure: { category: 'input_refused' } } })
      const isKnown = name === 'ship'
      expect(await register(heldOf(undoing))).toEqual({ kind: isKnown ? 'already_registered' : 'registered' })
      expect(await fabric.run('cancelExecution', { ...heldOf(undoing), ...undone })).toEqual({ kind: 'cancelled' })
      expect(await fabric.look(claimed.executionId)).toMatchObject({ state: { outcome: 'failed' } })
    },
  )

  test('fails at once after a replay from a step before all of them, if its run has registered none', async () => {
    const held = heldOf(await replayedFrom('pack'))

    expect(await fabric.run('failExecution', { ...held, ...permanentFailure })).toEqual({ kind: 'failed' })
  })

  test('starts from its beginning when it is replayed, and registers them again', async () => {
    const held = await registered()
    await journal.record(held, 'charge')
    await fabric.run('failExecution', { ...held, ...permanentFailure })
    await journal.record(held, 'refund#undo', { isCompensation: true })
    await fabric.run('cancelExecution', { ...held, ...undone })
    const { executionId } = held
    await fabric.run('replayExecution', { executionId, requestId: given.requestId() })

    const claimed = await claimAgain()
    expect(claimed).toMatchObject({ attemptKind: 'replay', unwinding: undefined, journal: { compensationCount: 0 } })
    expect(await journal.record(heldOf(claimed), 'charge')).toMatchObject({ kind: 'recorded' })
    expect(await register(heldOf(claimed))).toEqual({ kind: 'registered' })
    await fabric.run('completeExecution', heldOf(claimed))
    expect(await fabric.look(executionId)).toMatchObject({ state: { outcome: 'completed' } })
  })
})

conforms('members of a flow with steps to undo', ({ fabric, given, journal, flows, clock }) => {
  const race = () => flows.graph({ slow: [], fast: [], first: ['slow', 'fast'] }, { policies: { first: anyOf } })

  test('a loser that runs is asked to stop, has time to undo its steps, and counts as superseded', async () => {
    const graph = await race()
    const held = await graph.claim('slow')
    await journal.record(held, 'charge')
    await graph.complete('fast')
    await flows.drain()

    const forceAt = clock.now() + COMPENSATION_TIMEOUT_DEFAULT_MS
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'active', cancel: { reason: 'sibling_quorum_satisfied', by: 'flow', forceAt } },
    })
    expect(await graph.states('fast', 'first')).toEqual(['completed', 'waiting'])
    const cancel = { reason: 'sibling_quorum_satisfied', by: 'flow', force: false, graceMs: 0 }
    expect(await fabric.run('cancelExecution', { ...held, ...cancel })).toEqual({ kind: 'cancelled' })
    expect((await graph.view()).flow.counts).toMatchObject({ superseded: 1, active: 0 })
  })

  test('a loser whose holder is dead is woken when the lease expires', async () => {
    const graph = await race()
    const held = await graph.claim('slow')
    await journal.record(held, 'charge')
    await graph.complete('fast')
    await flows.drain()
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()

    const again = await graph.claim('slow')
    expect(await fabric.look(again.executionId)).toMatchObject({ unwinding: { reason: 'sibling_quorum_satisfied' } })
    await fabric.run('completeExecution', again)
    expect(await graph.endOf('slow')).toBe('cancelled,sibling_quorum_satisfied,flow')
    expect((await graph.view()).flow.counts).toMatchObject({ superseded: 1 })
  })

  test('a loser whose lease has expired is woken at once', async () => {
    const graph = await race()
    const held = await graph.claim('slow')
    await journal.record(held, 'charge')
    clock.advance(LEASE_TTL_MS)
    await graph.complete('fast')
    await flows.drain()

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'eligible' },
      unwinding: { outcome: 'cancelled', reason: 'sibling_quorum_satisfied' },
    })
  })

  test('a loser that completes although it was asked to stop counts as completed', async () => {
    const graph = await race()
    const held = await graph.claim('slow')
    await journal.record(held, 'charge')
    await graph.complete('fast')
    await flows.drain()
    await fabric.run('completeExecution', held)
    await graph.complete('first')
    await flows.drain()

    expect(await graph.states()).toEqual(['completed', 'completed', 'completed'])
    expect(await graph.view()).toMatchObject({ settled: true })
  })

  test('a loser that runs without steps still ends at once', async () => {
    const graph = await race()
    await graph.claim('slow')
    await graph.complete('fast')
    await flows.drain()

    expect(await graph.state('slow')).toBe('cancelled')
  })

  test.each(['parked', 'running'] as const)(
    'a %s member whose child fails undoes its steps before it is skipped',
    async (how) => {
      const graph = await flows.graph({ parent: [] }, { class: CLASS })
      const holder = await graph.claim('parent')
      await fabric.run('registerCompensation', { ...holder, count: 1 })
      await graph.add('child', { holder, awaited: { hands: { as: 'input', name: 'it' } } })
      if (how === 'parked') expect(await fabric.run('waitForChildren', holder)).toEqual({ kind: 'parked' })
      await graph.fail('child')
      if (how === 'running') expect(await fabric.run('waitForChildren', holder)).toEqual({ kind: 'skipped' })

      const [claimed] = (await given.claim()).executions
      expect(claimed).toMatchObject({
        executionId: holder.executionId,
        unwinding: { outcome: 'skipped', reason: 'dependency_impossible' },
      })
      if (claimed === undefined) return
      await fabric.run('cancelExecution', { ...heldOf(claimed), ...undone })
      expect(await graph.state('parent')).toBe('skipped')
      expect((await graph.view()).flow.counts).toMatchObject({ skipped: 1, failed: 1 })
    },
  )
})
