/** Calls that may end a lease, which has permits of limits. */
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { fenced } from './fenced.ts'
import type { Fenced } from './fenced.ts'
import { permitLimits, returnPermits } from './lease-permits.ts'
import { permitsOf } from './lease-text.ts'

/** Makes a call that may end a lease, and returns the permits of the lease if it has. */
export async function endingLease<Result extends { readonly kind: string }>(
  session: Session,
  id: string,
  lease: string,
  call: (holder: Fenced) => Promise<Result>,
  keepsLease: (result: Result) => boolean = () => false,
): Promise<Result> {
  const holder = fenced(session, id, lease)
  const permits = permitsOf(lease)
  if (permits === 'none') return await call(holder)
  // Read before the end, after which the execution may be removed.
  const { executionId } = holder
  const { execution } = unwrap((await session.run(executionId, 'describeExecution', { executionId })).result)
  const result = await call(holder)
  if (!keepsLease(result)) await returnPermits(session, holder, permitLimits(execution, permits))
  return result
}
