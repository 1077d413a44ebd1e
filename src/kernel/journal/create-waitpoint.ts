/**
 * A holder opens a waitpoint ahead of its wait, so that links to it can be handed out and what comes early is kept. It is
 * recorded as a step: said again, also by a later attempt, it is the same waitpoint.
 */
import { refuseUnlessHeld } from '../leases.ts'
import type { LeaseRefusal } from '../leases.ts'
import { OPEN_WAITPOINT_MAX } from '../limits.ts'
import type { Execution, ExecutionId, Fence } from '../records.ts'
import { refused } from '../results.ts'
import type { Refused } from '../results.ts'
import type { Tx } from '../tx.ts'
import { isCut, journalOf, openWaitpointOf, scopeOf, stepIdIn, waitpointIdIn } from './journal.ts'
import { findStep, isFinal, putStep, refuseStep } from './record-step.ts'
import type { StepLimitRefusal } from './record-step.ts'
import { openWaitpoint, viewOf } from './waitpoints.ts'
import type { WaitpointView } from './waitpoints.ts'

export interface CreateWaitpointInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly target: string
  /** How long it stays open if no wait comes for it. */
  readonly expiresInMs?: number | undefined
  readonly keyId?: string | undefined
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
  const known = isRecorded ? knownWaitpoint(tx, execution, input.target) : undefined
  if (known !== undefined) return { kind: 'already_opened', waitpoint: known }
  if ((execution.journal?.open.length ?? 0) >= OPEN_WAITPOINT_MAX) {
    return refused('waitpoint_limit_exceeded', { executionId: execution.id, limit: OPEN_WAITPOINT_MAX })
  }
  const limit = refuseStep(execution, existing, 0)
  if (limit !== undefined) return limit

  const journal = journalOf(execution)
  const expiresAt = input.expiresInMs === undefined ? undefined : tx.now + input.expiresInMs
  const waitpoint = openWaitpoint(tx, execution, journal, input.target, expiresAt, input.keyId)
  putStep(tx, execution, existing, {
    kind: 'waitpoint',
    name: input.target,
    attemptCount: 1,
    size: 0,
    state: { phase: 'completed', at: tx.now, value: undefined },
    wait: undefined,
  })
  tx.put(execution)
  return { kind: 'opened', waitpoint: viewOf(waitpoint, journal) }
}

/**
 * A waitpoint that is open, or that was closed for good. It is opened again if only its execution's end has closed it, or anew
 * if the wait that was answered there is to be waited for anew.
 */
function knownWaitpoint(tx: Tx, execution: Execution, target: string): WaitpointView | undefined {
  const journal = journalOf(execution)
  const waitpoint = tx.get('waitpoint', waitpointIdIn(scopeOf(execution.id, journal), target))
  if (waitpoint === undefined) return tx.fault('a recorded waitpoint does not exist', execution.id)
  if (openWaitpointOf(journal, target) !== undefined) return viewOf(waitpoint, journal)
  if (waitpoint.closedAt === undefined) return undefined
  const answeredBy = waitpoint.answeredBy
  if (answeredBy === undefined) return viewOf(waitpoint, journal)
  const wait = tx.get('step', stepIdIn(scopeOf(execution.id, journal), answeredBy))
  return wait !== undefined && isFinal(wait, journal) ? viewOf(waitpoint, journal) : undefined
}
