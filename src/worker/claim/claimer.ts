/**
 * Claims executions. Each source is claimed from when a wake-up or the last reply indicates ready work, and once per sweep in any
 * case. A claim without a reply is retried with the same request id, so the executions that it leased are returned again.
 */
import { CLAIM_COUNT_MAX } from '../../kernel/index.ts'
import type { ClaimInput, ClaimResult, QueueName } from '../../kernel/index.ts'
import { backoffMs, randomSeed } from '../../runtime/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Partition, Wake } from '../../stores/store.ts'
import { groupQueues, readyIndexesOf } from './claim-group.ts'
import { hasPlaceFor, inClaimOrder, isClaimDue, isFree, makeSource, makeSources, markDue } from './claim-source.ts'
import type { ClaimRequest, ClaimSource } from './claim-source.ts'
import { LearntQueues } from './learnt-queues.ts'
import type { ServedTask, WorkerScope } from '../served-task.ts'
import type { Hand } from '../permits/hand.ts'
import type { Permits } from '../permits/permits.ts'
import type { Slots } from './slots.ts'
import type { CallHealth } from '../../stores/store-health.ts'
import { BACKOFF_MAX_MS } from '../store/retry-until-answered.ts'

/** Pending claims at once, over all partitions. */
const PENDING_CLAIM_LIMIT = 4
/**
 * A claim that travels with outcomes of its partition costs no batch of its own, so it may precede that of a source which is due
 * for longer: for as long as so many claims take on average, and for at most so many milliseconds.
 */
const PASSED_OVER_CLAIMS = 8
const PASSED_OVER_MAX_MS = 50
/** The weight of the newest claim in the moving average of claim times. */
const NEWEST_SHARE = 0.1
/** Jitter of the sweep interval, as a fraction in both directions, so that workers do not synchronise. */
const SWEEP_JITTER = 0.2
/** After an empty claim, wake-ups that name no index are throttled for this long. */
const THROTTLE_MS = 20

const NONE_REPORTED: ReadonlyMap<Partition, number> = new Map()

/** A claim source whose executions take several slots and that is due for so long stops the claims of others until it fits. */
const PATIENCE_MS = 1_000

export interface ClaimerSettings {
  readonly workerId: string
  readonly workerInstanceId: string
  readonly leaseTtlMs: number
  readonly sweepMs: number
}

export interface ClaimerOptions {
  readonly batcher: Batcher
  readonly runtime: Runtime
  readonly settings: ClaimerSettings
  readonly tasks: readonly ServedTask[]
  readonly lanes: readonly string[] | undefined
  readonly scope: WorkerScope
  readonly slots: Slots
  readonly permits: Permits
  readonly health: CallHealth
}

export interface ClaimReply {
  readonly partition: Partition
  readonly result: ClaimResult
  readonly blobs: readonly Uint8Array[]
  /** When the call was sent, on the local monotonic clock. */
  readonly sentAt: number
}

/** A reply, with the permits that the claim had. */
export interface AnsweredClaim extends ClaimReply {
  readonly hand: Hand | undefined
}

export interface ClaimListener {
  readonly onReply: (reply: AnsweredClaim) => void
  readonly onUnanswered: () => void
  /** The client was closed before the worker. */
  readonly onFabricClosed: () => void
}

export class Claimer {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #settings: ClaimerSettings
  readonly #slots: Slots
  readonly #permits: Permits
  readonly #health: CallHealth
  readonly #listener: ClaimListener
  readonly #namespace: string | undefined
  readonly #sources: ClaimSource[]
  readonly #sourcesByIndex = new Map<Partition, Map<string, ClaimSource>>()
  readonly #learnt: LearntQueues
  #pendingCount = 0
  #claimCount = 0
  /** How long a claim takes on average. */
  #claimMs = 0
  #isOpen = true
  #sweepTimer: Timer | undefined

  constructor(options: ClaimerOptions, listener: ClaimListener) {
    this.#batcher = options.batcher
    this.#runtime = options.runtime
    this.#settings = options.settings
    this.#slots = options.slots
    this.#permits = options.permits
    this.#health = options.health
    this.#listener = listener
    this.#namespace = options.scope.namespace
    const groups = groupQueues(options.tasks, options.lanes)
    this.#sources = makeSources(options.batcher.store.settings.executionPartitions, groups)
    for (const source of this.#sources) this.#register(source, source.queues)
    this.#learnt = this.#learnQueues(options)
  }

  #learnQueues(options: ClaimerOptions): LearntQueues {
    return new LearntQueues(options, {
      onLearnt: (partition, queue, task) => this.#addQueue(partition, queue, task),
      onForgotten: (partition, queue) => this.#removeQueue(partition, queue),
      onListed: () => this.claim(),
      onFabricClosed: () => this.#listener.onFabricClosed(),
    })
  }

  start(): void {
    this.#learnt.start()
    this.sweep()
  }

  get pendingCount(): number {
    return this.#pendingCount
  }

  /** Records a wake-up. Returns whether a claim is due now. */
  onWake(wake: Wake): boolean {
    const sources = this.#sourcesByIndex.get(wake.partition)
    if (sources === undefined || !this.#isOpen) return false
    let isDue = false
    if (wake.ready === undefined) {
      for (const source of sources.values()) isDue = this.#hintUnlessThrottled(source) || isDue
      return isDue
    }
    for (const index of wake.ready) {
      const source = sources.get(index) ?? this.#learnSource(wake.partition, index)
      if (source === undefined) continue
      this.#hint(source)
      isDue = true
    }
    return isDue
  }

  /** Claims from every source, now and once per interval. */
  sweep(): void {
    if (!this.#isOpen) return
    for (const source of this.#sources) this.#sweepSource(source)
    const jitter = 1 - SWEEP_JITTER + 2 * SWEEP_JITTER * this.#runtime.random()
    this.#sweepTimer = this.#runtime.after(this.#settings.sweepMs * jitter, () => this.sweep())
    this.claim()
  }

  /** Sends all due claims that there is room for. `reported` has the outcomes of this turn, counted by partition. */
  claim(reported: ReadonlyMap<Partition, number> = NONE_REPORTED): void {
    if (!this.#isOpen) return
    this.#claimFrom(this.#dueSources(reported), reported)
  }

  /**
   * Returns a claim for a completion to carry, if its partition has a hint of ready work. The caller passes the result to
   * `answered`, `notMade` or `unanswered`.
   */
  piggyback(partition: Partition): ClaimRequest | undefined {
    if (!this.#isOpen) return undefined
    const source = this.#sources.find((other) => other.partition === partition && other.hasReadyHint && isFree(other))
    if (source === undefined || this.#isAnotherDueLonger(source)) return undefined
    return this.#createRequest(source, 1)
  }

  /** Marks the sources of a partition as due without a hint. */
  sweepPartition(partition: Partition): void {
    for (const source of this.#sourcesByIndex.get(partition)?.values() ?? []) this.#sweepSource(source)
  }

  answered(request: ClaimRequest, reply: ClaimReply): void {
    const { source } = request
    this.#end(request)
    this.#claimMs += NEWEST_SHARE * (this.#runtime.monotonic() - reply.sentAt - this.#claimMs)
    source.failureCount = 0
    this.#noteRemaining(source, reply.result)
    this.#listener.onReply({ ...reply, hand: request.hand })
  }

  /** The completion that carried the claim was refused, so nothing was claimed. */
  notMade(request: ClaimRequest): void {
    this.#hint(request.source)
    this.#end(request)
    this.#permits.claimed(request.source.partition, request.hand, [])
    this.claim()
  }

  /** The outcome of the claim is unknown: retries it after a backoff. */
  unanswered(request: ClaimRequest): void {
    const { source } = request
    this.#pendingCount -= 1
    source.failureCount += 1
    this.#listener.onUnanswered()
    if (!this.#isOpen) return
    source.retryTimer = this.#runtime.after(backoffMs(this.#runtime, source.failureCount, BACKOFF_MAX_MS), () => {
      source.retryTimer = undefined
      this.#resend(request, request.input.count)
    })
  }

  /** Stops claiming. A claim that waits for its retry is resent once, so that the executions it leased can be released. */
  close(): void {
    if (!this.#isOpen) return
    this.#stop()
    for (const source of this.#sources) {
      if (source.retryTimer === undefined || source.request === undefined) continue
      source.retryTimer.cancel()
      this.#resend(source.request, 0)
    }
  }

  /** Stops at once, without retrying pending claims. */
  abandon(): void {
    this.#stop()
    for (const source of this.#sources) source.retryTimer?.cancel()
  }

  #stop(): void {
    this.#isOpen = false
    this.#learnt.close()
    this.#sweepTimer?.cancel()
    for (const source of this.#sources) source.throttleTimer?.cancel()
  }

  /** Ready work that could not be claimed is claimed again, but throttled. */
  #noteRemaining(source: ClaimSource, { executions, more }: ClaimResult): void {
    source.hasMore = more && executions.length > 0
    if (executions.length > 0) {
      if (more) this.#hint(source)
      return
    }
    source.throttledUntil = this.#runtime.monotonic() + THROTTLE_MS
    if (more && this.#isOpen) this.#hintUnlessThrottled(source)
  }

  /**
   * Sets the hint now, or when the throttle ends. Wake-ups that name no index are frequent on shared partitions, and most
   * concern other workers. Returns whether the hint is set.
   */
  #hintUnlessThrottled(source: ClaimSource): boolean {
    const waitMs = source.throttledUntil - this.#runtime.monotonic()
    if (waitMs <= 0) {
      this.#hint(source)
      return true
    }
    source.throttleTimer ??= this.#runtime.after(waitMs, () => {
      source.throttleTimer = undefined
      this.#hint(source)
      this.claim()
    })
    return false
  }

  #register(source: ClaimSource, queues: readonly QueueName[]): void {
    const sources = this.#sourcesByIndex.get(source.partition) ?? new Map<string, ClaimSource>()
    this.#sourcesByIndex.set(source.partition, sources)
    for (const index of readyIndexesOf(queues)) sources.set(index, source)
  }

  /** Returns the source of a queue that a wake-up was the first to name, if the worker may serve it. */
  #learnSource(partition: Partition, index: string): ClaimSource | undefined {
    const isLearnt = this.#learnt.consider(partition, index)
    return isLearnt ? this.#sourcesByIndex.get(partition)?.get(index) : undefined
  }

  #addQueue(partition: Partition, queue: QueueName, task: ServedTask): void {
    const source =
      this.#sources.find((other) => hasPlaceFor(other, partition, task)) ?? this.#addSource(partition, task)
    source.queues = [...source.queues, queue]
    this.#register(source, [queue])
    this.#hint(source)
  }

  #addSource(partition: Partition, task: ServedTask): ClaimSource {
    const source = makeSource(partition, { queues: [], task: task.isClaimedAlone ? task : undefined })
    this.#sources.push(source)
    return source
  }

  #removeQueue(partition: Partition, queue: QueueName): void {
    const sources = this.#sourcesByIndex.get(partition)
    for (const index of readyIndexesOf([queue])) {
      const source = sources?.get(index)
      if (source === undefined) continue
      source.queues = source.queues.filter((other) => other.lane !== queue.lane || other.class !== queue.class)
      sources?.delete(index)
    }
  }

  #hint(source: ClaimSource): void {
    source.hasReadyHint = true
    markDue(source, this.#runtime.monotonic())
  }

  #sweepSource(source: ClaimSource): void {
    source.isSweepDue = true
    markDue(source, this.#runtime.monotonic())
  }

  #dueSources(reported: ReadonlyMap<Partition, number>): ClaimSource[] {
    return inClaimOrder(this.#sources.filter(isClaimDue), reported, this.#starvingSince())
  }

  /** Prevents starvation: slots refilled only from the partition that freed them would never serve another one. */
  #isAnotherDueLonger({ claimOrder }: ClaimSource): boolean {
    const starving = this.#starvingSince()
    return this.#sources.some(
      (other) => isClaimDue(other) && other.claimOrder < claimOrder && other.dueSince < starving,
    )
  }

  /** Sources that are due since before this moment are not passed over any more. */
  #starvingSince(): number {
    return this.#runtime.monotonic() - Math.min(PASSED_OVER_MAX_MS, PASSED_OVER_CLAIMS * this.#claimMs)
  }

  /**
   * A source with more work may fill all free slots; the other sources share them. A claim that travels with outcomes takes at
   * least the slots that these have freed.
   */
  #claimFrom(sources: readonly ClaimSource[], reported: ReadonlyMap<Partition, number>): void {
    for (const [i, source] of sources.entries()) {
      const sharedBy = source.hasMore ? 1 : Math.min(sources.length - i, PENDING_CLAIM_LIMIT - this.#pendingCount)
      const request = this.#createRequest(source, sharedBy, reported.get(source.partition))
      if (request !== undefined) void this.#send(request)
      else if (this.#waitsForSlots(source)) return
    }
  }

  /** Prevents starvation: single slots that others refill at once would never be enough for an execution that takes several. */
  #waitsForSlots({ task, hasReadyHint, dueSince }: ClaimSource): boolean {
    return task !== undefined && task.slots > 1 && hasReadyHint && dueSince < this.#runtime.monotonic() - PATIENCE_MS
  }

  /** Reserves slots and creates a claim. Returns undefined if there is no room. */
  #createRequest(source: ClaimSource, sharedBy: number, least = 0): ClaimRequest | undefined {
    if (this.#pendingCount >= PENDING_CLAIM_LIMIT) return undefined
    const count = Math.min(CLAIM_COUNT_MAX, this.#slots.roomFor(source.task, sharedBy, least))
    // Executions that take several slots may never find room by chance, so a claim of none finds out whether any wait.
    const isProbe = count === 0 && (source.task?.slots ?? 1) > 1 && source.isSweepDue && !source.hasReadyHint
    if (count === 0 && !isProbe) return undefined
    const hand = this.#permits.lend(source.partition, count)
    const { workerId, workerInstanceId, leaseTtlMs } = this.#settings
    const input: ClaimInput = {
      requestId: this.#runtime.uuid(),
      workerId,
      workerInstanceId,
      namespace: this.#namespace,
      queues: source.queues,
      count,
      leaseTtlMs,
      seed: randomSeed(this.#runtime),
      permits: hand?.permits(),
      exhausted: this.#permits.exhausted(),
    }
    const request = { source, input, hand }
    source.hasReadyHint = false
    source.isSweepDue = false
    source.dueSince = Infinity
    source.claimOrder = ++this.#claimCount
    source.request = request
    this.#pendingCount += 1
    this.#reserve(source.task, count)
    return request
  }

  #end(request: ClaimRequest): void {
    const { source } = request
    source.request = undefined
    this.#pendingCount -= 1
    this.#reserve(source.task, -request.input.count)
  }

  #reserve(task: ServedTask | undefined, count: number): void {
    this.#slots.requestedSlots += count * (task?.slots ?? 1)
    if (task !== undefined) task.requestedCount += count
  }

  #resend(request: ClaimRequest, count: number): void {
    this.#pendingCount += 1
    void this.#send(request, { repeated: true, count })
  }

  async #send(request: ClaimRequest, again: Partial<ClaimInput> = {}): Promise<void> {
    const { partition } = request.source
    const sentAt = this.#runtime.monotonic()
    let reply
    try {
      reply = await this.#batcher.run(partition, 'claimForWorker', { ...request.input, ...again })
    } catch (error) {
      if (error instanceof EngineError && error.code === 'fabric_closed') {
        this.#listener.onFabricClosed()
        return
      }
      this.#health.failed(partition, error)
      this.unanswered(request)
      return
    }
    this.#health.answered(partition)
    this.answered(request, { partition, result: reply.result, blobs: reply.blobs, sentAt })
  }
}
