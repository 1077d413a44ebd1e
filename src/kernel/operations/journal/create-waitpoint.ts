/**
 * Opens a waitpoint ahead of its wait, so that its links can be sent out and early signals are buffered. It is recorded
 * as a step: a repeated call, also from a later attempt, returns the same waitpoint.
 */
import type { Waitpoint } from '../../model/journal-schema.ts'
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { OPEN_WAITPOINT_MAX } from '../../limits.ts'
import type { Execution, ExecutionId, Fence } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { isCut, journalOf, openWaitpointOf, scopeOf, stepIdIn, waitpointIdIn } from '../../rules/journal-ids.ts'
import { isFinal, putStep, refuseStep } from './record-step.ts'
import type { StepLimitRefusal } from './record-step.ts'
import { findStep } from '../../lifecycle/find-step.ts'
import { openWaitpoint, reopenWaitpoint, viewOf } from '../../lifecycle/journal/waitpoint-records.ts'
import type { WaitpointView } from '../../lifecycle/journal/waitpoint-records.ts'

export interface CreateWaitpointInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly target: string
  /** How long it stays open if no wait begins. */
  readonly expiresInMs?: number | undefined
  readonly keyId?: string | undefined
  /** A random text, part of the tokens of the waitpoint. Used only if the call opens it. */
  readonly nonce?: string | undefined
}

export type CreateWaitpointResult =
  | { readonly kind: 'opened' | 'already_opened'; readonly waitpoint: WaitpointView }
  | LeaseRefusal
  | StepLimitRefusal
  | Refused<'execution_not_found' | 'waitpoint_limit_exceeded'>

export function createWaitpoint(tx: Tx, input: CreateWaitpointInput): CreateWaitpointResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const existing = findStep(tx, execution, 'waitpoint', input.target)
  const isRecorded =
    existing !== undefined && execution.journal !== undefined && !isCut(execution.journal, existing.position)
  const waitpoint = isRecorded ? recordedWaitpoint(tx, execution, input.target) : undefined
  if (waitpoint !== undefined && isKnown(tx, execution, waitpoint)) {
    return { kind: 'already_opened', waitpoint: viewOf(waitpoint, journalOf(execution)) }
  }
  if ((execution.journal?.open.length ?? 0) >= OPEN_WAITPOINT_MAX) {
    return refused('waitpoint_limit_exceeded', { executionId: execution.id, limit: OPEN_WAITPOINT_MAX })
  }
  const limit = refuseStep(execution, existing, 0)
  if (limit !== undefined) return limit

  const journal = journalOf(execution)
  const opened = open(tx, execution, input, waitpoint)
  putStep(tx, execution, existing, {
    kind: 'waitpoint',
    name: input.target,
    attemptCount: 1,
    size: 0,
    state: { phase: 'completed', at: tx.now, value: undefined },
    wait: undefined,
  })
  tx.put(execution)
  return { kind: 'opened', waitpoint: viewOf(opened, journal) }
}

/** Reopens a waitpoint that was closed by the end of its execution alone; opens a new one in any other case. */
function open(tx: Tx, execution: Execution, input: CreateWaitpointInput, recorded: Waitpoint | undefined): Waitpoint {
  const { target, keyId, nonce } = input
  const expiresAt = input.expiresInMs === undefined ? undefined : tx.now + input.expiresInMs
  if (recorded === undefined || recorded.closedAt !== undefined) {
    return openWaitpoint(tx, execution, { target, expiresAt, keyId, nonce })
  }
  reopenWaitpoint(tx, execution, target, expiresAt)
  return recorded
}

function recordedWaitpoint(tx: Tx, execution: Execution, target: string): Waitpoint {
  const waitpoint = tx.get('waitpoint', waitpointIdIn(scopeOf(execution.id, execution.journal), target))
  return waitpoint ?? tx.fault('a recorded waitpoint does not exist', execution.id)
}

/** Whether a waitpoint is open or was closed for good. False if the wait that was answered there runs again. */
function isKnown(tx: Tx, execution: Execution, waitpoint: Waitpoint): boolean {
  const journal = journalOf(execution)
  if (openWaitpointOf(journal, waitpoint.target) !== undefined) return true
  if (waitpoint.closedAt === undefined) return false
  const answeredBy = waitpoint.answeredBy
  if (answeredBy === undefined) return true
  const wait = tx.get('step', stepIdIn(scopeOf(execution.id, journal), answeredBy))
  return wait !== undefined && isFinal(wait, journal)
}
