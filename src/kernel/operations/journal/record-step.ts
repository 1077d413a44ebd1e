/**
 * Records the result of a step, which a later run of the handler reads instead of running the step. A result is never
 * overwritten; a failure is, once the execution is retried. A step that is retried after a delay may suspend the
 * execution until then.
 */
import { stepValueKey } from '../../model/blob-keys.ts'
import type { BlobInput, Tx } from '../../tx.ts'
import { expectAbsent } from '../../lifecycle/expect-absent.ts'
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import type { Execution, ExecutionId, FailureInput, Fence, Instant } from '../../model/records.ts'
import type { Journal, Step, StepState } from '../../model/journal-schema.ts'
import { giveTimeToUndo } from '../../lifecycle/cancel-request.ts'
import { hasStepsToUndo } from '../../rules/execution-state.ts'
import { leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { COMPENSATION_BYTES, COMPENSATION_MAX, STEP_MAX, STEP_TOTAL_BYTES } from '../../limits.ts'
import { suspend } from '../../lifecycle/phases.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { failureAt } from '../../rules/failure.ts'
import { isFinalJoin } from '../../rules/join.ts'
import { isCut, journalOf, scopeOf, stepIdIn, stepKey } from '../../rules/journal-ids.ts'
import { findStep } from '../../lifecycle/find-step.ts'

export type StepOutcome =
  | { readonly kind: 'completed'; readonly value?: BlobInput | undefined }
  /** `size` is the size of the failure's texts in bytes. */
  | { readonly kind: 'failed'; readonly failure: FailureInput; readonly size: number }
  | {
      readonly kind: 'retry'
      readonly failure: FailureInput
      readonly size: number
      readonly delayMs: number
      /** Whether to suspend the execution until then. */
      readonly park: boolean
    }

export interface RecordStepInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly stepKind: 'call' | 'now'
  readonly name: string
  readonly attemptCount: number
  readonly outcome: StepOutcome
  /** The step is a compensation. It has room of its own, so that it can be recorded whatever was recorded before. */
  readonly isCompensation?: boolean | undefined
}

export type StepLimitRefusal = Refused<'step_limit_exceeded' | 'step_bytes_exceeded'>

export type RecordStepResult =
  | { readonly kind: 'recorded'; readonly at: Instant; readonly until: Instant | undefined }
  /** An earlier record of the step takes precedence. */
  | { readonly kind: 'already_recorded'; readonly state: StepState; readonly valueBlob: number | undefined }
  | { readonly kind: 'suspended' | 'already_suspended'; readonly until: Instant | undefined }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  | LeaseRefusal
  | StepLimitRefusal
  | Refused<'execution_not_found'>

export function recordStep(tx: Tx, input: RecordStepInput): RecordStepResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'suspended')) {
    return { kind: 'already_suspended', until: execution.lastLease?.until }
  }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const existing = findStep(tx, execution, input.stepKind, input.name)
  if (existing !== undefined && isFinal(existing, execution.journal)) {
    const { state } = existing
    const value = state.phase === 'completed' ? state.value : undefined
    const valueBlob = value === undefined ? undefined : tx.send(stepValueKey(existing.id), value.size)
    return { kind: 'already_recorded', state, valueBlob }
  }
  const same = sameTry(input, existing, execution.journal)
  if (same !== undefined) return { kind: 'recorded', at: same.at, until: same.until }
  const size = sizeOf(input.outcome)
  const limit = refuseStep(execution, existing, size, input.isCompensation)
  if (limit !== undefined) return limit

  const outcome = input.outcome
  const isParking = outcome.kind === 'retry' && outcome.park
  if (isParking && cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const until = outcome.kind === 'retry' ? tx.now + Math.max(0, outcome.delayMs) : undefined
  const step = putStep(tx, execution, existing, {
    kind: input.stepKind,
    name: input.name,
    attemptCount: input.attemptCount,
    size,
    state: stateOf(tx, journalOf(execution), outcome, until),
    wait: undefined,
  })
  if (outcome.kind === 'completed' && input.stepKind === 'call' && !hasStepsToUndo(execution)) {
    journalOf(execution).hasCompletedSteps = true
    giveTimeToUndo(tx, execution)
  }
  if (outcome.kind === 'completed' && outcome.value !== undefined) tx.keep(stepValueKey(step.id), outcome.value.blob)
  if (isParking) {
    const key = stepKey(step.kind, step.name)
    suspend(tx, execution, { step: key, name: step.name, reason: 'step_retry', until, remindAt: undefined })
    return { kind: 'suspended', until }
  }
  tx.put(execution)
  tx.emit('step_recorded', execution, {
    attempt: input.fence.attempt,
    step: step.name,
    effect: outcome.kind,
    until,
    category: outcome.kind === 'completed' ? undefined : outcome.failure.category,
    reason: outcome.kind === 'completed' ? undefined : outcome.failure.message,
  })
  return { kind: 'recorded', at: tx.now, until }
}

/** Returns the failure that a call with a lost reply has recorded before. */
function sameTry(
  { outcome, attemptCount }: RecordStepInput,
  existing: Step | undefined,
  journal: Journal | undefined,
): Extract<StepState, { phase: 'retrying' }> | undefined {
  if (existing?.state.phase !== 'retrying' || journal === undefined) return undefined
  const { state, position } = existing
  if (outcome.kind !== 'retry' || outcome.park || attemptCount !== existing.attemptCount) return undefined
  return state.round === journal.round && !isCut(journal, position) ? state : undefined
}

/** Whether a handler gets the recorded result of a step. */
export function isFinal(step: Step, journal: Journal | undefined): boolean {
  if (journal === undefined || isCut(journal, step.position)) return false
  const state = step.state
  switch (state.phase) {
    case 'completed':
      return true
    case 'failed':
      return state.round === journal.round
    case 'closed':
      return step.join === undefined ? state.how !== 'ended' : isFinalJoin(step, step.join, journal)
    case 'retrying':
    case 'open':
      return false
  }
}

/** Refuses a step beyond the limits of the journal. */
export function refuseStep(
  execution: Execution,
  existing: Step | undefined,
  size: number,
  isCompensation = false,
): StepLimitRefusal | undefined {
  const journal = execution.journal
  // Cut steps count until they are removed, and must not prevent a replay from recording again.
  const share = journal !== undefined && journal.cuts.length > 0 ? 2 : 1
  const stepMax = STEP_MAX + (isCompensation ? COMPENSATION_MAX : 0)
  const stepCount = (journal?.stepCount ?? 0) - (journal?.childCount ?? 0)
  if (existing === undefined && stepCount >= stepMax * share) {
    return refused('step_limit_exceeded', { executionId: execution.id, limit: stepMax })
  }
  const byteMax = STEP_TOTAL_BYTES + (isCompensation ? COMPENSATION_BYTES : 0)
  if ((journal?.stepBytes ?? 0) - (existing?.size ?? 0) + size > byteMax * share) {
    return refused('step_bytes_exceeded', { executionId: execution.id, limit: byteMax })
  }
  return undefined
}

export interface StepContent extends Pick<Step, 'kind' | 'name' | 'attemptCount' | 'size' | 'state'> {
  readonly wait?: Step['wait']
  readonly child?: Step['child']
  readonly join?: Step['join']
  /** Whether it gets a new position although it was recorded before. */
  readonly isAnew?: boolean | undefined
}

/** Absent unless compensations are registered, so that most steps do not store it. */
function registeredCount({ compensationCount }: Journal): number | undefined {
  return compensationCount === 0 ? undefined : compensationCount
}

/** Writes a step. The only way a step is first written. The caller puts the execution. */
export function putStep(tx: Tx, execution: Execution, existing: Step | undefined, content: StepContent): Step {
  const journal = journalOf(execution)
  const isNew = existing === undefined || content.isAnew === true || isCut(journal, existing.position)
  const step: Step = {
    type: 'step',
    id: stepIdIn(scopeOf(execution.id, journal), stepKey(content.kind, content.name)),
    executionId: execution.id,
    kind: content.kind,
    name: content.name,
    position: isNew ? journal.nextPosition : existing.position,
    createdAt: isNew ? tx.now : existing.createdAt,
    attemptCount: content.attemptCount,
    size: content.size,
    state: content.state,
    wait: content.wait,
    child: content.child,
    join: content.join,
    compensationsBefore: isNew ? registeredCount(journal) : existing.compensationsBefore,
  }
  if (isNew) journal.nextPosition = journal.nextPosition + 1
  if (existing === undefined) journal.stepCount = journal.stepCount + 1
  journal.stepBytes = journal.stepBytes - (existing?.size ?? 0) + content.size
  // The stored value belongs to a try that no longer counts.
  if (existing?.state.phase === 'completed') tx.forget(stepValueKey(step.id))
  if (existing === undefined) expectAbsent(tx, 'step', step.id)
  tx.put(step)
  return step
}

function sizeOf(outcome: StepOutcome): number {
  return outcome.kind === 'completed' ? (outcome.value?.size ?? 0) : outcome.size
}

function stateOf(tx: Tx, journal: Journal, outcome: StepOutcome, until: Instant | undefined): StepState {
  switch (outcome.kind) {
    case 'completed': {
      const value = outcome.value
      return {
        phase: 'completed',
        at: tx.now,
        value: value === undefined ? undefined : { size: value.size, encoding: value.encoding },
      }
    }
    case 'failed':
      return { phase: 'failed', at: tx.now, round: journal.round, failure: failureAt(outcome.failure, tx.now) }
    case 'retry':
      return {
        phase: 'retrying',
        at: tx.now,
        until: until ?? tx.now,
        round: journal.round,
        failure: failureAt(outcome.failure, tx.now),
      }
  }
}
