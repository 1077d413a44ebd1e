/** What the scenarios ask of every system that they measure, so that each is put through exactly the same. */
import type { StorePlace } from '../bench-store.ts'
import type { Settings } from '../measurement.ts'
import type { Load } from '../workload.ts'

export interface Peer {
  /** Begins the names of its metrics. */
  readonly name: string
  /** How it is used here, where there was a choice. */
  readonly settings: Settings
  /** Connects to an unused place. */
  readonly open: (place: StorePlace) => Promise<PeerSession>
}

export interface PeerSession extends AsyncDisposable {
  /** Resolves when the store has acknowledged the work. */
  readonly submit: (load: Load) => Promise<unknown>
  /** Makes a worker ready that has not asked for work yet. Its handlers do nothing but report their start. */
  readonly prepareWorker: (order: WorkOrder) => Promise<PreparedWorker>
  /** How many are completed by what the store keeps of them; of what cannot be kept, how many are gone. */
  readonly completedCount: () => Promise<number>
}

export interface WorkOrder {
  /** How many pieces of work there will be. */
  readonly count: number
  /** How many handlers may run at once. */
  readonly concurrency: number
  /** How many may be claimed beyond those, so that a free handler does not wait for the store. */
  readonly prefetch: number
  /** Called on the first line of each handler. */
  readonly onStart: (number: number) => void
}

export interface PreparedWorker {
  /** Begins to work; resolves when the store has acknowledged the results of all there was to do. */
  readonly start: () => Promise<void>
}
