/** Time limits at the delivery of a signal, where no engine has run since they passed. */
import { expect, test } from 'vitest'
import { COMPENSATION_WAIT_MS } from '../../src/kernel/index.ts'
import type { TimeoutBehaviour } from '../../src/kernel/index.ts'
import { count, one } from './condition-nodes.ts'
import { forcedCancel, politeCancel } from './given.ts'
import type { Draft, Held } from './given.ts'
import { ada } from './given-journal.ts'
import type { WaitDraft } from './given-journal.ts'
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

conforms(
  'a signal after a time limit of an execution with steps to undo',
  ({ fabric, given, journal, flows, clock }) => {
    const targets = ['reply', 'other', 'unknown', '@go'] as const

    /** Sends signals to all targets, and returns the effects, the state and the events, without ids and times. */
    const outcomeOf = async (held: Held) => {
      const effects: string[] = []
      for (const target of targets) effects.push(await journal.effect(held, target))
      await fabric.duePass()
      const { state, unwinding, journal: kept } = await fabric.look(held.executionId)
      return {
        effects,
        state: state.phase,
        stop: unwinding?.outcome,
        reason: unwinding?.reason,
        open: kept?.open.map(({ target }) => target),
        buffered: kept?.bufferedCount,
        stops: (await given.eventsOf(held, 'execution_unwinding')).length,
      }
    }

    const situations = {
      suspended: async (draft: Draft, wait: WaitDraft = {}) => {
        const held = await given.activeExecution(draft)
        await journal.record(held, 'charge')
        await fabric.run('registerCompensation', { ...held, count: 1 })
        await journal.open(held, 'other')
        await journal.wait(held, wait)
        return held
      },
      delayed: async (draft: Draft) => {
        const held = await given.activeExecution(draft)
        await journal.record(held, 'charge')
        await journal.open(held, 'reply')
        await journal.open(held, 'other')
        await fabric.run('delayExecution', { ...held, delayMs: 60_000 })
        return held
      },
      active: async (draft: Draft) => {
        const held = await given.activeExecution(draft)
        await journal.record(held, 'charge')
        await journal.open(held, 'reply')
        await journal.open(held, 'other')
        return held
      },
    }

    /** The outcomes with the due pass before the signals, and after them. */
    const inBothOrders = async (overdue: () => Promise<Held>): Promise<Awaited<ReturnType<typeof outcomeOf>>[]> => {
      const seen: Awaited<ReturnType<typeof outcomeOf>>[] = []
      for (const isEngineFirst of [true, false]) {
        const held = await overdue()
        if (isEngineFirst) await fabric.duePass()
        seen.push(await outcomeOf(held))
        await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
      }
      return seen
    }

    test.each(['suspended', 'delayed', 'active'] as const)(
      'stops a %s one at its deadline, and is buffered in a mailbox only, whether or not an engine has run',
      async (phase) => {
        const [engineFirst, signalFirst] = await inBothOrders(async () => {
          const held = await situations[phase]({ totalTimeoutMs: TIMEOUT_MS })
          clock.advance(TIMEOUT_MS)
          return held
        })

        expect(engineFirst).toEqual({
          effects: ['waitpoint_closed', 'waitpoint_closed', 'waitpoint_not_found', 'buffered'],
          state: 'eligible',
          stop: 'expired',
          reason: 'execution_deadline',
          open: [],
          buffered: 1,
          stops: 1,
        })
        expect(signalFirst).toEqual(engineFirst)
      },
    )

    test.each(ending)('stops one whose wait times out to %s, in either order', async (onTimeout) => {
      const [engineFirst, signalFirst] = await inBothOrders(async () => {
        const held = await situations.suspended({}, { timeoutMs: TIMEOUT_MS, onTimeout })
        clock.advance(TIMEOUT_MS)
        return held
      })

      expect(engineFirst).toMatchObject({
        effects: ['waitpoint_closed', 'waitpoint_closed', 'waitpoint_not_found', 'buffered'],
        state: 'eligible',
        reason: 'suspension_timeout',
      })
      expect(signalFirst).toEqual(engineFirst)
    })

    test.each(ending)(
      'resumes one that undoes its steps and whose wait times out to %s, in either order',
      async (onTimeout) => {
        const [engineFirst, signalFirst] = await inBothOrders(async () => {
          const { executionId } = await situations.suspended({})
          await fabric.run('cancelExecution', { executionId, ...politeCancel })
          const held = await given.claimOf({ executionId })
          await journal.open(held, 'other')
          await journal.wait(held, { name: 'undone', timeoutMs: TIMEOUT_MS, onTimeout })
          clock.advance(TIMEOUT_MS)
          return held
        })

        expect(engineFirst).toMatchObject({
          effects: ['waitpoint_closed', 'buffered', 'waitpoint_not_found', 'buffered'],
          state: 'eligible',
          stop: 'cancelled',
        })
        expect(signalFirst).toEqual(engineFirst)
      },
    )

    test('is refused once the time to undo the steps is over, in either order', async () => {
      const [engineFirst, signalFirst] = await inBothOrders(async () => {
        const held = await situations.suspended({})
        await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })
        clock.advance(COMPENSATION_WAIT_MS)
        return held
      })

      expect(engineFirst).toMatchObject({ effects: targets.map(() => 'execution_ended'), state: 'ended' })
      expect(signalFirst).toEqual(engineFirst)
    })

    test('stops a member of a flow too, which its flow counts as waiting', async () => {
      const graph = await flows.graph({ a: [] }, { drafts: { a: { totalTimeoutMs: TIMEOUT_MS } } })
      const held = await graph.claim('a')
      await journal.record(held, 'charge')
      await journal.wait(held)
      clock.advance(TIMEOUT_MS)

      expect(await journal.effect(held, '@go')).toBe('buffered')

      expect(await graph.states()).toEqual(['waiting'])
      expect((await graph.view()).flow.counts).toMatchObject({ suspended: 0, waiting: 1 })
      expect(await graph.look('a')).toMatchObject({ unwinding: { outcome: 'expired' } })
    })

    test('a repeated one returns its first result', async () => {
      const held = await situations.suspended({ totalTimeoutMs: TIMEOUT_MS })
      clock.advance(TIMEOUT_MS)

      const first = await journal.signal(held, '@go', { key: 'k' })
      const again = await journal.signal(held, '@go', { key: 'k' })

      expect([first, again]).toMatchObject([
        { kind: 'delivered', effect: 'buffered' },
        { kind: 'duplicate', effect: 'buffered' },
      ])
      expect(await given.eventsOf(held, 'execution_unwinding')).toHaveLength(1)
    })
  },
)

conforms('a signal after the total deadline', ({ fabric, given, journal, clock }) => {
  test('is refused in every phase without steps to undo, before any engine has run', async () => {
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
