/** Applies the timeout of a wait. The due pass and the delivery of a signal use it, so that both lead to the same state. */
import { endCancelled, endExecution, unwindCompensated } from './end-execution.ts'
import { hasCompensations } from '../../rules/execution-state.ts'
import { isMailbox, journalOf, mailboxOf, scopeOf, waitpointIdIn } from '../../rules/journal-ids.ts'
import type { Step, TimeoutBehaviour, Wait } from '../../model/journal-schema.ts'
import type { Execution, Failure, Instant } from '../../model/records.ts'
import { joinName } from '../../model/names.ts'
import type { Tx } from '../../tx.ts'
import { resumeFrom } from '../journal/end-wait.ts'
import type { Answer } from '../journal/end-wait.ts'
import { recordSignal } from '../journal/record-signal.ts'
import { mailboxAt } from '../journal/waitpoint-records.ts'

const SUSPENSION_TIMEOUT = 'suspension_timeout'
const BY_ENGINE = 'engine'
const OPERATOR_REVIEW = 'operator_review'
const TIMEOUT_SIGNAL = 'timeout'

/** The target of the timeout signal of a wait without a waitpoint of its own. Callers cannot use this name. */
const TIMEOUT_MAILBOX = mailboxOf('__timeout')

const TIMED_OUT: Answer = { how: 'timed_out', cause: 'timeout', by: undefined, reason: undefined }

/** Whether the wait or the retry that a suspended execution is in has timed out, even if no due pass has noticed it. */
export function hasTimedOut({ state }: Execution, now: Instant): boolean {
  return state.phase === 'suspended' && state.until !== undefined && state.until <= now
}

/** Whether the timeout of a wait ends its execution. */
export function endsExecution(onTimeout: TimeoutBehaviour): boolean {
  return onTimeout === 'fail' || onTimeout === 'cancel' || onTimeout === 'expire'
}

/** Ends a wait that has timed out, or escalates it, as requested. */
export function timeOutWait(tx: Tx, execution: Execution, step: Step, wait: Wait): void {
  const message = `the wait for "${step.name}" was not answered in time`
  const failure = { category: SUSPENSION_TIMEOUT, message, stack: undefined, at: tx.now }
  const isOver = endsExecution(wait.onTimeout)
  // It ends anyway, and its handler has compensations to run before.
  if (isOver && execution.unwinding !== undefined && hasCompensations(execution)) {
    resumeFrom(tx, execution, step, TIMED_OUT)
    return
  }
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
    case 'cancel': {
      const cancel = { reason: SUSPENSION_TIMEOUT, by: BY_ENGINE }
      if (unwindCompensated(tx, execution, { outcome: 'cancelled', ...cancel }, 'cancelled')) return
      endCancelled(tx, execution, cancel)
      return
    }
    case 'fail':
      execution.failureCount = execution.failureCount + 1
      endByTimeout(tx, execution, 'failed', failure)
      return
    case 'expire':
      endByTimeout(tx, execution, 'expired', failure)
      return
  }
}

/** Ends an execution, after its compensations have run. */
function endByTimeout(tx: Tx, execution: Execution, outcome: 'failed' | 'expired', failure: Failure): void {
  const stop = { outcome, reason: SUSPENSION_TIMEOUT, by: undefined, failure }
  if (unwindCompensated(tx, execution, stop, outcome)) return
  endExecution(tx, execution, { ...stop, how: outcome, attemptOutcome: outcome })
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
