/** What the scenarios ask of every system that they measure, so that each is put through exactly the same. */
import type { StorePlace } from '../bench-store.ts'
import type { Settings } from '../measurement.ts'
import type { Load } from '../workload.ts'

export interface Peer {
  /** Begins the names of its metrics. */
  readonly name: string
  /** How it is used here, as far as somebody could have chosen otherwise. */
  readonly settings: Settings
  /** Connects to a place that nobody has used yet. */
  readonly open: (place: StorePlace) => Promise<PeerSession>
}

export interface PeerSession extends AsyncDisposable {
  /** Resolves when the store has acknowledged the work. */
  readonly submit: (load: Load) => Promise<unknown>
  /** Makes a worker ready that has not asked for work yet. Its handlers do nothing but say that they began. */
  readonly prepareWorker: (order: WorkOrder) => Promise<PreparedWorker>
  /** How many the store says are completed, finished ones being kept. */
  readonly completedCount: () => Promise<number>
}

export interface WorkOrder {
  /** How many pieces of work there will be. */
  readonly count: number
  /** How many handlers may run at once. */
  readonly concurrency: number
  /** Called on the first line of each handler. */
  readonly onStart: (number: number) => void
}

export interface PreparedWorker {
  /** Begins to work; resolves when the store has acknowledged the results of all there was to do. */
  readonly start: () => Promise<void>
}
