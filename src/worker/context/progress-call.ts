/** Stores how far an attempt has come. A refusal means that the lease is lost, and is told as that. */
import type { ProgressReport } from '../../client/define/context.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { HeldExecution } from '../lease/leased-execution.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import { repeatUntilAnswered } from '../store/retry-until-answered.ts'
import type { Repetition } from '../store/retry-until-answered.ts'

export async function sendProgress(
  services: Repetition & { readonly batcher: Batcher; readonly keeper: LeaseKeeper },
  held: HeldExecution,
  report: ProgressReport,
): Promise<void> {
  held.throwIfRefused()
  const input = { executionId: held.id, fence: held.claimed.fence, ...report }
  const send = () => services.batcher.run(held.partition, 'updateProgress', input)
  try {
    const { result } = await repeatUntilAnswered(services, held, send)
    if (result.kind === 'refused' && !held.isParking) services.keeper.lose(held, result.code)
  } catch (error) {
    held.throwIfRefused()
    throw error
  }
  held.throwIfRefused()
}
