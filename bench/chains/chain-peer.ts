/**
 * What the chain scenario asks of every system: to run links one after the other, each of which is given what the link
 * before it answered and answers one more. The first link is given the number of its chain.
 */
import type { StorePlace } from '../bench-store.ts'
import type { Settings } from '../measurement.ts'

export interface ChainPeer {
  /** Begins the names of its metrics. */
  readonly name: string
  /** How it is used here, where there was a choice. */
  readonly settings: Settings
  /** Connects to an unused place, with a worker that waits for chains. */
  readonly open: (place: StorePlace, order: ChainOrder) => Promise<ChainSession>
}

export interface ChainOrder {
  /** How many links a chain has. */
  readonly length: number
  /** How many links may run at once. */
  readonly concurrency: number
  /** How many may be claimed beyond those, so that a free handler does not wait for the store. */
  readonly prefetch: number
}

export interface ChainSession extends AsyncDisposable {
  /** From the submit until the store has acknowledged the end of the last link; what that link answered. */
  readonly run: (number: number) => Promise<number>
  /** How many links are completed by what the store keeps of them. */
  readonly completedLinkCount: () => Promise<number>
}
