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

/** What a time limit does to an execution: it ends, it is stopped and undoes its steps first, its wait ends, or it is escalated. */
export type LimitEffect = 'ends' | 'stops' | 'resumes' | 'escalates'

/** Returns what the timeout of a wait does to its execution. */
export function timeoutEffect(execution: Execution, onTimeout: TimeoutBehaviour): LimitEffect {
  if (onTimeout === 'escalate') return 'escalates'
  if (onTimeout === 'resume' || onTimeout === 'resume_with_signal') return 'resumes'
  if (!hasCompensations(execution)) return 'ends'
  // An execution that undoes its steps ends anyway, after its compensations have run.
  return execution.unwinding === undefined ? 'stops' : 'resumes'
}

/** Ends a wait that has timed out, or escalates it, as requested. */
export function timeOutWait(tx: Tx, execution: Execution, step: Step, wait: Wait): void {
  const { onTimeout } = wait
  switch (timeoutEffect(execution, onTimeout)) {
    case 'resumes':
      if (onTimeout === 'resume_with_signal') recordTimeoutSignal(tx, execution, step, wait)
      resumeFrom(tx, execution, step, TIMED_OUT)
      return
    case 'escalates':
      escalate(tx, execution, step, wait)
      return
    case 'stops':
    case 'ends':
      stopByTimeout(tx, execution, step, onTimeout)
      return
  }
}

/** Ends an execution, after its compensations have run. */
function stopByTimeout(tx: Tx, execution: Execution, step: Step, onTimeout: TimeoutBehaviour): void {
  if (onTimeout === 'cancel') {
    const cancel = { reason: SUSPENSION_TIMEOUT, by: BY_ENGINE }
    if (unwindCompensated(tx, execution, { outcome: 'cancelled', ...cancel }, 'cancelled')) return
    endCancelled(tx, execution, cancel)
    return
  }
  const message = `the wait for "${step.name}" was not answered in time`
  const failure: Failure = { category: SUSPENSION_TIMEOUT, message, stack: undefined, at: tx.now }
  const outcome = onTimeout === 'fail' ? 'failed' : 'expired'
  if (outcome === 'failed') execution.failureCount = execution.failureCount + 1
  const stop = { outcome, reason: SUSPENSION_TIMEOUT, by: undefined, failure } as const
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
