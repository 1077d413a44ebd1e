import { endCancelled, endExecution } from '../../lifecycle/endings/end-execution.ts'
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { isMailbox, journalOf, mailboxOf, scopeOf, waitpointIdIn } from '../../rules/journal-ids.ts'
import { recordSignal } from '../../lifecycle/journal/record-signal.ts'
import { mailboxAt } from '../../lifecycle/journal/waitpoint-records.ts'
import { currentStep } from '../../lifecycle/find-step.ts'
import { resumeFrom } from '../../lifecycle/journal/end-wait.ts'
import type { Answer } from '../../lifecycle/journal/end-wait.ts'
import type { Step, Wait } from '../../model/journal-schema.ts'
import type { Execution } from '../../model/records.ts'
import { joinName } from '../../model/names.ts'
import type { Tx } from '../../tx.ts'
import type { DueCase } from './due-case.ts'

const SUSPENSION_TIMEOUT = 'suspension_timeout'
const BY_ENGINE = 'engine'
const OPERATOR_REVIEW = 'operator_review'
const TIMEOUT_SIGNAL = 'timeout'

/** The target of the timeout signal of a wait without a waitpoint of its own. Callers cannot use this name. */
const TIMEOUT_MAILBOX = mailboxOf('__timeout')

const TIMED_OUT: Answer = { how: 'timed_out', cause: 'timeout', by: undefined, reason: undefined }

/** Ends a wait that has timed out, as requested. A sleep has ended, and a step is retried. */
export const suspensionTimeout: DueCase = {
  name: 'suspension_timeout',
  isDue: (execution, now) => {
    const state = execution.state
    return state.phase === 'suspended' && state.until !== undefined && state.until <= now
  },
  run: (tx, execution) => {
    if (cancelIfRequested(tx, execution)) return
    const step = currentStep(tx, execution)
    if (step === undefined) return tx.fault('a wait timed out that the execution is not in', execution.id)
    const wait = step.wait
    if (step.state.phase !== 'open' || wait === undefined) {
      resumeFrom(tx, execution, step, { how: 'timed_out', cause: 'step_retry', by: undefined, reason: undefined })
      return
    }
    timeOut(tx, execution, step, wait)
  },
}

function timeOut(tx: Tx, execution: Execution, step: Step, wait: Wait): void {
  const message = `the wait for "${step.name}" was not answered in time`
  const failure = { category: SUSPENSION_TIMEOUT, message, stack: undefined, at: tx.now }
  switch (wait.onTimeout) {
    case 'resume':
      resumeFrom(tx, execution, step, TIMED_OUT)
      return
    case 'resume_with_signal':
      recordTimeoutSignal(tx, execution, step, wait)
      resumeFrom(tx, execution, step, TIMED_OUT)
      return
    case 'escalate':
      escalate(tx, execution, step, wait)
      return
    case 'cancel':
      endCancelled(tx, execution, { reason: SUSPENSION_TIMEOUT, by: BY_ENGINE })
      return
    case 'fail':
      execution.failureCount = execution.failureCount + 1
      endExecution(tx, execution, {
        outcome: 'failed',
        how: 'failed',
        reason: SUSPENSION_TIMEOUT,
        by: undefined,
        failure,
        attemptOutcome: 'failed',
      })
      return
    case 'expire':
      endExecution(tx, execution, {
        outcome: 'expired',
        how: 'expired',
        reason: SUSPENSION_TIMEOUT,
        by: undefined,
        failure,
        attemptOutcome: 'expired',
      })
      return
  }
}

/** Escalates a wait to an operator: the timeout is removed, and a signal or an operator can still end it. */
function escalate(tx: Tx, execution: Execution, step: Step, wait: Wait): void {
  const state = execution.state
  if (state.phase !== 'suspended') return
  wait.until = undefined
  wait.isEscalated = true
  tx.put(step)
  tx.emit('wait_escalated', execution, { step: step.name, reason: state.reason, until: state.until })
  state.until = undefined
  state.reason = OPERATOR_REVIEW
  tx.put(execution)
}

/** Records the timeout as a signal, so that the handler can recognise it. */
function recordTimeoutSignal(tx: Tx, execution: Execution, step: Step, wait: Wait): void {
  const journal = journalOf(execution)
  const target = firstOwn(wait.targets) ?? TIMEOUT_MAILBOX
  const existing = tx.get('waitpoint', waitpointIdIn(scopeOf(execution.id, journal), target))
  const waitpoint = mailboxAt(tx, execution, target, existing)
  const { sequence } = recordSignal(tx, execution, waitpoint, {
    // A lease ends once, so its epoch makes the key unique.
    key: joinName(SUSPENSION_TIMEOUT, String(execution.epoch)),
    name: TIMEOUT_SIGNAL,
    source: { type: 'engine', identity: SUSPENSION_TIMEOUT },
    effect: 'resumed',
    step: step.name,
  })
  wait.satisfiers.push(sequence)
  wait.closer = sequence
}

function firstOwn(targets: readonly string[]): string | undefined {
  for (const target of targets) if (!isMailbox(target)) return target
  return undefined
}
