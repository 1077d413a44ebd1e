import { currentStep } from '../../lifecycle/find-step.ts'
import type { DueCase } from './due-case.ts'

/** Records a reminder of an open wait in the event log. Missed reminders are coalesced into one. */
export const waitReminder: DueCase = {
  name: 'wait_reminder',
  isDue: (execution, now) => {
    const state = execution.state
    return state.phase === 'suspended' && state.remindAt !== undefined && state.remindAt <= now
  },
  run: (tx, execution) => {
    const state = execution.state
    const step = currentStep(tx, execution)
    const wait = step?.wait
    if (state.phase !== 'suspended' || step === undefined || wait === undefined) return
    wait.reminderCount = wait.reminderCount + 1
    state.remindAt = wait.remindEveryMs === undefined ? undefined : tx.now + wait.remindEveryMs
    tx.put(step)
    tx.put(execution)
    tx.emit('wait_reminded', execution, { step: step.name, reason: state.reason, until: state.until })
  },
}
