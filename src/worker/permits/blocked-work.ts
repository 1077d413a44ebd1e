/** What the worker knows of work that limits block: of which keys, in which partitions, and when there may be permits for it. */
import type { NextRoom } from '../../kernel/index.ts'
import type { KeyPermits } from './key-permits.ts'

/** Keys that are remembered. What is forgotten is released by its gates. */
const KEY_MAX = 1_000

export interface BlockedKey {
  readonly key: KeyPermits
  /** Numbers of the execution partitions with blocked work. The first one is claimed from next. */
  readonly partitions: Set<number>
  /** Partitions that the limit does not know to be waiting. */
  readonly unregistered: Set<number>
  /** The weight of the work; undefined if it differs. */
  weight: number | undefined
  /** The weight of the work that comes next: what was refused, or else admitted, last. */
  nextWeight: number
  /** When to ask for permits, on the monotonic clock. */
  nextAt: number
  /** How many there may be then. */
  permits: number
  isAsking: boolean
  /** When permits were asked for last. */
  askedAt: number
}

export class BlockedWork implements Iterable<BlockedKey> {
  readonly #keys = new Map<KeyPermits, BlockedKey>();

  [Symbol.iterator](): Iterator<BlockedKey> {
    return this.#keys.values()
  }

  get(key: KeyPermits): BlockedKey | undefined {
    return this.#keys.get(key)
  }

  /** Notes that work of a key is blocked in a partition. */
  add(key: KeyPermits, partition: number): BlockedKey {
    let blocked = this.#keys.get(key)
    if (blocked === undefined) {
      const [oldest] = this.#keys.keys()
      if (this.#keys.size >= KEY_MAX && oldest !== undefined) this.#keys.delete(oldest)
      blocked = {
        key,
        partitions: new Set(),
        unregistered: new Set(),
        weight: key.weight,
        nextWeight: key.weight,
        nextAt: Infinity,
        permits: 1,
        isAsking: false,
        askedAt: -Infinity,
      }
      this.#keys.set(key, blocked)
    }
    blocked.partitions.add(partition)
    blocked.unregistered.add(partition)
    if (blocked.weight === 0) blocked.weight = key.weight
    if (blocked.weight !== key.weight) blocked.weight = undefined
    return blocked
  }

  /** Notes that a partition has no more blocked work that this worker could take. */
  remove(key: KeyPermits, partition: number): void {
    const blocked = this.#keys.get(key)
    if (blocked === undefined) return
    blocked.partitions.delete(partition)
    blocked.unregistered.delete(partition)
    if (blocked.partitions.size === 0) this.#keys.delete(key)
  }

  /** Notes when there may be permits. */
  expect(key: KeyPermits, next: NextRoom | undefined, now: number): void {
    const blocked = this.#keys.get(key)
    if (blocked === undefined) return
    blocked.nextAt = next === undefined ? Infinity : now + next.afterMs
    blocked.permits = next?.permits ?? 1
  }

  /** When permits are to be asked for next. */
  get nextAt(): number {
    let first = Infinity
    for (const { nextAt, isAsking, weight } of this)
      if (!isAsking && weight !== undefined) first = Math.min(first, nextAt)
    return first
  }

  /** Returns the partition to claim from, and moves on to the next one. */
  static nextPartition({ partitions }: BlockedKey): number | undefined {
    const [first] = partitions
    if (first === undefined) return undefined
    partitions.delete(first)
    partitions.add(first)
    return first
  }
}
