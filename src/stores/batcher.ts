/**
 * Coalesces single calls into batches. A partition's batch is sent at the end of the turn while fewer than two, or the
 * store's own limit, are in flight, else as soon as one returns. Callers never see a batch: each gets its own answer.
 *
 * A batch has a fixed cost for client and store. So while enough batches are in flight to saturate the store, calls are held
 * until one returns. A timer of the length of an average batch bounds the delay.
 */
import { BATCH_BYTES, BATCH_OPERATION_LIMIT } from '../kernel/index.ts'
import type { OperationInput, OperationName, OperationResult } from '../kernel/index.ts'
import { metricsRegistry, noTracing } from '../runtime/index.ts'
import type { Runtime, Timer, Tracing } from '../runtime/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import type { CallCodec } from './call-codec.ts'
import { InProcessHints } from './in-process-hints.ts'
import { ADMISSION_LEVEL, levelTooLow } from './level/store-level.ts'
import { familyOf } from './partitions.ts'
import { executionPartition } from './store.ts'
import { StoreHealth } from './store-health.ts'
import { StoreMeter } from './store-metrics.ts'
import type { Answer, Call, Partition, Store } from './store.ts'

export interface Reply<N extends OperationName> {
  readonly result: OperationResult<N>
  readonly blobs: readonly Uint8Array[]
}

type Answered = Extract<Answer, { kind: 'answered' }>

interface Waiting {
  readonly call: Call
  readonly bytes: number
  readonly resolve: (answer: Answered) => void
  readonly reject: (error: unknown) => void
  isSettled: boolean
}

interface Outbox {
  readonly partition: Partition
  waiting: Waiting[]
  inFlight: number
  /** Whether it is queued for sending, now or when a batch returns. */
  isScheduled: boolean
}

/** Batches of one partition in flight at most, unless the store has its own limit. */
const IN_FLIGHT_MAX = 2
/** The shortest timer. */
const HELD_LEAST_MS = 1
/** The weight of the newest batch in the moving average of batch times. */
const NEWEST_SHARE = 0.1
/** The estimated size of a call without its blobs. */
const ARGUMENT_BYTES = 512

export class Batcher {
  /** What the calls of this process are about to change. */
  readonly hints = new InProcessHints()
  /** Shared by the workers and engines of this process, so that an outage is logged once. */
  readonly health = new StoreHealth()
  /** What this process measures. Workers, engines and servers add to it. */
  readonly metrics = metricsRegistry()
  /** The spans of this process. */
  readonly tracing: Tracing
  readonly #meter = new StoreMeter(this.metrics)
  /** Seals and opens the values of calls. */
  readonly codec: CallCodec | undefined
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #inFlightMax: number
  readonly #busyBatches: number
  readonly #outboxes = new Map<Partition, Outbox>()
  /** Outboxes with calls to send, in the order of their oldest call. Sent together at the end of the turn. */
  #scheduled: Outbox[] = []
  #isTurnEnding = false
  /** Batches of all partitions. */
  #inFlight = 0
  /** Set while calls are held and no batch has returned. */
  #heldTimer: Timer | undefined
  #batchMs = 0
  #fillNumber: number | undefined
  /** New executions of this turn that go to that partition. Their calls are queued when their inputs are prepared. */
  #givenCount = 0
  /** Calls with a codec that are not answered. */
  #translating = 0
  #isClosed = false
  #idle: (() => void)[] = []

  constructor(store: Store, runtime: Runtime, tracing: Tracing = noTracing, codec?: CallCodec) {
    this.codec = codec
    this.#store = store
    this.#runtime = runtime
    this.tracing = tracing
    this.#inFlightMax = store.batchesAtOnce ?? IN_FLIGHT_MAX
    this.#busyBatches = store.busyBatches ?? Infinity
  }

  get store(): Store {
    return this.#store
  }

  /** Returns how many bytes a value may have that may have `limit` in the store itself. */
  valueLimit(limit: number): number {
    return Math.max(limit, this.codec?.maxBytes ?? 0)
  }

  run<N extends OperationName>(
    partition: Partition,
    operation: N,
    input: OperationInput<N>,
    blobs: readonly Uint8Array[] = [],
  ): Promise<Reply<N>> {
    return this.#run(partition, { operation, input, blobs }, this.codec)
  }

  /** Runs a call with values as they are stored, and answers with such ones: its caller seals and opens them. */
  runAsStored<N extends OperationName>(
    partition: Partition,
    operation: N,
    input: OperationInput<N>,
    blobs: readonly Uint8Array[],
  ): Promise<Reply<N>> {
    return this.#run(partition, { operation, input, blobs }, undefined)
  }

  #run<N extends OperationName>(partition: Partition, typed: Call<N>, codec: CallCodec | undefined): Promise<Reply<N>> {
    if (this.#isClosed) return Promise.reject(new EngineError('fabric_closed'))
    const refusal = familyRefusal(this.#store, partition)
    if (refusal !== undefined) return Promise.reject(refusal)
    const call = typed as unknown as Call
    const answered = codec === undefined ? this.#queue(partition, call) : this.#translated(codec, partition, call)
    return answered as unknown as Promise<Reply<N>>
  }

  /** Values are sealed before a call joins a batch, and opened after: a codec that waits delays no other call. */
  async #translated(codec: CallCodec, partition: Partition, call: Call): Promise<Answered> {
    this.#translating += 1
    try {
      return await codec.openAnswer(call, await this.#queue(partition, await codec.encodeCall(call)))
    } finally {
      this.#translating -= 1
      for (const resolve of this.#idle.splice(0)) resolve()
    }
  }

  #queue(partition: Partition, call: Call): Promise<Answered> {
    const bytes = call.blobs.reduce((sum, blob) => sum + blob.byteLength, ARGUMENT_BYTES)
    return new Promise((resolve, reject) => {
      const outbox = this.#outboxOf(partition)
      outbox.waiting.push({ call, bytes, resolve, reject, isSettled: false })
      this.#schedule(outbox)
      this.hints.emit(partition, call)
    })
  }

  /** Chooses the partition of a new execution: the one whose batch is being filled, else the next one. */
  partitionNumberToFill(): number {
    const count = this.#store.settings.executionPartitions
    if (count === 1) return 0
    // A random start, so that short-lived programs do not all fill the same partition.
    const current = this.#fillNumber ?? Math.floor(this.#runtime.random() * count)
    const filling = this.#outboxes.get(executionPartition(current))
    const filledCount = Math.max(this.#givenCount, filling?.waiting.length ?? 0)
    let chosen = current
    if (filledCount === 0 || filledCount >= BATCH_OPERATION_LIMIT) {
      chosen = (current + 1) % count
    } else if (this.#inFlightMax === 1 && filling !== undefined && filling.inFlight > 0) {
      // Partitions of such a store run in parallel: an idle one starts at once.
      chosen = this.#nextIdle(current) ?? current
    }
    this.#givenCount = chosen === this.#fillNumber ? this.#givenCount + 1 : 1
    this.#fillNumber = chosen
    // The turn ends also if no call is queued, as when its input is refused.
    this.#sendSoon()
    return chosen
  }

  /** Chooses the next partition in turn, for a new execution whose call joins no batch. */
  nextPartitionNumber(): number {
    const count = this.#store.settings.executionPartitions
    this.#fillNumber = ((this.#fillNumber ?? Math.floor(this.#runtime.random() * count)) + 1) % count
    this.#givenCount = 0
    return this.#fillNumber
  }

  /** The next partition without a batch in flight. */
  #nextIdle(behind: number): number | undefined {
    const count = this.#store.settings.executionPartitions
    for (let i = 1; i < count; i++) {
      const number = (behind + i) % count
      const outbox = this.#outboxes.get(executionPartition(number))
      if (outbox === undefined || outbox.inFlight === 0) return number
    }
    return undefined
  }

  /** Refuses new calls and waits for those in flight. */
  async close(): Promise<void> {
    this.#isClosed = true
    const isBusy = ({ inFlight, waiting }: Outbox) => inFlight > 0 || waiting.length > 0
    while (this.#translating > 0 || [...this.#outboxes.values()].some(isBusy)) {
      await new Promise<void>((resolve) => this.#idle.push(resolve))
    }
  }

  #outboxOf(partition: Partition): Outbox {
    let outbox = this.#outboxes.get(partition)
    if (outbox === undefined) {
      outbox = { partition, waiting: [], inFlight: 0, isScheduled: false }
      this.#outboxes.set(partition, outbox)
    }
    return outbox
  }

  #schedule(outbox: Outbox): void {
    if (outbox.inFlight >= this.#limitOf(outbox)) return
    if (!outbox.isScheduled) this.#scheduled.push(outbox)
    outbox.isScheduled = true
    this.#sendSoon()
  }

  #sendSoon(): void {
    if (this.#isTurnEnding) return
    this.#isTurnEnding = true
    this.#runtime.soon(() => {
      this.#isTurnEnding = false
      this.#sendScheduled(false)
    })
  }

  #sendScheduled(isOverdue: boolean): void {
    const scheduled = this.#scheduled
    this.#scheduled = []
    this.#givenCount = 0
    for (const outbox of scheduled) {
      while (this.#maySend(outbox) && (isOverdue || this.#inFlight < this.#busyBatches || fillsBatch(outbox))) {
        void this.#send(outbox, takeBatch(outbox))
      }
      outbox.isScheduled = this.#maySend(outbox)
      if (outbox.isScheduled) this.#scheduled.push(outbox)
    }
    this.#setHeldTimer()
  }

  #maySend(outbox: Outbox): boolean {
    return outbox.waiting.length > 0 && outbox.inFlight < this.#limitOf(outbox)
  }

  /** Under contention, batches of one partition would wait for the same lock: one larger batch is faster. */
  #limitOf({ partition }: Outbox): number {
    return this.#store.isContended?.(partition) === true ? 1 : this.#inFlightMax
  }

  #setHeldTimer(): void {
    if (this.#scheduled.length === 0) return
    this.#heldTimer ??= this.#runtime.after(Math.max(HELD_LEAST_MS, this.#batchMs), () => {
      this.#heldTimer = undefined
      this.#sendScheduled(true)
    })
  }

  #endHeldTimer(): void {
    this.#heldTimer?.cancel()
    this.#heldTimer = undefined
  }

  async #send(outbox: Outbox, batch: Waiting[]): Promise<void> {
    outbox.inFlight += 1
    this.#inFlight += 1
    const sentAt = this.#runtime.monotonic()
    try {
      const calls = batch.map((waiting) => waiting.call)
      const onAnswer = (number: number, answer: Answer) => this.#settle(batch[number] as Waiting, answer)
      const answers = await this.#store.run(outbox.partition, calls, onAnswer)
      const notRun: Waiting[] = []
      batch.forEach((waiting, i) => {
        const answer = answers[i]
        if (answer === undefined || answer.kind === 'not_run') notRun.push(waiting)
        else this.#settle(waiting, answer)
      })
      if (notRun.length === batch.length) {
        for (const waiting of notRun)
          waiting.reject(new EngineError('store_unavailable', { message: 'The store ran nothing.' }))
      } else {
        outbox.waiting.unshift(...notRun)
      }
    } catch (error) {
      this.#meter.unanswered(error)
      for (const waiting of batch) waiting.reject(error)
      // The queued calls would wait as long again, batch after batch, for the same error.
      if (isUnavailable(error)) for (const waiting of outbox.waiting.splice(0)) waiting.reject(error)
    } finally {
      outbox.inFlight -= 1
      this.#inFlight -= 1
      this.#endHeldTimer()
      const ms = this.#runtime.monotonic() - sentAt
      this.#meter.batch(outbox.partition, batch.length, ms)
      this.#batchMs += NEWEST_SHARE * (ms - this.#batchMs)
      if (outbox.waiting.length > 0) this.#schedule(outbox)
      else if (this.#scheduled.length > 0) this.#sendSoon()
      for (const resolve of this.#idle.splice(0)) resolve()
    }
  }

  /** No-op for a call that was answered before. */
  #settle(waiting: Waiting, answer: Answer): void {
    if (waiting.isSettled || answer.kind === 'not_run') return
    waiting.isSettled = true
    this.#meter.answered(waiting.call, answer)
    settle(waiting, answer)
  }
}

/** Executions have been there from the first level on; other families have not. */
function familyRefusal(store: Store, partition: Partition): EngineError | undefined {
  return familyOf(partition) === 'fp' ? undefined : levelTooLow(store, ADMISSION_LEVEL, `Partition ${partition}`)
}

function settle({ resolve, reject }: Waiting, answer: Answer): void {
  if (answer.kind === 'answered') resolve(answer)
  else if (answer.kind === 'failed') reject(answer.error)
  else if (answer.kind === 'fault') {
    const message = `${answer.reason} (${answer.recordId})`
    reject(new EngineError('corruption', { message, field: answer.recordId }))
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'store_unavailable'
}

function fillsBatch({ waiting }: Outbox): boolean {
  if (waiting.length >= BATCH_OPERATION_LIMIT) return true
  return waiting.reduce((sum, { bytes }) => sum + bytes, 0) >= BATCH_BYTES
}

/** The oldest calls that fit into one batch; a single call may be larger than a batch. */
function takeBatch(outbox: Outbox): Waiting[] {
  let count = 0
  let bytes = 0
  for (const waiting of outbox.waiting) {
    if (count === BATCH_OPERATION_LIMIT || (count > 0 && bytes + waiting.bytes > BATCH_BYTES)) break
    bytes += waiting.bytes
    count += 1
  }
  return outbox.waiting.splice(0, count)
}
