/** Timeouts of waits: the behaviour asked for, once, and only for waits that were not answered in time. */
import { expect, test } from 'vitest'
import type { TimeoutBehaviour } from '../../src/kernel/index.ts'
import { anyOf } from './given-flow.ts'
import { count, one } from './condition-nodes.ts'
import { fixedRetry, forcedCancel, heldOf } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const TIMEOUT_MS = 10_000

const ends: readonly (readonly [TimeoutBehaviour, string, string])[] = [
  ['fail', 'failed', 'failed'],
  ['cancel', 'cancelled', 'cancelled'],
  ['expire', 'expired', 'expired'],
]
const goesOn = ['resume', 'resume_with_signal'] as const
const behaviours = [...ends.map(([behaviour]) => behaviour), ...goesOn, 'escalate'] as const

conforms('the timeout of a wait', ({ fabric, given, journal, flows, clock }) => {
  test.each(ends)('to %s ends the execution as %s, whatever retries remain', async (onTimeout, outcome, attempt) => {
    const held = await journal.waiting({ timeoutMs: TIMEOUT_MS, onTimeout }, { retry: fixedRetry(5, 0) })
    clock.advance(TIMEOUT_MS)

    expect((await fabric.duePass()).handled).toEqual([{ case: 'suspension_timeout', executionId: held.executionId }])

    const execution = await fabric.look(held.executionId)
    expect(execution.state).toMatchObject({ phase: 'ended', outcome, reason: 'suspension_timeout' })
    expect(execution.failure?.category).toBe(onTimeout === 'cancel' ? undefined : 'suspension_timeout')
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ number: 1, outcome: attempt }])
    expect(await journal.step(held, 'answer')).toMatchObject({ state: { phase: 'closed', how: 'ended' } })
    expect(await given.eventsOf(held, 'execution_ended')).toMatchObject([{ outcome, reason: 'suspension_timeout' }])
    expect((await refusal(fabric, () => journal.signal(held, 'reply'))).code).toBe('execution_ended')
    expect((await journal.journal(held)).open).toEqual([])
  })

  test.each(goesOn)('to %s continues the same attempt', async (onTimeout) => {
    const held = await journal.waiting({ timeoutMs: TIMEOUT_MS, onTimeout, resumeDelayMs: 5_000 })
    clock.advance(TIMEOUT_MS)
    await fabric.duePass()

    const { executions } = await given.claim()
    expect(executions).toMatchObject([
      { fence: { attempt: 1, epoch: 2 }, journal: { resumed: { step: 'answer', cause: 'timeout' } } },
    ])
    expect(await journal.wait(heldOf(executions[0]!))).toMatchObject({
      kind: 'answered',
      step: { state: { phase: 'closed', how: 'timed_out' } },
    })
    expect(await journal.effect(held, 'reply')).toBe('waitpoint_closed')
    expect(await given.eventsOf(held, 'execution_resumed')).toMatchObject([{ reason: 'timeout', step: 'answer' }])
  })

  test('with a signal leaves one that a handler can read, from the engine itself', async () => {
    const held = await journal.waiting({
      for: count(2, ['reply']),
      timeoutMs: TIMEOUT_MS,
      onTimeout: 'resume_with_signal',
    })
    await journal.signal(held, 'reply')
    clock.advance(TIMEOUT_MS)
    await fabric.duePass()

    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1, 2], closer: 2 })
    expect((await journal.signals(held))[1]).toMatchObject({
      name: 'timeout',
      source: { type: 'engine', identity: 'suspension_timeout' },
      effect: 'resumed',
    })
    expect(await given.eventsOf(held, 'signal_received')).toMatchObject([
      { effect: 'counted' },
      { signal: 'timeout', effect: 'resumed' },
    ])
  })

  test('with a signal and no waitpoint of its own, signals sent by that name still count', async () => {
    const held = await given.activeExecution()
    await journal.signal(held, '@timeout', { name: 'timeout' })
    await journal.wait(held, { for: one('@go'), opens: [], timeoutMs: TIMEOUT_MS, onTimeout: 'resume_with_signal' })
    clock.advance(TIMEOUT_MS)
    await fabric.duePass()
    const next = await given.claimOf(held)

    expect((await journal.step(next, 'answer')).wait).toMatchObject({ satisfiers: [2], closer: 2 })
    expect(await journal.wait(next, { name: 'next', for: one('@timeout'), opens: [] })).toMatchObject({
      kind: 'answered',
      step: { wait: { satisfiers: [1] } },
    })
  })

  test('each of two waits that run out has a signal of its own', async () => {
    let held = await given.activeExecution()
    for (const name of ['first', 'second']) {
      await journal.wait(held, { name, timeoutMs: TIMEOUT_MS, onTimeout: 'resume_with_signal' })
      clock.advance(TIMEOUT_MS)
      await fabric.duePass()
      held = await given.claimOf(held)
    }

    expect((await journal.step(held, 'first')).wait?.closer).toBe(1)
    expect((await journal.step(held, 'second')).wait?.closer).toBe(2)
  })

  test('to escalate leaves it waiting for an operator, and the answer still counts', async () => {
    const held = await journal.waiting({ timeoutMs: TIMEOUT_MS, onTimeout: 'escalate' })
    clock.advance(TIMEOUT_MS)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'suspension_timeout' }])

    const { state } = await fabric.look(held.executionId)
    expect(state).toMatchObject({ phase: 'suspended', reason: 'operator_review' })
    expect(state).not.toHaveProperty('until', expect.anything())
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ isEscalated: true })
    expect(await given.eventsOf(held, 'wait_escalated')).toMatchObject([{ step: 'answer', reason: 'signal' }])
    clock.advance(10 * TIMEOUT_MS)
    expect(await fabric.duePass()).toMatchObject({ handled: [] })
    expect(await fabric.run('explainExecution', { executionId: held.executionId })).toMatchObject({
      explanation: { why: 'suspended', isEscalated: true, isOverdue: false },
    })
    expect(await journal.effect(held, 'reply')).toBe('resumed')
  })

  test.each(behaviours)(
    'to %s happens not a millisecond early, and once however many engines look',
    async (onTimeout) => {
      const held = await journal.waiting({ timeoutMs: TIMEOUT_MS, onTimeout })
      clock.advance(TIMEOUT_MS - 1)
      expect(await fabric.duePass()).toMatchObject({ handled: [], nextDueAt: clock.now() + 1 })
      clock.advance(1)
      await Promise.all([fabric.duePass(), fabric.duePass()])

      const types = await given.eventTypesOf(held)
      const told = types.filter((type) => ['execution_ended', 'execution_resumed', 'wait_escalated'].includes(type))
      expect(told).toHaveLength(1)
    },
  )

  test.each(behaviours)('to %s does not affect a wait that was answered in time', async (onTimeout) => {
    const held = await journal.waiting({ timeoutMs: TIMEOUT_MS, onTimeout })
    await journal.signal(held, 'reply')
    const next = await given.claimOf(held, { leaseTtlMs: 10 * TIMEOUT_MS })
    clock.advance(TIMEOUT_MS)

    expect((await fabric.duePass()).handled).toEqual([])
    await fabric.run('completeExecution', next)
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'completed' })
  })

  test('a wait without a limit waits for ever, and one that was over when it began is over at once', async () => {
    const patient = await journal.waiting()
    clock.advance(1_000 * TIMEOUT_MS)
    expect(await fabric.duePass()).toMatchObject({ handled: [] })
    await fabric.run('cancelExecution', { executionId: patient.executionId, ...forcedCancel })

    const held = await journal.waiting({ timeoutMs: 0 })
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'suspension_timeout' }])
    expect((await fabric.look(held.executionId)).state.phase).toBe('eligible')
  })

  test('a claim handles it by itself: no engine is needed', async () => {
    const held = await journal.waiting({ timeoutMs: TIMEOUT_MS })
    clock.advance(TIMEOUT_MS)

    expect(await given.claimOf(held)).toMatchObject({ fence: { epoch: 2, attempt: 1 } })
  })

  test('a sleep is over when its time is, and no signal shortens it', async () => {
    const held = await given.activeExecution()
    expect(await journal.sleep(held, TIMEOUT_MS)).toMatchObject({ kind: 'suspended', until: clock.now() + TIMEOUT_MS })
    expect(await journal.effect(held, '@nap', { name: 'nap' })).toBe('buffered')
    clock.advance(TIMEOUT_MS)
    const next = await given.claimOf(held)

    expect(await journal.sleep(next, TIMEOUT_MS)).toMatchObject({
      kind: 'answered',
      step: { kind: 'sleep', state: { how: 'timed_out' } },
    })
  })

  test('the deadline of the execution comes first, and closes the wait with all its places', async () => {
    const held = await given.activeExecution({ totalTimeoutMs: 2 * TIMEOUT_MS })
    await journal.open(held, 'other')
    await journal.wait(held, { timeoutMs: 3 * TIMEOUT_MS })
    clock.advance(2 * TIMEOUT_MS)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'execution_deadline' }])
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'expired' })
    expect(await journal.step(held, 'answer')).toMatchObject({ state: { phase: 'closed', how: 'ended' } })
    const { waitpoints } = await fabric.run('listOpenWaitpoints', {})
    expect(waitpoints).toEqual([])
  })

  test('in a flow counts, skips and decides as any other end does', async () => {
    const graph = await flows.graph(
      { asks: [], other: [], behind: ['asks'], first: ['asks', 'other'] },
      { policies: { first: anyOf } },
    )
    const held = await graph.claim('asks')
    await journal.wait(held, { timeoutMs: TIMEOUT_MS, onTimeout: 'fail' })
    expect((await graph.view()).flow.counts).toMatchObject({ suspended: 1, waiting: 1, waiting_dependencies: 2 })
    clock.advance(TIMEOUT_MS)
    await flows.drain()

    expect(await graph.states('asks', 'behind', 'first')).toEqual(['failed', 'skipped', 'waiting_dependencies'])
    await graph.complete('other')
    expect(await graph.state('first')).toBe('waiting')
  })
})
