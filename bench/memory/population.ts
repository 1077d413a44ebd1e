/** What is asked of every system whose memory is measured: to bring a number of pieces of work into each state. */
import type { Server } from '../../test/servers/server.ts'

export interface Populator {
  /** Begins the names of its metrics. */
  readonly name: string
  readonly open: (server: Server) => Promise<Population>
}

/** Each step takes so many from the state before it. */
export interface Population extends AsyncDisposable {
  readonly create: (count: number) => Promise<void>
  readonly claim: (count: number) => Promise<void>
  readonly complete: (count: number) => Promise<void>
}

/** Longer than a measurement lasts, so that nothing changes its state by itself. */
export const HOLD_MS = 600_000
/** Calls on their way at once while a population grows. */
export const GROWING_IN_FLIGHT = 64
/** Stored as the result of every piece of work. */
export const RESULT = { ok: true }
