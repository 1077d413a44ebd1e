/**
 * An execution in this worker's hands: its claim, how sure the worker is of its lease, and the signal that tells the
 * handler to stop. Times are on the local monotonic clock, counted from before the call that the store answered, so the
 * worker never believes in a lease longer than the store does.
 */
import { LeaseLostError } from '../../client/define/errors.ts'
import type {
  BlobInfo,
  Claimed,
  ErrorCode,
  ExecutionId,
  LeaseRefusal,
  MemberInput,
  RenewResult,
} from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Partition } from '../../stores/store.ts'
import type { ServedTask } from '../served-task.ts'

/** Why a lease is gone for good. */
export type LeaseLoss = LeaseRefusal['code'] | 'execution_not_found'

/** How a run of a handler can end by what it waits for, which the store knows before the worker does. */
export type EarlyExit = 'parked' | 'skipped' | 'cancelled'

const EARLY_EXIT_CODES: Readonly<Record<EarlyExit, ErrorCode>> = {
  parked: 'execution_parked',
  skipped: 'execution_skipped',
  cancelled: 'execution_cancelled',
}

/** The named result of an upstream, as the store sent it. */
export interface UpstreamResult {
  readonly name: string
  readonly upstreamId: ExecutionId
  readonly info: BlobInfo | undefined
  readonly bytes: Uint8Array | undefined
}

const NO_INPUTS: readonly UpstreamResult[] = []

export type PendingCancel = NonNullable<Extract<RenewResult, { kind: 'renewed' }>['cancel']>

/** A lease is renewed when this part of its time is over. */
const RENEW_AT_FRACTION = 1 / 3
/** A lease counts as lost when this part of its time is left: clocks drift, and an abort takes a moment to be obeyed. */
const SAFETY_FRACTION = 0.1

/** What waits for a slot has its time counted anew when this part of it is over. */
const RECOUNT_FRACTION = 0.5
/** A wait for a slot that is too short to be worth a call. */
const UNCOUNTED_WAIT_MS = 10

export interface ClaimTimes {
  /** When the call that took the lease was sent. */
  readonly sentAt: number
  /** The store's clock when it answered. */
  readonly at: number
  readonly leaseTtlMs: number
}

export class LeasedExecution {
  readonly claimed: Claimed
  readonly partition: Partition
  readonly payload: Uint8Array | undefined
  /** What the claim brought of the results that it waited for. */
  readonly inputs: readonly UpstreamResult[]
  readonly task: ServedTask
  readonly #leaseTtlMs: number
  /** When it was claimed. */
  readonly claimedAt: number
  renewAt = 0
  lostAt = 0
  /** How long one run of the attempt may take; it counts from the start of the handler, not from the claim. */
  readonly #attemptMs: number
  /** When the execution as a whole runs out of time. */
  readonly #deadlineAt: number
  /** Since when the store counts the attempt's time. */
  #countedSince: number
  isStarted = false
  /** The store is to count the attempt's time from now on; said with the next renewal. */
  beginsNow = false
  isRenewing = false
  /** A renewal failed and nobody knows how the lease stands. */
  isUncertain = false
  isTimedOut = false
  /** Its handler has returned and its last call is under way: that call's answer is the one that counts. */
  isSettling = false
  /** Its handler waits, and the call that may let go of it is under way: a refusal of any other call is due to that one. */
  isParking = false
  /** Set once the store has been told that this run is over, by the handler's own wait. */
  earlyExit: EarlyExit | undefined
  /** Where it stands among those that wait for a slot. */
  order = 0
  pendingCancel: PendingCancel | undefined
  /** Set once nothing more may be recorded of this execution: the lease is lost, or the worker is gone. */
  refusal: EngineError | undefined
  #controller: AbortController | undefined
  #abortReason: EngineError | undefined
  #onEarlyExit: (() => void) | undefined

  constructor(
    claimed: Claimed,
    partition: Partition,
    blobs: readonly Uint8Array[],
    task: ServedTask,
    times: ClaimTimes,
  ) {
    this.claimed = claimed
    this.partition = partition
    this.payload = blobs[claimed.payloadBlob ?? -1]
    this.inputs = claimed.inputs.length === 0 ? NO_INPUTS : upstreamResultsOf(claimed.inputs, blobs)
    this.task = task
    this.#leaseTtlMs = times.leaseTtlMs
    this.claimedAt = times.sentAt
    this.confirmUntil(times.sentAt + claimed.leaseExpiresAt - times.at)
    this.#attemptMs = (claimed.timeoutAt ?? Infinity) - times.at
    this.#deadlineAt = times.sentAt + (claimed.deadlineAt ?? Infinity) - times.at
    this.#countedSince = times.sentAt
  }

  get id(): ExecutionId {
    return this.claimed.executionId
  }

  /** An execution that was replaced after its end has the same id and is other work: its creation tells them apart. */
  get idempotencyKey(): string {
    const { executionId, createdAt } = this.claimed
    return `${executionId}-${createdAt.toString(36)}`
  }

  /** When the handler is out of time. */
  get endsAt(): number {
    return Math.min(this.#countedSince + this.#attemptMs, this.#deadlineAt)
  }

  /** When the store has to hear that the handler still waits for a slot, well before it takes it for one that is late. */
  get recountAt(): number {
    return this.isStarted ? Infinity : this.#countedSince + this.#attemptMs * RECOUNT_FRACTION
  }

  /** The handler begins. Says whether the store should hear of it, because it has counted the wait so far. */
  begin(now: number): boolean {
    this.isStarted = true
    if (this.#attemptMs === Infinity || now - this.#countedSince < UNCOUNTED_WAIT_MS) return false
    this.countFrom(now)
    this.beginsNow = true
    return true
  }

  /** The attempt's time counts from a moment on. */
  countFrom(moment: number): void {
    this.#countedSince = moment
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
    this.renewAt = expiresAt - this.#leaseTtlMs * (1 - RENEW_AT_FRACTION)
    this.lostAt = expiresAt - this.#leaseTtlMs * SAFETY_FRACTION
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

  /** What a run of the handler comes to; undefined once the handler departs, which its run never hears of. */
  raceEarlyExit(run: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#onEarlyExit = () => resolve(undefined)
      run.then(resolve, reject)
    })
  }

  /** The store has let go of the execution, or has ended it: what the handler still does in this run is not recorded. */
  exitEarly(earlyExit: EarlyExit): EngineError {
    const reason = new EngineError(EARLY_EXIT_CODES[earlyExit], { executionId: this.id })
    this.earlyExit = earlyExit
    this.refuse(reason)
    this.#onEarlyExit?.()
    return reason
  }

  /** Says whether this was news. */
  requestCancel(cancel: PendingCancel): boolean {
    if (this.pendingCancel !== undefined) return false
    this.pendingCancel = cancel
    this.abort(
      new EngineError('execution_cancelled', {
        executionId: this.id,
        message: `${cancel.by} asked for it: ${cancel.reason}`,
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

export function upstreamResultsOf(inputs: readonly MemberInput[], blobs: readonly Uint8Array[]): UpstreamResult[] {
  return inputs.map(({ name, upstreamId, result, blob }) => {
    return { name, upstreamId, info: result, bytes: blobs[blob ?? -1] }
  })
}
