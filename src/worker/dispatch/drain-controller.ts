/** Ends the work of a worker in stages: no more claims, then aborted handlers, then executions abandoned to lease expiry. */
import { EngineError } from '../../kernel/engine-error.ts'
import type { Claimer } from '../claim/claimer.ts'
import type { Slots } from '../claim/slots.ts'
import type { Permits } from '../permits/permits.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { TurnEnd } from './turn-end.ts'

export interface DrainParts {
  readonly claimer: Claimer
  readonly dispatcher: Dispatcher
  readonly keeper: LeaseKeeper
  readonly permits: Permits
  readonly slots: Slots
  readonly turnEnd: TurnEnd
}

export class DrainController {
  readonly #parts: DrainParts
  #onIdle: (() => void) | undefined

  constructor(parts: DrainParts) {
    this.#parts = parts
  }

  /** Whether no execution is leased and no claim is pending. */
  get isIdle(): boolean {
    const { slots, claimer } = this.#parts
    const { runningCount, waitingCount, admittingCount, settlingCount } = slots
    return runningCount + waitingCount + admittingCount + settlingCount + claimer.pendingCount === 0
  }

  /** Claims nothing more, and releases the executions that have not started. */
  begin(): void {
    this.#parts.claimer.close()
    this.#parts.permits.stop()
    this.#parts.dispatcher.drain()
  }

  /** Aborts the signals of all running handlers. */
  abortRunning(): void {
    for (const leased of this.#parts.keeper)
      leased.abort(new EngineError('worker_stopping', { executionId: leased.id }))
  }

  /** Calls back at the end of the turn in which the worker becomes idle. */
  onceIdle(callback: () => void): void {
    this.#onIdle = callback
    this.#parts.turnEnd.request()
  }

  /** Runs at the end of a turn. */
  checkIdle(): void {
    if (this.#onIdle === undefined || !this.isIdle) return
    this.#onIdle()
    this.#onIdle = undefined
  }

  /** Drops all executions at once; they stay leased until their leases expire. Returns how many there were. */
  abandon(): number {
    const { claimer, dispatcher, keeper, slots } = this.#parts
    claimer.abandon()
    dispatcher.abandon()
    for (const leased of keeper) leased.refuse(new EngineError('worker_stopping', { executionId: leased.id }))
    keeper.close()
    return slots.runningCount + slots.settlingCount
  }
}
