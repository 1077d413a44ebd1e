/** Reports the outcome of an attempt to the store. Fenced and idempotent, so it is retried until the lease is lost. */
import type { InputRefusal } from '../../kernel/index.ts'
import { randomSeed } from '../../runtime/index.ts'
import type { Batcher, Reply } from '../../stores/batcher.ts'
import type { Claimer } from '../claim/claimer.ts'
import type { EarlyExit, LeaseLoss, LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'
import type { FailOutcome, HandlerOutcome } from './handler-outcome.ts'

/** The recorded result of an attempt. `left` was not reported to the store; `lost` was refused by it. */
export type Settled =
  'completed' | 'failed' | 'retry_scheduled' | 'postponed' | 'released' | 'blocked' | EarlyExit | 'left' | 'lost'

type FinalOperation =
  | 'completeExecution'
  | 'failExecution'
  | 'delayExecution'
  | 'cancelExecution'
  | 'releaseExecution'
  | 'skipExecution'
  | 'blockExecution'

type SettledKind = Exclude<Reply<FinalOperation>['result']['kind'], 'refused'>

const SETTLED: Readonly<Record<SettledKind, Settled>> = {
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
  unwound: 'cancelled',
  already_unwound: 'cancelled',
  cancel_requested: 'cancelled',
  skipped: 'skipped',
  already_skipped: 'skipped',
  // The lease expires, and another run undoes the steps.
  unwinding: 'left',
  already_unwinding: 'left',
  blocked: 'blocked',
  already_blocked: 'blocked',
  dropped: 'skipped',
  already_dropped: 'skipped',
  released: 'released',
  already_released: 'released',
}

export interface ReportServices extends RetryServices {
  readonly batcher: Batcher
  readonly claimer: Claimer
  /** The build of this worker, and how many refusals of an input end its execution. */
  readonly refusal: InputRefusal
}

/** Throws if the report failed for good; the execution is then claimable again when its lease expires. */
export async function reportOutcome(
  services: ReportServices,
  leased: LeasedExecution,
  outcome: HandlerOutcome,
): Promise<Settled> {
  if (outcome.kind === 'exited_early') return outcome.earlyExit
  if (outcome.kind === 'leave' || leased.refusal !== undefined) return 'left'
  const result =
    outcome.kind === 'reported'
      ? outcome.result
      : outcome.kind === 'complete'
        ? await complete(services, leased, outcome)
        : await report(services, leased, outcome)
  if (result.kind !== 'refused') return settledBy(leased, result.kind)
  leased.lose(lossBy(result.code))
  return 'lost'
}

function settledBy({ unwinding }: LeasedExecution, kind: SettledKind): Settled {
  const settled = SETTLED[kind]
  return settled === 'cancelled' && unwinding?.outcome === 'failed' ? 'failed' : settled
}

function lossBy(code: Extract<Reply<FinalOperation>['result'], { kind: 'refused' }>['code']): LeaseLoss {
  switch (code) {
    case 'execution_ended':
    case 'execution_not_in_flow':
    case 'invalid_input':
    case 'limit_not_needed':
      return 'execution_not_active'
    default:
      return code
  }
}

/**
 * Completes an execution. The call carries the next claim if its partition has a hint of ready work. That of a flow member does
 * not: the members that it releases are found by the claim that follows all completions in the same batch.
 */
function complete(
  services: ReportServices,
  leased: LeasedExecution,
  outcome: Extract<HandlerOutcome, { kind: 'complete' }>,
): Promise<Reply<'completeExecution'>['result']> {
  const { batcher, claimer, runtime } = services
  const { partition } = leased
  const { fence, flowId, parent } = leased.claimed
  const claim = flowId === undefined ? claimer.piggyback(partition) : undefined
  const input = { executionId: leased.id, flowId, parent, fence, result: outcome.result?.input, next: claim?.input }
  const blobs = outcome.result === undefined ? [] : [outcome.result.bytes]
  let sentAt = 0
  const call = () => {
    sentAt = runtime.monotonic()
    return batcher.run(partition, 'completeExecution', input, blobs)
  }
  const answered = retryUntilAnswered(services, leased, call)
  if (claim === undefined) return answered.then(({ result }) => result)
  return answered.then(
    ({ result, blobs: received }) => {
      const next = result.kind === 'refused' ? undefined : result.next
      if (next === undefined) claimer.notMade(claim)
      else claimer.answered(claim, { partition, result: next, blobs: received, sentAt })
      return result
    },
    (error: unknown) => {
      claimer.unanswered(claim)
      throw error
    },
  )
}

async function report(
  services: ReportServices,
  leased: LeasedExecution,
  outcome: Exclude<HandlerOutcome, { kind: 'complete' | 'exited_early' | 'leave' | 'reported' }>,
): Promise<Reply<Exclude<FinalOperation, 'completeExecution'>>['result']> {
  const { batcher, refusal } = services
  const { partition } = leased
  const fenced = { executionId: leased.id, fence: leased.claimed.fence }
  if (outcome.kind === 'fail') return await sendFailure(services, leased, outcome)
  const call = async () => {
    switch (outcome.kind) {
      case 'postpone':
        return (await batcher.run(partition, 'delayExecution', { ...fenced, delayMs: outcome.delayMs })).result
      case 'cancel':
        return (
          await batcher.run(partition, 'cancelExecution', {
            ...fenced,
            reason: outcome.reason,
            by: outcome.by,
            force: false,
            graceMs: 0,
            failure: outcome.failure,
          })
        ).result
      case 'skip':
        return (await batcher.run(partition, 'skipExecution', { ...fenced, flowId: leased.claimed.flowId })).result
      case 'release':
        return (
          await batcher.run(partition, 'releaseExecution', {
            ...fenced,
            reason: outcome.reason,
            isUnstarted: !leased.isStarted,
          })
        ).result
      case 'block':
        return (await batcher.run(partition, 'blockExecution', { ...fenced, ...outcome.refusal })).result
      case 'refuse':
        return (await batcher.run(partition, 'releaseExecution', { ...fenced, reason: outcome.reason, refusal })).result
    }
  }
  const result = await retryUntilAnswered(services, leased, call)
  if (outcome.kind === 'postpone' && (result.kind === 'delayed' || result.kind === 'already_delayed'))
    await outcome.afterwards?.().catch(() => undefined)
  return result
}

/** Reports a failure. The reply may be that it is final, and that the holder undoes its steps under its lease. */
export async function sendFailure(
  services: RetryServices & Pick<ReportServices, 'batcher'>,
  leased: LeasedExecution,
  outcome: FailOutcome,
): Promise<Reply<'failExecution'>['result']> {
  const { batcher, runtime } = services
  const { id: executionId, partition, claimed } = leased
  const { failure, retryAfterMs, isIncomplete } = outcome
  const { fence, flowId, parent } = claimed
  const input = { executionId, fence, flowId, parent, failure, retryAfterMs, isIncomplete, seed: randomSeed(runtime) }
  const call = () => batcher.run(partition, 'failExecution', input)
  return (await retryUntilAnswered(services, leased, call)).result
}
