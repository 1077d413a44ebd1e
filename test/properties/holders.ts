/**
 * What the workers know, kept apart from the store: which worker got which lease and until when. A caller that succeeds with a
 * fence must be the last to whom the execution was given, and in time.
 */
import type { ExecutionId, HolderInput } from '../../src/kernel/index.ts'
import type { Call } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { idsWithEvent } from './step-rules.ts'
import type { Step } from './step-rules.ts'
import { claimedBy } from './script.ts'

interface Holding {
  readonly epoch: number
  readonly expiresAt: number
}

/** Answers that only a live holder may get. */
const HOLDER_ANSWERS: readonly string[] = [
  'renewed',
  'completed',
  'retry_scheduled',
  'failed',
  'released',
  'delayed',
  'updated',
  'added',
  'cancelled',
  'parked',
  'skipped',
  'not_blocked',
  'recorded',
  'already_recorded',
  'suspended',
  'answered',
  'opened',
  'already_opened',
  'closed',
]

export class Holders {
  readonly #last = new Map<string, Holding>()

  /** Records one step. Returns what is wrong with it. */
  follow(step: Step): string[] {
    const { call, answer, after, now } = step
    const { result } = answer
    const problems: string[] = []
    const fenced = fencedInput(call)
    if (fenced !== undefined && HOLDER_ANSWERS.includes(result.kind)) {
      const holding = this.#last.get(fenced.executionId)
      if (holding === undefined || holding.epoch !== fenced.fence.epoch) {
        problems.push(`epoch ${fenced.fence.epoch} of ${fenced.executionId} succeeded after another was given out`)
      } else if (holding.expiresAt <= now) {
        problems.push(`epoch ${fenced.fence.epoch} of ${fenced.executionId} succeeded after its lease had expired`)
      }
    }
    if (result.kind === 'purged' || result.kind === 'accepted') this.#forgetRemoved(after)
    // A due pass may remove a member and create that of the next run of its flow.
    for (const id of idsWithEvent(step, 'execution_purged')) this.#last.delete(id)
    if (result.kind === 'renewed' && fenced !== undefined) {
      this.#last.set(fenced.executionId, { epoch: fenced.fence.epoch, expiresAt: result.expiresAt })
    }
    for (const { executionId, fence, leaseExpiresAt } of claimedBy(result)?.executions ?? []) {
      const holding = this.#last.get(executionId)
      if (holding !== undefined && holding.epoch > fence.epoch) problems.push(`${executionId} was given an older epoch`)
      this.#last.set(executionId, { epoch: fence.epoch, expiresAt: leaseExpiresAt })
    }
    return problems
  }

  /** An execution that takes the id of one that was removed is a new one. */
  #forgetRemoved(after: Step['after']): void {
    const kept = new Set(executionsOf(after).flatMap(({ id, removed }) => (removed === undefined ? [id] : [])))
    for (const id of this.#last.keys()) if (!kept.has(id as ExecutionId)) this.#last.delete(id)
  }
}

/** The execution whose fence a call carries. A holder may also extend its own flow. */
export function fencedInput({ input }: Call): HolderInput | undefined {
  if ('holder' in input) return input.holder
  if (!('fence' in input) || input.fence === undefined) return undefined
  return { executionId: 'executionId' in input ? input.executionId : input.downstreamId, fence: input.fence }
}
