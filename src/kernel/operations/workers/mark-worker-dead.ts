/** Declares that the process of a worker has ended. Its leases are then revoked without waiting for their expiry. Idempotent. */
import { declareDead } from '../../lifecycle/worker-phases.ts'
import type { Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface MarkWorkerDeadInput {
  readonly workerInstanceId: string
  readonly reason: string
  readonly by?: string | undefined
}

export type MarkWorkerDeadResult =
  /** `at` identifies this loss in `recordWorkerSweep`. */
  | { readonly kind: 'marked' | 'already_dead'; readonly at: Instant; readonly isSwept: boolean }
  | Refused<'worker_not_found'>

export function markWorkerDead(tx: Tx, input: MarkWorkerDeadInput): MarkWorkerDeadResult {
  const { workerInstanceId } = input
  const worker = tx.get('worker', workerInstanceId)
  if (worker === undefined) return refused('worker_not_found', { workerInstanceId })
  if (worker.state.phase === 'dead') {
    return { kind: 'already_dead', at: worker.state.at, isSwept: worker.sweptAt !== undefined }
  }

  declareDead(tx, worker, input)
  return { kind: 'marked', at: tx.now, isSwept: false }
}
