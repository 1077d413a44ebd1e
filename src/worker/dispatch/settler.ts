/**
 * Reports the outcomes of attempts. Outcomes of one turn are reported together when the turn ends, so that their calls and the
 * next claim share a batch.
 */
import type { Verdict } from '../attempt/handler-outcome.ts'
import { settle } from '../attempt/report-outcome.ts'
import type { Settled, SettlementServices } from '../attempt/report-outcome.ts'
import type { Slots } from '../claim/slots.ts'
import type { HeldExecution } from '../lease/leased-execution.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { TurnEnd } from './turn-end.ts'

export interface SettlerServices extends SettlementServices {
  readonly keeper: LeaseKeeper
}

export class Settler {
  readonly #services: SettlerServices
  readonly #slots: Slots
  readonly #turnEnd: TurnEnd
  readonly #log: AttemptLog
  readonly counts = emptyCounts()
  #ended: { readonly held: HeldExecution; readonly verdict: Verdict }[] = []

  constructor(services: SettlerServices, slots: Slots, turnEnd: TurnEnd, log: AttemptLog) {
    this.#services = services
    this.#slots = slots
    this.#turnEnd = turnEnd
    this.#log = log
  }

  /** Queues the outcome of an attempt that holds no slot any more. */
  add(held: HeldExecution, verdict: Verdict): void {
    held.isSettling = true
    this.#slots.settlingCount += 1
    this.#ended.push({ held, verdict })
    this.#turnEnd.request()
  }

  /** Sends the queued outcomes. Runs at the end of a turn, before the claims that follow in the same batch. */
  flush(): void {
    const ended = this.#ended
    this.#ended = []
    for (const { held, verdict } of ended) {
      void this.#settle(held, verdict)
      // Members released by this completion are claimed in the same batch, after all outcomes of this turn.
      if (held.claimed.flowId !== undefined && verdict.kind === 'complete') {
        this.#services.claimer.lookAt(held.partition)
      }
    }
  }

  async #settle(held: HeldExecution, verdict: Verdict): Promise<void> {
    try {
      const settled = await settle(this.#services, held, verdict)
      this.counts[settled] += 1
      if (settled === 'lost') this.#log.lost(held)
    } catch (error) {
      this.counts.lost += 1
      // A lease lost meanwhile has been logged already; any other error is unexpected.
      if (held.refusal === undefined) this.#log.unreported(held, verdict, error)
    }
    this.#services.keeper.remove(held)
    this.#slots.settlingCount -= 1
    this.#turnEnd.request()
  }
}

function emptyCounts(): Record<Settled, number> {
  return {
    completed: 0,
    failed: 0,
    retry_scheduled: 0,
    postponed: 0,
    parked: 0,
    skipped: 0,
    cancelled: 0,
    released: 0,
    left: 0,
    lost: 0,
  }
}
