/**
 * Permits of limits for executions that are claimed without a connection to the store. A permit belongs to one lease: it is taken after
 * the claim, renewed with the lease and returned with its end, so any server of the store can do each. What is lost lapses.
 */
import { CANCEL_GRACE_DEFAULT_MS, laneLimitName, laneLimitOf, sharedLimitsOf } from '../../kernel/index.ts'
import type {
  Claimed,
  Execution,
  ExecutionId,
  Fence,
  Instant,
  LimitKey,
  LimitRef,
  TakeAnswer,
} from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { limitPartition } from '../../stores/partitions.ts'
import type { Partition } from '../../stores/store.ts'
import { compareRefs } from '../define/limit.ts'
import { declaredLimitsOf } from '../limits/declared-limits.ts'
import { deliverWakes } from '../../stores/deliver-wakes.ts'
import type { Session } from '../session.ts'
import { partitionOf } from '../transport/ids.ts'
import { unwrap } from '../transport/unwrap.ts'
import type { Fenced } from './fenced.ts'
import type { LeasePermits } from './lease-text.ts'

/** How much longer permits are valid than leases. */
const OUTLIVES_LEASE = 1.1

/** A permit, and when it was taken if nothing was started with it. */
interface TakenPermit extends LimitRef {
  readonly unusedSince?: Instant
}

/** Takes the permits of an execution, or gives it back behind the limit that has none. Returns whether it may start. */
export async function admit(session: Session, claimed: Claimed, leaseTtlMs: number): Promise<boolean> {
  const { executionId, fence, limits } = claimed
  const taken: TakenPermit[] = []
  for (const needed of [...limits].sort(compareRefs)) {
    const answer = await take(session, { executionId, fence }, needed, leaseTtlMs, fence.leaseId)
    if (answer.granted > 0) {
      taken.push({ ...needed, unusedSince: answer.takenAt })
      continue
    }
    await giveBack(session, { executionId, fence }, taken)
    await block(session, { executionId, fence }, answer)
    return false
  }
  return true
}

/** The permits of a lease, as its text notes them. */
export function permitsOfClaim({ limits, lane, namespace }: Claimed): LeasePermits {
  if (limits.length === 0) return 'none'
  return limits.some(({ limit }) => limit === laneLimitName(lane, namespace)) ? 'own_and_lane' : 'own'
}

/** The limits whose permits a lease has. */
export function permitLimits(execution: Execution, permits: LeasePermits): readonly LimitRef[] {
  const own = sharedLimitsOf(execution)
  return permits === 'own_and_lane' ? [...own, laneLimitOf(execution)] : own
}

/** Renews permits. One that has lapsed is taken again; if there is none, the execution is given back, and the lease is lost. */
export async function renewPermits(
  session: Session,
  holder: Fenced,
  limits: readonly LimitRef[],
  leaseTtlMs: number,
): Promise<void> {
  const workerInstanceId = holderName(holder)
  const ttlMs = Math.ceil(leaseTtlMs * OUTLIVES_LEASE)
  for (const [partition, refs] of byPartition(session, limits)) {
    const keys = refs.map(({ limit, key }) => ({ limit, key }))
    const { result } = await session.runIn(partition, 'renewPermits', { workerInstanceId, ttlMs, keys })
    for (const [i, left] of result.left.entries()) {
      const ref = refs[i]
      if (left > 0 || ref === undefined) continue
      const again = { ...ref, weight: 0 }
      const answer = await take(session, holder, again, leaseTtlMs, session.runtime.uuid())
      if (answer.granted > 0) continue
      const reason = `its permit of limit ${ref.limit} has lapsed`
      await session.run(holder.executionId, 'releaseExecution', { ...holder, reason })
      throw new EngineError('stale_lease', { executionId: holder.executionId })
    }
  }
}

/** Returns the permits of a lease that has ended, and wakes the work that waits for them. */
export async function returnPermits(session: Session, holder: Fenced, limits: readonly LimitRef[]): Promise<void> {
  await giveBack(session, holder, limits)
}

/** Asks to be woken for work that is blocked behind gates of a partition, and opens gates whose limit has room at a known time. */
export async function awaitRoom(session: Session, partition: Partition, gates: readonly LimitKey[]): Promise<void> {
  await Promise.all(
    gates.map(async ({ limit, key }) => {
      const waitingIn = Number(partition.slice(partition.indexOf(':') + 1))
      const requests = [{ limit, key, weight: 1, needed: 0, spare: 0, waitingIn }]
      const requestId = session.runtime.uuid()
      const input = { requestId, workerInstanceId: 'http', ttlMs: 1, requests }
      const { result } = await session.runIn(limitPartition(limit, session.settings), 'takePermits', input)
      await openNext(session, partition, result.answers[0])
    }),
  )
}

async function openNext(session: Session, partition: Partition, answer: TakeAnswer | undefined): Promise<void> {
  if (answer?.next === undefined) return
  const { limit, key, next } = answer
  await session.runIn(partition, 'openGates', { gates: [{ limit, key, permits: next.permits, afterMs: next.afterMs }] })
}

/** Asks for one permit. The same request, sent again, gets the same permit. */
async function take(
  session: Session,
  holder: Fenced,
  { limit, key, weight, instead }: LimitRef,
  leaseTtlMs: number,
  request: string,
): Promise<TakeAnswer> {
  const of = instead === 'cancel' ? holder.executionId : undefined
  const input = {
    requestId: `${request}.${limit}.${key}`,
    workerInstanceId: holderName(holder),
    ttlMs: Math.ceil(leaseTtlMs * OUTLIVES_LEASE),
    requests: [{ limit, key, weight, needed: 1, spare: 0, of }],
  }
  const { result } = await session.runIn(limitPartition(limit, session.settings), 'takePermits', input)
  const [answer] = result.answers
  if (answer === undefined) throw new EngineError('corruption', { message: `Limit '${limit}' has not answered.` })
  if (answer.givesWay !== undefined) await cancelOther(session, answer.givesWay, limit)
  return answer
}

async function block(session: Session, { executionId, fence }: Fenced, answer: TakeAnswer): Promise<void> {
  const { limit, key, refusal } = answer
  if (refusal?.cause === 'unknown') declaredLimitsOf(session.batcher, session.runtime).redeclare(limit)
  const closing = { limit, key, cause: refusal?.cause ?? ('concurrency' as const), retryAfterMs: refusal?.retryAfterMs }
  const { result } = await session.run(executionId, 'blockExecution', { executionId, fence, ...closing })
  if (unwrap(result).kind === 'blocked') await awaitRoom(session, partitionOf(executionId), [{ limit, key }])
}

async function giveBack(session: Session, holder: Fenced, limits: readonly TakenPermit[]): Promise<void> {
  for (const [partition, refs] of byPartition(session, limits)) {
    const returns = refs.map(({ limit, key, weight, instead, unusedSince }) => ({
      limit,
      key,
      count: 1,
      of: instead === 'cancel' ? [holder.executionId] : undefined,
      unused: unusedSince === undefined ? undefined : { count: 1, weight, takenAt: unusedSince },
    }))
    const requestId = `${holder.fence.leaseId}.end`
    const input = { requestId, workerInstanceId: holderName(holder), returns }
    const { result } = await session.runIn(partition, 'returnPermits', input)
    for (const { limit, key, wakes } of result.answers) {
      await deliverWakes(
        session.batcher,
        limit,
        wakes.map((wake) => ({ ...wake, key })),
      )
    }
  }
}

/** Requests the cancel of an execution that gives way. */
async function cancelOther(session: Session, executionId: ExecutionId, limit: string): Promise<void> {
  const reason = `a later execution needs the permit of limit ${limit}`
  const input = { executionId, reason, by: 'limit', force: false, graceMs: CANCEL_GRACE_DEFAULT_MS }
  await session.run(executionId, 'cancelExecution', input)
}

/** Each lease is a holder of its own, so that its permits can be returned without knowing those of others. */
function holderName({ executionId, fence }: { readonly executionId: ExecutionId; readonly fence: Fence }): string {
  return `${executionId}@${fence.epoch}`
}

function byPartition<Ref extends LimitRef>(session: Session, limits: readonly Ref[]): Map<Partition, Ref[]> {
  return Map.groupBy(limits, ({ limit }) => limitPartition(limit, session.settings))
}
