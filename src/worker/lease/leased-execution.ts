/**
 * An execution that this worker has leased: its claim, the state of its lease, and the abort signal of its handler. Times are
 * on the local monotonic clock and count from before the call was sent, so a lease never lasts longer here than in the store.
 */
import { idempotencyKeyOf } from '../../client/leases/idempotency-key.ts'
import { ExecutionCancelledError, LeaseLostError } from '../../client/define/errors.ts'
import type {
  BlobInfo,
  Claimed,
  ErrorCode,
  ExecutionId,
  LeaseRefusal,
  MemberInput,
  RenewResult,
  Unwinding,
  UpstreamEnd,
} from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Partition } from '../../stores/store.ts'
import type { ServedTask } from '../served-task.ts'
import type { LogLineLevel } from '../../client/streams/log-line.ts'
import type { LogFields } from '../../runtime/index.ts'

/** Why a lease was lost for good. */
export type LeaseLoss = LeaseRefusal['code'] | 'execution_not_found'

/** How a run can end before its handler returns: the store has ended it as the result of a durable call. */
export type EarlyExit = 'parked' | 'skipped' | 'cancelled'

const EARLY_EXIT_CODES: Readonly<Record<EarlyExit, ErrorCode>> = {
  parked: 'execution_parked',
  skipped: 'execution_skipped',
  cancelled: 'execution_cancelled',
}

/** The reasons of aborts after which another run continues the execution. Absent from it: a cancel, and a lost lease. */
const INTERRUPTIONS: ReadonlySet<ErrorCode | undefined> = new Set<ErrorCode>(['worker_stopping', 'execution_expired'])

/** A named result of an upstream, as received from the store. */
export interface UpstreamResult {
  readonly name: string
  readonly upstreamId: ExecutionId
  readonly info: BlobInfo | undefined
  readonly bytes: Uint8Array | undefined
  /** Set if the handler receives the outcome of the upstream instead of its result alone. */
  readonly end: UpstreamEnd | undefined
}

const NO_INPUTS: readonly UpstreamResult[] = []

export type PendingCancel = NonNullable<Extract<RenewResult, { kind: 'renewed' }>['cancel']>

/** A lease is renewed after this fraction of its TTL. */
const RENEW_AT_FRACTION = 1 / 3
/** A lease counts as lost when this fraction of its TTL remains: clocks drift, and handlers need time to react to an abort. */
const SAFETY_FRACTION = 0.1

/** While an execution waits for a slot, its attempt timeout is restarted after this fraction of it. */
const RECOUNT_FRACTION = 0.5
/** A shorter wait for a slot is not reported to the store. */
const UNCOUNTED_WAIT_MS = 10

export interface ClaimTimes {
  /** When the call that took the lease was sent. */
  readonly sentAt: number
  /** The store's clock at the time of the reply. */
  readonly at: number
  readonly leaseTtlMs: number
}

/** Log lines that wait for a batch. `finish` resolves once they are stored or given up. */
export interface PendingLines {
  add(level: LogLineLevel, fields: LogFields, message: string, step: string | undefined): void
  send(): void
  finish(): Promise<void> | undefined
}

export class LeasedExecution {
  readonly claimed: Claimed
  readonly partition: Partition
  readonly payload: Uint8Array | undefined
  /** The upstream results that came with the claim; there may be more in the store. */
  readonly inputs: readonly UpstreamResult[]
  /** The input of the definition of its flow, if that has a condition for it. */
  readonly conditionInput: Uint8Array | undefined
  readonly task: ServedTask
  readonly leaseTtlMs: number
  readonly claimedAt: number
  renewAt = 0
  lostAt = 0
  /** The attempt timeout. It counts from the start of the handler, not from the claim. */
  #attemptMs: number
  /** The deadline of the execution as a whole. */
  #deadlineAt: number
  /** When the attempt timeout started to count. */
  #countedSince: number
  isStarted = false
  /** When the handler started. */
  startedAt: number | undefined
  /** The next renewal restarts the attempt timeout in the store. */
  beginsNow = false
  isRenewing = false
  /** A renewal failed, so the state of the lease is unknown. */
  isUncertain = false
  isTimedOut = false
  /** The outcome is being reported. The reply to that report decides, not a refused renewal. */
  isSettling = false
  /** A call that may park the execution is pending. Refusals of other calls are caused by it, and are ignored. */
  isParking = false
  /** Set once the store has ended this run. */
  earlyExit: EarlyExit | undefined
  /** Its number among the executions that have held permits. */
  holder: number | undefined
  /** Position among the executions that wait for a slot. */
  order = 0
  pendingCancel: PendingCancel | undefined
  /** Set if the execution is about to end, and its handler may undo its steps before. */
  unwinding: Unwinding | undefined
  /** The handler has the signal, so it may react to an abort at any time. */
  hasGivenSignal = false
  /** A durable call has thrown because of a cancel or a deadline: the handler may be undoing its steps. */
  isCancelDelivered = false
  /** Set once nothing more may be recorded: the lease is lost, the run was ended by the store, or the worker has stopped. */
  refusal: EngineError | undefined
  /** Set once a value was read that this worker cannot open. The execution is given back to be run by another one. */
  unfit: EngineError | undefined
  /** What a codec permits for its result, if that is more than the store itself permits. */
  maxValueBytes: number | undefined
  /** Its log lines that are not stored yet. Set by the first line. */
  lines: PendingLines | undefined
  #controller: AbortController | undefined
  #isAbortThrown = false
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
    this.conditionInput = blobs[claimed.condition?.inputBlob ?? -1]
    this.task = task
    this.unwinding = claimed.unwinding
    this.leaseTtlMs = times.leaseTtlMs
    this.claimedAt = times.sentAt
    this.confirmUntil(times.sentAt + claimed.leaseExpiresAt - times.at)
    this.#attemptMs = claimed.unwinding?.leftMs ?? (claimed.timeoutAt ?? Infinity) - times.at
    this.#deadlineAt = times.sentAt + (claimed.deadlineAt ?? Infinity) - times.at
    this.#countedSince = times.sentAt
  }

  get id(): ExecutionId {
    return this.claimed.executionId
  }

  get idempotencyKey(): string {
    return idempotencyKeyOf(this.claimed)
  }

  /** When the attempt times out. */
  get endsAt(): number {
    return Math.min(this.#countedSince + this.#attemptMs, this.#deadlineAt)
  }

  /** When to restart the attempt timeout in the store, because the execution still waits for a slot. */
  get recountAt(): number {
    return this.isStarted ? Infinity : this.#countedSince + this.#attemptMs * RECOUNT_FRACTION
  }

  /** Marks the handler as started. Returns whether the store must restart the attempt timeout. */
  begin(now: number): boolean {
    this.isStarted = true
    this.startedAt = now
    if (this.#attemptMs === Infinity || now - this.#countedSince < UNCOUNTED_WAIT_MS) return false
    this.countFrom(now)
    this.beginsNow = true
    return true
  }

  /** The failure of this run is final, and it may undo its steps. Its time for that replaces the attempt timeout. */
  unwind(unwinding: Unwinding, now: number): void {
    this.unwinding = unwinding
    this.isCancelDelivered = true
    this.#attemptMs = unwinding.leftMs
    this.#deadlineAt = Infinity
    this.countFrom(now)
  }

  countFrom(moment: number): void {
    this.#countedSince = moment
  }

  /** The signal as the handler gets it. From then on, the handler is aware of every abort. */
  get handlerSignal(): AbortSignal {
    this.hasGivenSignal = true
    return this.signal
  }

  /** Created lazily: most handlers never use it. */
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

  /** Whether the handler was aborted because the worker stops or the attempt timed out: another run continues the execution. */
  get isInterrupted(): boolean {
    return INTERRUPTIONS.has(this.#abortReason?.code)
  }

  /** Whether the handler is aware of an interruption, by its signal or because a durable call threw the reason. */
  get isInterruptionDelivered(): boolean {
    return this.isInterrupted && (this.hasGivenSignal || this.#isAbortThrown)
  }

  /** Returns the abort reason for a durable call to throw. */
  deliverAbort(): EngineError | undefined {
    this.#isAbortThrown = this.#abortReason !== undefined
    return this.#abortReason
  }

  /** Records the lease expiry that the store returned. */
  confirmUntil(expiresAt: number): void {
    this.renewAt = expiresAt - this.leaseTtlMs * (1 - RENEW_AT_FRACTION)
    this.lostAt = expiresAt - this.leaseTtlMs * SAFETY_FRACTION
    this.isUncertain = false
  }

  /** Marks the lease as lost: aborts the handler, and refuses everything that it still records. */
  lose(code: LeaseLoss): void {
    this.refuse(new LeaseLostError(code, { executionId: this.id }))
  }

  refuse(error: EngineError): void {
    this.refusal ??= error
    this.abort(error)
  }

  throwIfRefused(): void {
    const reason = this.refusal ?? this.unfit
    if (reason !== undefined) throw reason
  }

  /** Resolves with the result of the handler, or with undefined on an early exit, after which the handler never settles. */
  raceEarlyExit(run: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#onEarlyExit = () => resolve(undefined)
      run.then(resolve, reject)
    })
  }

  /** Marks the run as ended by the store: everything that the handler still records is refused. */
  exitEarly(earlyExit: EarlyExit): EngineError {
    const reason = new EngineError(EARLY_EXIT_CODES[earlyExit], { executionId: this.id })
    this.earlyExit = earlyExit
    this.refuse(reason)
    this.#onEarlyExit?.()
    return reason
  }

  /** Aborts the handler. Returns false if a cancel request was delivered before. */
  requestCancel(cancel: PendingCancel): boolean {
    if (this.pendingCancel !== undefined) return false
    this.pendingCancel = cancel
    this.abort(
      new ExecutionCancelledError('cancelled', {
        executionId: this.id,
        message: `Requested by ${cancel.by}: ${cancel.reason}`,
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

  /** Keeps the first reason: a signal aborts once. */
  abort(reason: EngineError): void {
    if (this.#abortReason !== undefined) return
    this.#abortReason = reason
    this.#controller?.abort(reason)
  }
}

export function upstreamResultsOf(inputs: readonly MemberInput[], blobs: readonly Uint8Array[]): UpstreamResult[] {
  return inputs.map(({ name, upstreamId, result, blob, end }) => {
    return { name, upstreamId, info: result, bytes: blobs[blob ?? -1], end }
  })
}
