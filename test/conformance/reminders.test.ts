/** Reminders of a wait are events in the log alone, as often as was asked for. */
import { expect, test } from 'vitest'
import { conforms } from './harness.ts'

conforms('reminders of a wait', ({ fabric, given, journal, clock }) => {
  const EVERY_MS = 1_000

  test('repeat until it is answered, and are events in the log alone', async () => {
    const held = await journal.waiting({ remindEveryMs: EVERY_MS, timeoutMs: 60_000 })
    expect(await fabric.duePass()).toMatchObject({ handled: [], nextDueAt: clock.now() + EVERY_MS })
    for (const reminderCount of [1, 2]) {
      clock.advance(EVERY_MS)
      expect((await fabric.duePass()).handled).toEqual([{ case: 'wait_reminder', executionId: held.executionId }])
      expect((await journal.step(held, 'answer')).wait).toMatchObject({ reminderCount })
    }
    expect(await given.eventsOf(held, 'wait_reminded')).toMatchObject([{ step: 'answer', reason: 'signal' }, {}])
    await journal.signal(held, 'reply')
    clock.advance(EVERY_MS)

    expect((await fabric.duePass()).handled).toEqual([])
  })

  test('that were missed are made up for once', async () => {
    const held = await journal.waiting({ remindEveryMs: EVERY_MS })
    clock.advance(10 * EVERY_MS)
    await Promise.all([fabric.duePass(), fabric.duePass()])

    expect(await given.eventsOf(held, 'wait_reminded')).toHaveLength(1)
    expect((await fabric.look(held.executionId)).state).toMatchObject({ remindAt: clock.now() + EVERY_MS })
  })

  test('continue after it was escalated, and come after what time has decided', async () => {
    const held = await journal.waiting({ remindEveryMs: EVERY_MS, timeoutMs: EVERY_MS, onTimeout: 'escalate' })
    clock.advance(EVERY_MS)
    const { handled } = await fabric.duePass()
    expect(handled.map((item) => item.case)).toContain('suspension_timeout')
    await fabric.duePass()
    clock.advance(EVERY_MS)
    await fabric.duePass()

    expect(await given.eventsOf(held, 'wait_reminded')).toMatchObject([{ reason: 'operator_review' }, {}])
  })
})
