/**
 * Bounds how much a scanner examines in one pass over a partition. A scanner with a rate walks a partition in many passes. While
 * it finds something, and until its first walk over the partition is over, it takes its whole rate; after a walk that has found
 * nothing, a small part of it, so that a store of any size is idle when nothing happens.
 */
import type { Partition } from '../../stores/store.ts'
import type { PartitionPass } from './partition-pass.ts'
import { SOUND_PARTITION_SHARE } from './scanner.ts'
import type { Scanner } from './scanner.ts'

type Rate = Pick<Scanner, 'everyMs' | 'examinedPerPass' | 'examinedPerSecond'>
type Found = Pick<PartitionPass<unknown>, 'processed' | 'errors' | 'failure' | 'next'>

export class WalkPace {
  readonly #examinedPerPass: number
  readonly #examinedPerSoundPass: number
  /** Partitions whose latest walk has found nothing. */
  readonly #sound = new Set<Partition>()
  /** Partitions in which the present walk has found something. */
  readonly #unsound = new Set<Partition>()

  constructor({ everyMs, examinedPerPass, examinedPerSecond }: Rate, partitionCount: number) {
    const perPass = (examinedPerSecond * everyMs) / 1_000 / partitionCount
    this.#examinedPerPass = Math.min(examinedPerPass, atLeastOne(perPass))
    this.#examinedPerSoundPass = Math.min(examinedPerPass, atLeastOne(perPass * SOUND_PARTITION_SHARE))
  }

  /** A pass takes one step at least. */
  examinedMax(partition: Partition): number {
    return this.#sound.has(partition) ? this.#examinedPerSoundPass : this.#examinedPerPass
  }

  add(partition: Partition, { processed, errors, failure, next }: Found): void {
    if (processed > 0 || errors > 0 || failure !== undefined) {
      this.#sound.delete(partition)
      this.#unsound.add(partition)
    }
    if (next !== undefined) return
    if (!this.#unsound.delete(partition)) this.#sound.add(partition)
  }
}

function atLeastOne(count: number): number {
  return Math.max(1, count)
}
