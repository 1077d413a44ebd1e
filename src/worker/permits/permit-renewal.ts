/** Renews the permits of a worker, as its leases. Permits that were not renewed in time count as lost, like a lease. */
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
  /** The store counts fewer permits than the worker holds: `left` of them. */
  readonly onLapsed: (key: KeyPermits, left: number) => void
  /** The last renewal is so long ago that the permits may have lapsed. */
  readonly onUnconfirmed: (key: KeyPermits) => void
}

export class PermitRenewal {
  readonly #options: RenewalOptions
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: RenewalOptions) {
    this.#options = options
  }

  /** Renews once per interval while any permit is held. */
  start(): void {
    if (this.#timer !== undefined || this.#isClosed) return
    const { services, leaseTtlMs } = this.#options
    this.#timer = services.runtime.after(leaseTtlMs / RENEWALS_PER_TTL, () => this.#renewAll(), { background: true })
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
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
    if (byPartition.size > 0) this.start()
  }

  async #renew(partition: Partition, keys: readonly KeyPermits[]): Promise<void> {
    const { services, workerInstanceId, ttlMs, leaseTtlMs, onLapsed } = this.#options
    const { batcher, runtime, health } = services
    const sentAt = runtime.monotonic()
    for (const key of keys) key.lowHeld = key.held
    const generations = keys.map(({ generation }) => generation)
    try {
      const input = { workerInstanceId, ttlMs: Math.ceil(ttlMs), keys: keys.map(({ limit, key }) => ({ limit, key })) }
      const { result } = await batcher.run(partition, 'renewPermits', input)
      health.answered(partition)
      for (const [i, key] of keys.entries()) {
        const left = result.left[i] ?? 0
        if (key.generation !== generations[i] || this.#isClosed) continue
        if (left < key.lowHeld) onLapsed(key, left)
        else key.lostAt = Math.max(key.lostAt, sentAt + leaseTtlMs)
      }
    } catch (error) {
      // The next renewal is in time.
      health.failed(partition, error)
    }
  }
}
