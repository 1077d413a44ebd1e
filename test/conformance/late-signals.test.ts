/** Time limits at the delivery of a signal, where no engine has run since they passed. */
import { expect, test } from 'vitest'
import type { TimeoutBehaviour } from '../../src/kernel/index.ts'
import { count, one } from './condition-nodes.ts'
import { ada } from './given-journal.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const TIMEOUT_MS = 10_000

const closing = ['resume', 'resume_with_signal'] as const
const ending = ['fail', 'cancel', 'expire'] as const

conforms('a signal after the timeout of its wait', ({ fabric, given, journal, clock }) => {
  /** An execution whose wait at `reply` has timed out, and a token for it. No due pass has run. */
  const overdue = async (onTimeout: TimeoutBehaviour) => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'reply'))
    await journal.open(held, 'other')
    await journal.wait(held, { opens: [], timeoutMs: TIMEOUT_MS, onTimeout })
    clock.advance(TIMEOUT_MS)
    return { held, token }
  }

  test('counts up to the last millisecond', async () => {
    const held = await journal.waiting({ timeoutMs: TIMEOUT_MS })
    clock.advance(TIMEOUT_MS - 1)

    expect(await journal.effect(held, 'reply')).toBe('resumed')
  })

  test.each(closing)('to %s is refused at the waitpoint, with a token and without', async (onTimeout) => {
    const { held, token } = await overdue(onTimeout)

    for (const draft of [{}, { token, source: ada }]) {
      expect((await refusal(fabric, () => journal.signal(held, 'reply', draft))).code).toBe('waitpoint_closed')
    }
    expect((await fabric.look(held.executionId)).state.phase).toBe('suspended')
    await fabric.duePass()
    expect(await journal.step(held, 'answer')).toMatchObject({ state: { phase: 'closed', how: 'timed_out' } })
  })

  test.each(ending)('to %s is refused everywhere, as after the end', async (onTimeout) => {
    const { held, token } = await overdue(onTimeout)

    for (const act of [
      () => journal.signal(held, 'reply', { token, source: ada }),
      () => journal.signal(held, 'other'),
      () => journal.signal(held, '@go'),
    ]) {
      expect((await refusal(fabric, act)).code).toBe('execution_ended')
    }
    await fabric.duePass()
    expect((await fabric.look(held.executionId)).state.phase).toBe('ended')
  })

  test('to escalate still counts, and the wait is escalated', async () => {
    const { held } = await overdue('escalate')

    expect(await journal.effect(held, 'reply')).toBe('resumed')
    expect(await given.eventsOf(held, 'wait_escalated')).toHaveLength(1)
    expect(await given.eventsOf(held, 'execution_resumed')).toMatchObject([{ reason: 'signal' }])
  })

  test('to escalate that does not meet the condition leaves an escalated wait', async () => {
    const held = await journal.waiting({ for: count(2, ['reply']), timeoutMs: TIMEOUT_MS, onTimeout: 'escalate' })
    clock.advance(TIMEOUT_MS)

    expect(await journal.effect(held, 'reply')).toBe('counted')
    expect((await fabric.look(held.executionId)).state).toMatchObject({ phase: 'suspended', reason: 'operator_review' })
    expect(await journal.effect(held, 'reply')).toBe('resumed')
  })

  test.each(closing)('to %s is buffered in its mailbox for the next wait', async (onTimeout) => {
    const held = await given.activeExecution()
    await journal.wait(held, { for: one('@go'), opens: [], timeoutMs: TIMEOUT_MS, onTimeout })
    clock.advance(TIMEOUT_MS)

    expect(await journal.effect(held, '@go')).toBe('buffered')
    expect(await given.eventsOf(held, 'execution_resumed')).toMatchObject([{ reason: 'timeout', step: 'answer' }])
    const next = await given.claimOf(held)
    expect(await journal.wait(next, { name: 'next', for: one('@go'), opens: [] })).toMatchObject({ kind: 'answered' })
    expect(await journal.step(next, 'answer')).toMatchObject({ state: { how: 'timed_out' } })
  })

  test('in either order with the due pass leads to the same records', async () => {
    const seen: unknown[] = []
    for (const isEngineFirst of [true, false]) {
      const { held } = await overdue('resume')
      if (isEngineFirst) await fabric.duePass()
      seen.push([
        await journal.effect(held, 'reply'),
        await journal.effect(held, 'other'),
        await journal.effect(held, '@go'),
      ])
      if (!isEngineFirst) await fabric.duePass()
      const { state } = await fabric.look(held.executionId)
      seen.push([state.phase, (await journal.step(held, 'answer')).state.phase, (await journal.signals(held)).length])
      await fabric.run('completeExecution', await given.claimOf(held))
    }

    expect(seen.slice(2)).toEqual(seen.slice(0, 2))
    expect(seen[0]).toEqual(['waitpoint_closed', 'buffered', 'buffered'])
  })

  test('that repeats an earlier one still returns its first result', async () => {
    const held = await journal.waiting({ for: count(2, ['reply']), timeoutMs: TIMEOUT_MS, onTimeout: 'fail' })
    await journal.signal(held, 'reply', { key: 'k' })
    clock.advance(TIMEOUT_MS)

    expect(await journal.signal(held, 'reply', { key: 'k' })).toMatchObject({ kind: 'duplicate', effect: 'counted' })
  })
})

conforms('a signal after the total deadline', ({ fabric, given, journal, clock }) => {
  test('is refused in every phase, before any engine has run', async () => {
    const waiting = await journal.waiting({}, { totalTimeoutMs: TIMEOUT_MS })
    const active = await given.activeExecution({ totalTimeoutMs: TIMEOUT_MS })
    await journal.open(active, 'reply')
    clock.advance(TIMEOUT_MS - 1)
    expect(await journal.effect(active, '@go')).toBe('buffered')
    clock.advance(1)

    for (const held of [waiting, active]) {
      for (const target of ['reply', '@go']) {
        expect((await refusal(fabric, () => journal.signal(held, target))).code).toBe('execution_ended')
      }
    }
  })
})
