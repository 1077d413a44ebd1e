/**
 * Registers a worker in the store and sends heartbeats, so that operators see the worker, and its executions run again soon after
 * its process has died. Liveness is advisory: a worker that cannot register keeps working.
 */
import type { WorkerFacts } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { endWithin, errorFields } from '../../runtime/index.ts'
import type { Log, Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { isTransient } from '../../stores/store-health.ts'
import type { CallHealth } from '../../stores/store-health.ts'

/** Heartbeats that may fail in a row before the registration lapses. */
const BEATS_PER_TTL = 3
/** How long closing a worker waits for its registration to be withdrawn. A registration that stays lapses. */
const WITHDRAW_MAX_MS = 1_000

export interface RegistrationOptions {
  readonly batcher: Batcher
  readonly runtime: Runtime
  readonly log: Log
  readonly workerInstanceId: string
  /** What the worker reports about itself. `runningCount` is read anew for every heartbeat. */
  readonly facts: () => WorkerFacts
  readonly isDraining: () => boolean
  /** Called once when an operator asks the worker to drain. */
  readonly onDrain: () => void
}

export class Registration {
  readonly #options: RegistrationOptions
  readonly #health: CallHealth
  readonly #bootId: string
  #timer: Timer | undefined
  #beating: Promise<void> | undefined
  #isRegistered = false
  #isFailing = false
  #isAskedToDrain = false
  #isClosed = false

  constructor(options: RegistrationOptions) {
    this.#options = options
    this.#health = options.batcher.health.loggedTo(options.log)
    this.#bootId = options.runtime.uuid()
  }

  start(): void {
    this.#beating = this.#beat()
  }

  /** Withdraws the registration. Waits a bounded time for the store. */
  async close(): Promise<void> {
    this.abandon()
    await endWithin(this.#options.runtime, WITHDRAW_MAX_MS, this.#withdraw())
  }

  /** Stops as a killed process does: the registration lapses. */
  abandon(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  async #withdraw(): Promise<void> {
    // A worker that is closed soon may still be registering.
    await this.#beating
    if (!this.#isRegistered) return
    const { batcher, workerInstanceId } = this.#options
    await batcher.run(STORE_PARTITION, 'unregisterWorker', { workerInstanceId, bootId: this.#bootId })
  }

  /** Sends one heartbeat, or registers. The next one is scheduled only then, so two never overlap. */
  async #beat(): Promise<void> {
    try {
      const drain = this.#isRegistered ? await this.#heartbeat() : await this.#register()
      this.#noteAnswer()
      if (drain) this.#askToDrain()
    } catch (error) {
      this.#noteFailure(error)
    }
    if (this.#isClosed) return
    const everyMs = this.#options.facts().ttlMs / BEATS_PER_TTL
    this.#timer = this.#options.runtime.after(everyMs, () => this.start(), { background: true })
  }

  async #register(): Promise<boolean> {
    const { batcher, workerInstanceId, facts } = this.#options
    const input = { workerInstanceId, bootId: this.#bootId, facts: facts() }
    const { result } = await batcher.run(STORE_PARTITION, 'registerWorker', input)
    if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
    this.#isRegistered = true
    return result.drain
  }

  /** A lapsed registration is never revived: the worker registers again at once. */
  async #heartbeat(): Promise<boolean> {
    const { batcher, workerInstanceId, facts, isDraining } = this.#options
    const { runningCount } = facts()
    const input = { workerInstanceId, bootId: this.#bootId, runningCount, isDraining: isDraining() }
    const { result } = await batcher.run(STORE_PARTITION, 'heartbeatWorker', input)
    if (result.kind === 'refreshed') return result.drain
    this.#isRegistered = false
    return this.#isClosed ? false : await this.#register()
  }

  #askToDrain(): void {
    if (this.#isAskedToDrain || this.#isClosed) return
    this.#isAskedToDrain = true
    this.#options.onDrain()
  }

  /** An outage of the store is logged for all callers together, any other failure once. A store of the first level has no registry. */
  #noteFailure(error: unknown): void {
    const code = error instanceof EngineError ? error.code : undefined
    if (this.#isClosed || code === 'level_too_low' || code === 'fabric_closed') return
    if (isTransient(error)) this.#health.failed(STORE_PARTITION, error)
    else if (!this.#isFailing) {
      this.#isFailing = true
      const { log, workerInstanceId } = this.#options
      log.warn(
        { workerInstanceId, ...errorFields(error) },
        'could not send a heartbeat; the worker keeps working, and may be listed as lost',
      )
    }
  }

  #noteAnswer(): void {
    this.#health.answered(STORE_PARTITION)
    this.#isFailing = false
  }
}
