/** The rest of calls that were answered before all of their parts were applied. */
import type { ClaimInput } from './operations/leases/claim-for-worker.ts'
import type { OperationInput, OperationName } from './operations.ts'

/**
 * Returns a claim of nothing, which handles due records like the claim of this call. Undefined if the answer needs all
 * parts.
 */
export function restOf<N extends OperationName>(name: N, input: OperationInput<N>): ClaimInput | undefined {
  if (name === 'claimForWorker') return ofNothing(input as ClaimInput)
  const next = name === 'completeExecution' ? (input as OperationInput<'completeExecution'>).next : undefined
  return next === undefined ? undefined : ofNothing(next)
}

function ofNothing(claim: ClaimInput): ClaimInput {
  return { ...claim, repeated: undefined, queues: [], count: 0 }
}
