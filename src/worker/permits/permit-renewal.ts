/**
 * Renews the permits of a worker, as its leases. Permits that were not renewed in time count as lost, like a lease: at that moment
 * and not with the next renewal, because the store gives them to others soon after.
 */
import { PERMIT_REQUEST_MAX } from '../../kernel/index.ts'
import type { Timer } from '../../runtime/index.ts'
import type { Partition } from '../../stores/store.ts'
import type { KeyPermits } from './key-permits.ts'
import type { DeskServices } from './permit-desk.ts'

/** Permits are renewed as often per lease TTL. */
const RENEWALS_PER_TTL = 3

export interface RenewalOptions {
  readonly services: DeskServices
  readonly workerInstanceId: string
  readonly ttlMs: number
  readonly leaseTtlMs: number
  readonly keys: () => Iterable<KeyPermits>
  /** The store counts fewer permits than the worker holds: `left` of them. `isExact`: no other call of the key was under way. */
  readonly onLapsed: (key: KeyPermits, left: number, isExact: boolean) => void
  /** The store counts permits that the worker does not know: those of calls whose outcome it never learnt. */
  readonly onExcess: (key: KeyPermits, count: number) => void
  /** The last renewal is so long ago that the permits may have lapsed. */
  readonly onUnconfirmed: (key: KeyPermits) => void
}

export class PermitRenewal {
  readonly #options: RenewalOptions
  #timer: Timer | undefined
  #lossTimer: Timer | undefined
  #lossAt = Infinity
  #isClosed = false

  constructor(options: RenewalOptions) {
    this.#options = options
  }

  /** Keeps the permits of a key, which were just taken: renews once per interval while any permit is held. */
  keep(key: KeyPermits): void {
    if (this.#isClosed) return
    this.#start()
    this.#watch(key.lostAt)
  }

  #start(): void {
    if (this.#timer !== undefined || this.#isClosed) return
    const { services, leaseTtlMs } = this.#options
    this.#timer = services.runtime.after(leaseTtlMs / RENEWALS_PER_TTL, () => this.#renewAll(), { background: true })
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#lossTimer?.cancel()
  }

  /** Keeps the timer at the earliest moment at which permits are lost without a renewal. */
  #watch(lostAt: number): void {
    if (lostAt >= this.#lossAt) return
    this.#lossTimer?.cancel()
    this.#lossAt = lostAt
    const { runtime } = this.#options.services
    const waitMs = Math.max(0, Math.ceil(lostAt - runtime.monotonic()))
    this.#lossTimer = runtime.after(waitMs, () => this.#loseUnconfirmed(), { background: true })
  }

  #loseUnconfirmed(): void {
    this.#lossTimer = undefined
    this.#lossAt = Infinity
    const { services, keys, onUnconfirmed } = this.#options
    const now = services.runtime.monotonic()
    let next = Infinity
    for (const key of keys()) {
      if (key.held === 0) continue
      if (now >= key.lostAt) onUnconfirmed(key)
      else next = Math.min(next, key.lostAt)
    }
    if (!this.#isClosed) this.#watch(next)
  }

  #renewAll(): void {
    this.#timer = undefined
    const { services, keys, onUnconfirmed } = this.#options
    const now = services.runtime.monotonic()
    const byPartition = new Map<Partition, KeyPermits[]>()
    for (const key of keys()) {
      if (key.held === 0) continue
      if (now >= key.lostAt) {
        onUnconfirmed(key)
        continue
      }
      const list = byPartition.get(key.partition)
      if (list === undefined) byPartition.set(key.partition, [key])
      else list.push(key)
    }
    for (const [partition, list] of byPartition) {
      for (let i = 0; i < list.length; i += PERMIT_REQUEST_MAX)
        void this.#renew(partition, list.slice(i, i + PERMIT_REQUEST_MAX))
    }
    if (byPartition.size > 0) this.#start()
  }

  async #renew(partition: Partition, keys: readonly KeyPermits[]): Promise<void> {
    const { services, workerInstanceId, ttlMs, leaseTtlMs, onLapsed, onExcess } = this.#options
    const { batcher, runtime, health } = services
    const sentAt = runtime.monotonic()
    const sent = keys.map((key) => ({ key, generation: key.generation, quietAt: key.isQuiet ? key.changeCount : -1 }))
    for (const key of keys) {
      key.lowHeld = key.renewingCount === 0 ? key.held : Math.min(key.lowHeld, key.held)
      key.renewingCount += 1
    }
    try {
      const input = { workerInstanceId, ttlMs: Math.ceil(ttlMs), keys: keys.map(({ limit, key }) => ({ limit, key })) }
      const { result } = await batcher.run(partition, 'renewPermits', input)
      health.answered(partition)
      for (const [i, { key, generation, quietAt }] of sent.entries()) {
        const left = result.left[i] ?? 0
        if (key.generation !== generation || this.#isClosed) continue
        // A holding without permits is not renewed.
        if (left > 0) key.lostAt = Math.max(key.lostAt, sentAt + leaseTtlMs)
        const isExact = key.changeCount === quietAt
        if (left < key.lowHeld) onLapsed(key, left, isExact)
        else if (isExact && left > key.held) onExcess(key, left - key.held)
      }
    } catch (error) {
      // The next renewal is in time.
      health.failed(partition, error)
    } finally {
      for (const key of keys) key.renewingCount -= 1
    }
  }
}
