import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { currentStep } from '../../lifecycle/find-step.ts'
import { resumeFrom } from '../../lifecycle/journal/end-wait.ts'
import { hasTimedOut, timeOutWait } from '../../lifecycle/endings/time-out-wait.ts'
import type { DueCase } from './due-case.ts'

/** Ends a wait that has timed out, as requested. A sleep has ended, and a step is retried. */
export const suspensionTimeout: DueCase = {
  name: 'suspension_timeout',
  isDue: hasTimedOut,
  run: (tx, execution) => {
    if (cancelIfRequested(tx, execution) !== undefined) return
    const step = currentStep(tx, execution)
    if (step === undefined) return tx.fault('a wait timed out that the execution is not in', execution.id)
    const wait = step.wait
    if (step.state.phase !== 'open' || wait === undefined) {
      resumeFrom(tx, execution, step, { how: 'timed_out', cause: 'step_retry', by: undefined, reason: undefined })
      return
    }
    timeOutWait(tx, execution, step, wait)
  },
}
