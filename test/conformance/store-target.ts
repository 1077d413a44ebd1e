/** What a store has to offer so that the suites can run on it. */
import type { AnyRecord, RecordType } from '../../src/kernel/index.ts'
import type { Runtime } from '../../src/runtime/index.ts'
import type { Partition, Store } from '../../src/stores/store.ts'
import type { Damage, Heal } from './damage.ts'

export interface OpenedTarget {
  readonly store: Store
  /** Stores a record with its index entries, as it would come about through operations of other parts of the engine. */
  readonly plant: (partition: Partition, record: AnyRecord) => Promise<void>
  /** Sets or removes an index entry, whatever its record says. */
  readonly setEntry: (partition: Partition, index: string, id: string, score: number | undefined) => Promise<void>
  /** Damages a stored record. Undefined if nobody but the store can reach its records. */
  readonly damage: ((partition: Partition, type: RecordType, id: string, damage: Damage) => Promise<Heal>) | undefined
  /** Returns once wake-ups of every partition reach the store's listeners. */
  readonly untilListening: () => Promise<void>
  /** Forgets what the store holds, if holding much would slow it down. */
  readonly clear: () => Promise<void>
  /** Removes whatever the store left behind. Called after the store was closed. */
  readonly remove: () => Promise<void>
}

export interface StoreTarget {
  readonly name: string
  readonly open: (runtime: Runtime, indexedTags: readonly string[]) => Promise<OpenedTarget>
  /** The same without conflicts that nothing caused, if this one has such. */
  readonly steady?: StoreTarget | undefined
}
