/** Tells the store how an attempt ended. Fenced and repeatable, so it is said until it is answered or the lease is lost. */
import { randomSeed } from '../../runtime/index.ts'
import type { Batcher, Reply } from '../../stores/batcher.ts'
import type { Claimer } from '../claim/claimer.ts'
import type { Departure, HeldExecution } from '../lease/leased-execution.ts'
import { repeatUntilAnswered } from '../store/retry-until-answered.ts'
import type { Repetition } from '../store/retry-until-answered.ts'
import type { Verdict } from './handler-outcome.ts'

/** What became of an attempt. `left` was not told to the store; `lost` was refused by it. */
export type Settled =
  'completed' | 'failed' | 'retry_scheduled' | 'postponed' | 'released' | Departure | 'left' | 'lost'

type FinalOperation = 'completeExecution' | 'failExecution' | 'delayExecution' | 'cancelExecution' | 'releaseExecution'

const SETTLED: Readonly<Record<Exclude<Reply<FinalOperation>['result']['kind'], 'refused'>, Settled>> = {
  completed: 'completed',
  already_completed: 'completed',
  failed: 'failed',
  already_failed: 'failed',
  retry_scheduled: 'retry_scheduled',
  already_scheduled: 'retry_scheduled',
  delayed: 'postponed',
  already_delayed: 'postponed',
  cancelled: 'cancelled',
  already_cancelled: 'cancelled',
  cancel_requested: 'cancelled',
  released: 'released',
  already_released: 'released',
}

export interface SettlementServices extends Repetition {
  readonly batcher: Batcher
  readonly claimer: Claimer
}

/** Throws if the store could not be told; the execution then comes back when its lease expires. */
export async function settle(services: SettlementServices, held: HeldExecution, verdict: Verdict): Promise<Settled> {
  if (verdict.kind === 'departed') return verdict.departure
  if (verdict.kind === 'leave' || held.refusal !== undefined) return 'left'
  const result =
    verdict.kind === 'complete' ? await complete(services, held, verdict) : await say(services, held, verdict)
  if (result.kind !== 'refused') return SETTLED[result.kind]
  held.lose(result.code === 'execution_ended' ? 'execution_not_active' : result.code)
  return 'lost'
}

/**
 * The completion brings the next claim with it where work is known to wait. A member's does not: what it releases, and what
 * others of the same turn release, is found by the claim that follows them in the same batch.
 */
async function complete(
  services: SettlementServices,
  held: HeldExecution,
  verdict: Extract<Verdict, { kind: 'complete' }>,
): Promise<Reply<'completeExecution'>['result']> {
  const { batcher, claimer, runtime } = services
  const { partition } = held
  const { fence, flowId } = held.claimed
  const request = flowId === undefined ? claimer.takeFor(partition) : undefined
  const input = { executionId: held.id, flowId, fence, result: verdict.result?.input, next: request?.input }
  const blobs = verdict.result === undefined ? [] : [verdict.result.bytes]
  let sentAt = 0
  const call = () => {
    sentAt = runtime.monotonic()
    const reply = batcher.run(partition, 'completeExecution', input, blobs)
    batcher.announceEnd(partition, held.id)
    return reply
  }
  try {
    const reply = await repeatUntilAnswered(services, held, call)
    if (request === undefined) return reply.result
    const next = reply.result.kind === 'refused' ? undefined : reply.result.next
    if (next === undefined) claimer.notMade(request)
    else claimer.answered(request, { partition, result: next, blobs: reply.blobs, sentAt })
    return reply.result
  } catch (error) {
    if (request !== undefined) claimer.unanswered(request)
    throw error
  }
}

async function say(
  services: SettlementServices,
  held: HeldExecution,
  verdict: Exclude<Verdict, { kind: 'complete' | 'departed' | 'leave' }>,
): Promise<Reply<Exclude<FinalOperation, 'completeExecution'>>['result']> {
  const { batcher, runtime } = services
  const { partition } = held
  const fenced = { executionId: held.id, fence: held.claimed.fence }
  const seed = randomSeed(runtime)
  const call = async () => {
    switch (verdict.kind) {
      case 'fail':
        return (
          await batcher.run(partition, 'failExecution', {
            ...fenced,
            flowId: held.claimed.flowId,
            failure: verdict.failure,
            retryAfterMs: verdict.retryAfterMs,
            seed,
          })
        ).result
      case 'postpone':
        return (await batcher.run(partition, 'delayExecution', { ...fenced, delayMs: verdict.delayMs })).result
      case 'cancel':
        return (
          await batcher.run(partition, 'cancelExecution', {
            ...fenced,
            reason: verdict.reason,
            by: verdict.by,
            force: false,
            graceMs: 0,
          })
        ).result
      case 'release':
        return (
          await batcher.run(partition, 'releaseExecution', {
            ...fenced,
            reason: verdict.reason,
            isUnstarted: !held.isStarted,
          })
        ).result
    }
  }
  return await repeatUntilAnswered(services, held, call)
}
