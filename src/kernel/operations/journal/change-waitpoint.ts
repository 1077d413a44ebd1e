/** Closes a waitpoint, or reissues it, which invalidates all its tokens. */
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import type { Waitpoint } from '../../model/journal-schema.ts'
import type { Execution, ExecutionId, Fence } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { isMailbox, journalOf, openWaitpointOf, scopeOf, waitpointIdIn } from '../../rules/journal-ids.ts'
import { closeWaitpoints, viewOf } from '../../lifecycle/journal/waitpoint-records.ts'
import type { WaitpointView } from '../../lifecycle/journal/waitpoint-records.ts'
import { currentStep } from '../../lifecycle/find-step.ts'

export interface CloseWaitpointInput {
  readonly executionId: ExecutionId
  readonly target: string
  readonly reason: string
  readonly by: string
  /** The holder's own fence. Without it the call has an operator's authority. */
  readonly fence?: Fence | undefined
  /** Closes even the last waitpoint that could answer the current wait. */
  readonly force?: boolean | undefined
}

export type CloseWaitpointResult =
  | { readonly kind: 'closed' | 'already_closed' }
  | LeaseRefusal
  | Refused<'execution_not_found' | 'waitpoint_not_found' | 'waitpoint_awaited'>

export function closeWaitpoint(tx: Tx, input: CloseWaitpointInput): CloseWaitpointResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const fence = input.fence
  const refusal = fence === undefined ? undefined : refuseUnlessHeld(tx, execution, fence)
  if (refusal !== undefined) return refusal
  const waitpoint = findWaitpoint(tx, execution, input.target)
  if (waitpoint === undefined) return notFound(execution, input.target)
  const journal = journalOf(execution)
  if (openWaitpointOf(journal, input.target) === undefined) return { kind: 'already_closed' }
  if (input.force !== true && isLastOfWait(tx, execution, input.target)) {
    return refused('waitpoint_awaited', { executionId: execution.id, waitpoint: input.target })
  }

  closeWaitpoints(tx, execution, { targets: [input.target], reason: input.reason })
  tx.put(execution)
  tx.emit('waitpoint_closed', execution, { waitpoint: input.target, reason: input.reason, by: input.by })
  return { kind: 'closed' }
}

export interface ReissueWaitpointInput {
  readonly executionId: ExecutionId
  readonly target: string
  readonly keyId?: string | undefined
  readonly by: string
}

export type ReissueWaitpointResult =
  | { readonly kind: 'reissued'; readonly waitpoint: WaitpointView }
  | Refused<'execution_not_found' | 'waitpoint_not_found' | 'waitpoint_closed'>

export function reissueWaitpoint(tx: Tx, input: ReissueWaitpointInput): ReissueWaitpointResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const waitpoint = findWaitpoint(tx, execution, input.target)
  if (waitpoint === undefined) return notFound(execution, input.target)
  const journal = journalOf(execution)
  if (openWaitpointOf(journal, input.target) === undefined) {
    return refused('waitpoint_closed', { executionId: execution.id, waitpoint: input.target })
  }

  waitpoint.generation = waitpoint.generation + 1
  waitpoint.keyId = input.keyId
  tx.put(waitpoint)
  tx.emit('waitpoint_opened', execution, { waitpoint: input.target, reason: 'reissued', by: input.by })
  return { kind: 'reissued', waitpoint: viewOf(waitpoint, journal) }
}

/** Returns a waitpoint that a handler opened. Mailboxes cannot be closed or signed for. */
function findWaitpoint(tx: Tx, execution: Execution, target: string): Waitpoint | undefined {
  if (isMailbox(target)) return undefined
  return tx.get('waitpoint', waitpointIdIn(scopeOf(execution.id, execution.journal), target))
}

function notFound(execution: Execution, target: string): Refused<'waitpoint_not_found'> {
  return refused('waitpoint_not_found', { executionId: execution.id, waitpoint: target })
}

/** Whether this waitpoint is the only target that can still answer the current wait. */
function isLastOfWait(tx: Tx, execution: Execution, target: string): boolean {
  const targets = currentStep(tx, execution)?.wait?.targets ?? []
  if (!targets.includes(target)) return false
  for (const other of targets) {
    if (other === target) continue
    if (isMailbox(other) || openWaitpointOf(execution.journal, other) !== undefined) return false
  }
  return true
}
