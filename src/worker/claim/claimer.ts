/**
 * Finds work. A source is one partition with one group of queues; it is asked when a wake-up or the last answer says that
 * work is there, and once per sweep in any case. A claim whose answer did not come is repeated under the same id, so what
 * it took is handed out again and nothing waits for a lease to expire.
 */
import { CLAIM_COUNT_MAX } from '../../kernel/index.ts'
import type { ClaimInput, ClaimResult } from '../../kernel/index.ts'
import { randomSeed } from '../../runtime/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Partition, Wake } from '../../stores/store.ts'
import { readyIndexesOf } from './claim-group.ts'
import type { ClaimGroup } from './claim-group.ts'
import { isClaimDue, isFree, makeSources } from './claim-source.ts'
import type { ClaimRequest, ClaimSource } from './claim-source.ts'
import type { Slots } from './slots.ts'
import { backoffMs } from '../store/store-health.ts'
import type { StoreHealth } from '../store/store-health.ts'

/** Claims under way at once, over all partitions. */
const PENDING_CLAIM_LIMIT = 4
/** A sweep comes this far to both sides of its interval, so that workers do not fall into step. */
const SWEEP_JITTER = 0.2
/** A source that had nothing is not asked again for this long when somebody else changed something, nobody knows what. */
const THROTTLE_MS = 20

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
  readonly groups: readonly ClaimGroup[]
  readonly slots: Slots
  readonly health: StoreHealth
}

/** What a claim brought. */
export interface ClaimReply {
  readonly partition: Partition
  readonly result: ClaimResult
  readonly blobs: readonly Uint8Array[]
  /** When the call was sent, on the local monotonic clock. */
  readonly sentAt: number
}

export interface ClaimListener {
  readonly onReply: (reply: ClaimReply) => void
  readonly onUnanswered: () => void
  /** The client was closed under the worker: there is nobody left to ask. */
  readonly onFabricClosed: () => void
}

export class Claimer {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #settings: ClaimerSettings
  readonly #slots: Slots
  readonly #health: StoreHealth
  readonly #listener: ClaimListener
  readonly #sources: readonly ClaimSource[]
  readonly #sourcesByIndex = new Map<Partition, Map<string, ClaimSource>>()
  #pendingCount = 0
  #claimCount = 0
  #isOpen = true
  #sweepTimer: Timer | undefined

  constructor(options: ClaimerOptions, listener: ClaimListener) {
    this.#batcher = options.batcher
    this.#runtime = options.runtime
    this.#settings = options.settings
    this.#slots = options.slots
    this.#health = options.health
    this.#listener = listener
    this.#sources = makeSources(options.batcher.store.settings.executionPartitions, options.groups)
    for (const source of this.#sources) this.#register(source)
  }

  get pendingCount(): number {
    return this.#pendingCount
  }

  /** Takes note of a wake-up. Says whether it is a reason to claim now. */
  onWake(wake: Wake): boolean {
    const sources = this.#sourcesByIndex.get(wake.partition)
    if (sources === undefined || !this.#isOpen) return false
    let isDue = false
    if (wake.ready === undefined) {
      for (const source of sources.values()) isDue = this.#hintUnlessThrottled(source) || isDue
      return isDue
    }
    for (const index of wake.ready) {
      const source = sources.get(index)
      if (source === undefined) continue
      source.hasReadyHint = true
      isDue = true
    }
    return isDue
  }

  /** Looks everywhere, now and from now on once per interval. */
  sweep(): void {
    if (!this.#isOpen) return
    for (const source of this.#sources) source.isSweepDue = true
    const jitter = 1 - SWEEP_JITTER + 2 * SWEEP_JITTER * this.#runtime.random()
    this.#sweepTimer = this.#runtime.after(this.#settings.sweepMs * jitter, () => this.sweep())
    this.claim()
  }

  /** Sends as many claims as there is room for. */
  claim(): void {
    if (!this.#isOpen) return
    this.#claimFrom(this.#dueSources())
  }

  /** A claim for another call to carry, if work is known to be where that call goes. Whoever takes it reports what became of it. */
  piggyback(partition: Partition): ClaimRequest | undefined {
    if (!this.#isOpen) return undefined
    const source = this.#sources.find((other) => other.partition === partition && other.hasReadyHint && isFree(other))
    if (source === undefined || this.#isAnotherDueLonger(source)) return undefined
    return this.#createRequest(source, 1)
  }

  /** Nothing is known to be ready there, but may be: what is ready is taken by the next claims. */
  sweepPartition(partition: Partition): void {
    for (const source of this.#sourcesByIndex.get(partition)?.values() ?? []) source.isSweepDue = true
  }

  answered(request: ClaimRequest, reply: ClaimReply): void {
    const { source } = request
    this.#end(request)
    source.failureCount = 0
    this.#noteRemaining(source, reply.result)
    this.#listener.onReply(reply)
  }

  /** The call that was to carry the claim was refused, so nothing was claimed. */
  notMade(request: ClaimRequest): void {
    request.source.hasReadyHint = true
    this.#end(request)
    this.claim()
  }

  /** Nobody knows whether the claim was made: it is said again after a while. */
  unanswered(request: ClaimRequest): void {
    const { source } = request
    this.#pendingCount -= 1
    source.failureCount += 1
    this.#listener.onUnanswered()
    if (!this.#isOpen) return
    source.retryTimer = this.#runtime.after(backoffMs(this.#runtime, source.failureCount), () => {
      source.retryTimer = undefined
      this.#resend(request, request.input.count)
    })
  }

  /** Claims nothing more. What a claim without an answer may have taken is asked for once more, to be handed back. */
  close(): void {
    if (!this.#isOpen) return
    this.#stop()
    for (const source of this.#sources) {
      if (source.retryTimer === undefined || source.request === undefined) continue
      source.retryTimer.cancel()
      this.#resend(source.request, 0)
    }
  }

  /** Stops at once and forgets everything. */
  abandon(): void {
    this.#stop()
    for (const source of this.#sources) source.retryTimer?.cancel()
  }

  #stop(): void {
    this.#isOpen = false
    this.#sweepTimer?.cancel()
    for (const source of this.#sources) source.throttleTimer?.cancel()
  }

  /** Work that is said to be there and could not be taken is asked for again, but not without a pause. */
  #noteRemaining(source: ClaimSource, { executions, more }: ClaimResult): void {
    source.hasMore = more && executions.length > 0
    if (executions.length > 0) {
      source.hasReadyHint ||= more
      return
    }
    source.throttledUntil = this.#runtime.monotonic() + THROTTLE_MS
    if (more && this.#isOpen) this.#hintUnlessThrottled(source)
  }

  /** Others write all the time to what they share with this worker, and most of it is not for this worker. */
  #hintUnlessThrottled(source: ClaimSource): boolean {
    const waitMs = source.throttledUntil - this.#runtime.monotonic()
    if (waitMs <= 0) {
      source.hasReadyHint = true
      return true
    }
    source.throttleTimer ??= this.#runtime.after(waitMs, () => {
      source.throttleTimer = undefined
      source.hasReadyHint = true
      this.claim()
    })
    return false
  }

  #register(source: ClaimSource): void {
    const sources = this.#sourcesByIndex.get(source.partition) ?? new Map<string, ClaimSource>()
    this.#sourcesByIndex.set(source.partition, sources)
    for (const index of readyIndexesOf(source.group)) sources.set(index, source)
  }

  /** What has not been asked for longest comes first, so that none starves behind the others. */
  #dueSources(): ClaimSource[] {
    return this.#sources.filter(isClaimDue).sort((a, b) => a.claimOrder - b.claimOrder)
  }

  /** A slot that is refilled where it was freed would never serve any other partition. */
  #isAnotherDueLonger({ claimOrder }: ClaimSource): boolean {
    return this.#sources.some((other) => isClaimDue(other) && other.claimOrder < claimOrder)
  }

  /** Where more is known to be than was taken, all that there is room for is asked for; all others share the room. */
  #claimFrom(sources: readonly ClaimSource[]): void {
    sources.forEach((source, i) => {
      const sharedBy = source.hasMore ? 1 : Math.min(sources.length - i, PENDING_CLAIM_LIMIT - this.#pendingCount)
      const request = this.#createRequest(source, sharedBy)
      if (request !== undefined) void this.#send(request)
    })
  }

  /** Reserves room for a claim. Undefined if there is none. */
  #createRequest(source: ClaimSource, sharedBy: number): ClaimRequest | undefined {
    if (this.#pendingCount >= PENDING_CLAIM_LIMIT) return undefined
    const count = Math.min(CLAIM_COUNT_MAX, this.#slots.roomFor(source.group.task, sharedBy))
    if (count === 0) return undefined
    const { workerId, workerInstanceId, leaseTtlMs } = this.#settings
    const input: ClaimInput = {
      requestId: this.#runtime.uuid(),
      workerId,
      workerInstanceId,
      queues: source.group.queues,
      count,
      leaseTtlMs,
      seed: randomSeed(this.#runtime),
    }
    const request = { source, input }
    source.hasReadyHint = false
    source.isSweepDue = false
    source.claimOrder = ++this.#claimCount
    source.request = request
    this.#pendingCount += 1
    this.#reserve(source.group, count)
    return request
  }

  #end(request: ClaimRequest): void {
    const { source } = request
    source.request = undefined
    this.#pendingCount -= 1
    this.#reserve(source.group, -request.input.count)
  }

  #reserve(group: ClaimGroup, count: number): void {
    this.#slots.requestedCount += count
    if (group.task !== undefined) group.task.requestedCount += count
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
      this.#health.failed(error)
      this.unanswered(request)
      return
    }
    this.#health.answered()
    this.answered(request, { partition, result: reply.result, blobs: reply.blobs, sentAt })
  }
}
