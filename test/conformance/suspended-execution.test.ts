/** What may be done to an execution that waits, and how it is reported. */
import { expect, test } from 'vitest'
import { count } from './condition-nodes.ts'
import { politeCancel } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('a suspended execution', ({ fabric, given, journal, clock }) => {
  test('is resumed by an operator, who is recorded', async () => {
    const held = await journal.waiting({ resumeDelayMs: 5_000 })
    const resume = () => fabric.run('resumeExecution', { executionId: held.executionId, by: 'op', reason: 'by phone' })

    expect(await resume()).toEqual({ kind: 'resumed', step: 'answer', state: 'waiting' })
    expect((await refusal(fabric, resume)).code).toBe('execution_not_suspended')
    expect(await journal.step(held, 'answer')).toMatchObject({
      state: { phase: 'closed', how: 'operator', by: 'op', reason: 'by phone' },
    })
    expect(await given.eventsOf(held, 'execution_resumed')).toMatchObject([{ reason: 'operator', by: 'op' }])
    expect((await given.claim()).executions).toMatchObject([{ journal: { resumed: { cause: 'operator' } } }])
  })

  test('is resumed by an operator from the wait that he means, and from no other', async () => {
    const held = await journal.waiting()
    const { executionId } = held

    expect(
      await refusal(fabric, () => fabric.run('resumeExecution', { executionId, by: 'op', step: 'else' })),
    ).toMatchObject({
      code: 'waits_elsewhere',
      detail: { executionId, step: 'answer' },
    })
    expect(await fabric.run('resumeExecution', { executionId, by: 'op', step: 'answer' })).toMatchObject({
      kind: 'resumed',
    })
    const nobody = { executionId: given.newId(), by: 'op' }
    expect((await refusal(fabric, () => fabric.run('resumeExecution', nobody))).code).toBe('execution_not_found')
  })

  test('that is cancelled ends at once and leaves nothing open', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'other')
    await journal.wait(held)
    const { executionId } = held

    expect(await fabric.run('cancelExecution', { executionId, ...politeCancel })).toEqual({ kind: 'cancelled' })

    expect(await journal.step(held, 'answer')).toMatchObject({
      state: { phase: 'closed', how: 'ended', by: 'operator' },
    })
    expect((await journal.journal(held)).open).toEqual([])
    expect((await refusal(fabric, () => journal.signal(held, 'other'))).code).toBe('execution_ended')
    expect((await fabric.run('listOpenWaitpoints', {})).waitpoints).toEqual([])
  })

  test('cannot be released, revoked, delayed or replaced', async () => {
    const held = await journal.waiting()
    const { executionId } = held
    const codes = [
      await refusal(fabric, () => fabric.run('releaseExecution', { ...held, reason: 'shutdown' })),
      await refusal(fabric, () => fabric.run('delayExecution', { ...held, delayMs: 1 })),
      await refusal(fabric, () => fabric.run('revokeLease', { executionId, reason: 'stuck', by: 'op' })),
      await refusal(fabric, () => given.submit({ executionId, ifExists: 'replace' })),
    ].map(({ code }) => code)

    expect(codes).toEqual(['execution_not_active', 'execution_not_active', 'no_active_lease', 'execution_in_progress'])
  })

  test('is listed, counted and explained as what it is', async () => {
    const held = await journal.waiting({
      for: count(2, ['reply'], { name: 'yes' }),
      timeoutMs: 9_000,
      reason: 'approval',
    })
    await journal.signal(held, 'reply', { name: 'yes' })

    expect(await fabric.run('listExecutions', { limit: 10, state: 'suspended' })).toMatchObject({
      executions: { length: 1 },
    })
    expect(await fabric.run('countExecutions', {})).toMatchObject({
      lanes: [{ counts: [{ state: 'suspended', count: 1 }] }],
    })
    expect(await fabric.run('explainExecution', { executionId: held.executionId })).toMatchObject({
      explanation: {
        why: 'suspended',
        step: 'answer',
        stepKind: 'wait',
        reason: 'approval',
        until: clock.now() + 9_000,
        isOverdue: false,
        onTimeout: 'resume',
        targets: ['reply'],
        satisfierCount: 1,
      },
    })
    clock.advance(9_000)
    expect(await fabric.run('explainExecution', { executionId: held.executionId })).toMatchObject({
      explanation: { isOverdue: true },
    })
  })
})
