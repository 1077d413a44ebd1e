/** Stores the progress of an attempt. Throws the lease loss if the store refuses the report. */
import type { ProgressReport } from '../../client/define/context.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'

export async function sendProgress(
  services: RetryServices & { readonly batcher: Batcher; readonly keeper: LeaseKeeper },
  leased: LeasedExecution,
  report: ProgressReport,
): Promise<void> {
  leased.throwIfRefused()
  const input = { executionId: leased.id, fence: leased.claimed.fence, ...report }
  const send = () => services.batcher.run(leased.partition, 'updateProgress', input)
  try {
    const { result } = await retryUntilAnswered(services, leased, send)
    if (result.kind === 'refused' && !leased.isParking) services.keeper.lose(leased, result.code)
  } catch (error) {
    leased.throwIfRefused()
    throw error
  }
  leased.throwIfRefused()
}
