/** What a store has to offer so that the suites can run on it. */
import type { AnyRecord, RecordType } from '../../src/kernel/index.ts'
import type { Runtime, VirtualRuntime } from '../../src/runtime/index.ts'
import type { Partition, Store } from '../../src/stores/store.ts'
import type { Damage, Heal } from './damage.ts'

export interface OpenedTarget {
  readonly store: Store
  /** Stores a record with its index entries, as it would come about through operations of other parts of the engine. */
  readonly plant: (partition: Partition, record: AnyRecord) => Promise<void>
  /** Sets or removes an index entry, regardless of its record. */
  readonly setEntry: (partition: Partition, index: string, id: string, score: number | undefined) => Promise<void>
  /** Damages a stored record. Undefined if no other program can reach the records. */
  readonly damage: ((partition: Partition, type: RecordType, id: string, damage: Damage) => Promise<Heal>) | undefined
  /** Returns once wake-ups of every partition reach the store's listeners. */
  readonly untilListening: () => Promise<void>
  /** Forgets what the store holds. One that keeps it in memory may keep it there. */
  readonly clear: () => Promise<void>
  /** Removes whatever the store left behind. Called after the store was closed. */
  readonly remove: () => Promise<void>
}

/** An empty store that one test after another uses. */
export interface LentTarget {
  readonly runtime: VirtualRuntime
  readonly target: OpenedTarget
  readonly giveBack: () => Promise<void>
}

export interface StoreTarget {
  readonly name: string
  /** Opens a store, or lends one that is open already, where opening takes longer than most tests do. */
  readonly lend?: (indexedTags: readonly string[]) => Promise<LentTarget>
  readonly open: (runtime: Runtime, indexedTags: readonly string[]) => Promise<OpenedTarget>
  /** The same without conflicts that nothing caused, if this one has such. */
  readonly steady?: StoreTarget | undefined
}
