/**
 * An execution in this worker's hands: its claim, how sure the worker is of its lease, and the signal that tells the
 * handler to stop. Times are on the local monotonic clock, counted from before the call that the store answered, so the
 * worker never believes in a lease longer than the store does.
 */
import { LeaseLostError } from '../client/errors.ts'
import type { Claimed, ExecutionId, LeaseRefusal, RenewResult } from '../kernel/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import type { Partition } from '../stores/store.ts'
import type { ServedTask } from './served-task.ts'

/** Why a lease is gone for good. */
export type LeaseLoss = LeaseRefusal['code'] | 'execution_not_found'

export type CancelWish = NonNullable<Extract<RenewResult, { kind: 'renewed' }>['cancel']>

/** A lease is renewed when this part of its time is over. */
const RENEW_AT_PART = 1 / 3
/** A lease counts as lost when this part of its time is left: clocks drift, and an abort takes a moment to be obeyed. */
const SAFETY_PART = 0.1

export interface ClaimTimes {
  /** When the call that took the lease was sent. */
  readonly sentAt: number
  /** The store's clock when it answered. */
  readonly at: number
  readonly leaseTtlMs: number
}

export class HeldExecution {
  readonly claimed: Claimed
  readonly partition: Partition
  readonly payload: Uint8Array | undefined
  readonly task: ServedTask
  readonly #leaseTtlMs: number
  /** When it was claimed. */
  readonly takenAt: number
  renewAt = 0
  lostAt = 0
  /** When the attempt runs out of time. */
  readonly endsAt: number
  isRenewing = false
  /** A renewal failed and nobody knows how the lease stands. */
  isUncertain = false
  isTimedOut = false
  /** Its handler has returned and its last call is under way: that call's answer is the one that counts. */
  isSettling = false
  /** Where it stands among those that wait for a slot. */
  order = 0
  cancelWish: CancelWish | undefined
  /** Set once nothing more may be recorded of this execution: the lease is lost, or the worker is gone. */
  refusal: EngineError | undefined
  #controller: AbortController | undefined
  #abortReason: EngineError | undefined

  constructor(
    claimed: Claimed,
    partition: Partition,
    payload: Uint8Array | undefined,
    task: ServedTask,
    times: ClaimTimes,
  ) {
    this.claimed = claimed
    this.partition = partition
    this.payload = payload
    this.task = task
    this.#leaseTtlMs = times.leaseTtlMs
    this.takenAt = times.sentAt
    this.confirmUntil(times.sentAt + claimed.leaseExpiresAt - times.at)
    const end = Math.min(claimed.timeoutAt ?? Infinity, claimed.deadlineAt ?? Infinity)
    this.endsAt = times.sentAt + end - times.at
  }

  get id(): ExecutionId {
    return this.claimed.executionId
  }

  get lease(): 'held' | 'uncertain' | 'lost' {
    if (this.refusal !== undefined) return 'lost'
    return this.isUncertain ? 'uncertain' : 'held'
  }

  /** Made when somebody asks for it: most handlers never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  get abortReason(): EngineError | undefined {
    return this.#abortReason
  }

  /** The store has said how long the lease lives. */
  confirmUntil(expiresAt: number): void {
    this.renewAt = expiresAt - this.#leaseTtlMs * (1 - RENEW_AT_PART)
    this.lostAt = expiresAt - this.#leaseTtlMs * SAFETY_PART
    this.isUncertain = false
  }

  /** The lease is gone: the handler is told to stop, and nothing that it does from now on is recorded. */
  lose(code: LeaseLoss): void {
    this.refuse(new LeaseLostError(code, { executionId: this.id }))
  }

  refuse(error: EngineError): void {
    this.refusal ??= error
    this.abort(error)
  }

  throwIfRefused(): void {
    if (this.refusal !== undefined) throw this.refusal
  }

  /** Says whether this was news. */
  wishCancel(wish: CancelWish): boolean {
    if (this.cancelWish !== undefined) return false
    this.cancelWish = wish
    this.abort(
      new EngineError('execution_cancelled', {
        executionId: this.id,
        message: `${wish.by} asked for it: ${wish.reason}`,
      }),
    )
    return true
  }

  timeOut(): void {
    this.isTimedOut = true
    this.abort(
      new EngineError('execution_expired', {
        executionId: this.id,
        message: 'The attempt ran longer than its timeout.',
      }),
    )
  }

  /** The first reason stays: a signal aborts once. */
  abort(reason: EngineError): void {
    if (this.#abortReason !== undefined) return
    this.#abortReason = reason
    this.#controller?.abort(reason)
  }
}
