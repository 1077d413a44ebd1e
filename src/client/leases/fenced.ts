/** The execution and the fence that a worker names, which does not connect to the store. */
import type { Execution, ExecutionId, Fence } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { parseLease } from './lease-text.ts'

export interface Fenced {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

export function fenced(session: Session, id: string, lease: string): Fenced {
  return { executionId: session.resolve(id), fence: parseLease(lease) }
}

/** Returns the execution of a lease. Refuses a lease that is not valid, for calls that no operation of the execution checks. */
export async function heldExecution(session: Session, id: string, lease: string): Promise<Execution> {
  const { executionId, fence } = fenced(session, id, lease)
  const { execution, at } = unwrap((await session.run(executionId, 'describeExecution', { executionId })).result)
  const { state, epoch } = execution
  if (state.phase !== 'active') throw new EngineError('execution_not_active', { executionId })
  if (state.lease.expiresAt <= at) throw new EngineError('lease_expired', { executionId })
  if (state.lease.id !== fence.leaseId || epoch !== fence.epoch) throw new EngineError('stale_lease', { executionId })
  return execution
}
