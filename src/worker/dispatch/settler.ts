/**
 * Reports the outcomes of attempts. Outcomes of one turn are reported together when the turn ends, so that their calls and the
 * next claim share a batch.
 */
import type { Partition } from '../../stores/store.ts'
import type { HandlerOutcome } from '../attempt/handler-outcome.ts'
import { reportOutcome } from '../attempt/report-outcome.ts'
import type { ReportServices, Settled } from '../attempt/report-outcome.ts'
import type { Slots } from '../claim/slots.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { Permits } from '../permits/permits.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { AttemptMeter } from './attempt-meter.ts'
import type { TurnEnd } from './turn-end.ts'

export interface SettlerServices extends ReportServices {
  readonly keeper: LeaseKeeper
  readonly permits: Permits
}

export class Settler {
  readonly #services: SettlerServices
  readonly #slots: Slots
  readonly #turnEnd: TurnEnd
  readonly #log: AttemptLog
  readonly #meter: AttemptMeter
  readonly counts = emptyCounts()
  #ended: { readonly leased: LeasedExecution; readonly outcome: HandlerOutcome }[] = []

  constructor(services: SettlerServices, slots: Slots, turnEnd: TurnEnd, log: AttemptLog, meter: AttemptMeter) {
    this.#services = services
    this.#slots = slots
    this.#turnEnd = turnEnd
    this.#log = log
    this.#meter = meter
  }

  /** Queues the outcome of an attempt that holds no slot any more. */
  add(leased: LeasedExecution, outcome: HandlerOutcome): void {
    leased.isSettling = true
    this.#slots.settlingCount += 1
    this.#ended.push({ leased, outcome })
    this.#turnEnd.request()
  }

  /**
   * Sends the queued outcomes and counts them by partition. Runs at the end of a turn, before the claims that follow in the
   * same batch.
   */
  flush(): ReadonlyMap<Partition, number> {
    const ended = this.#ended
    this.#ended = []
    const reported = new Map<Partition, number>()
    for (const { leased, outcome } of ended) {
      void this.#settle(leased, outcome)
      reported.set(leased.partition, (reported.get(leased.partition) ?? 0) + 1)
      // Members released by this completion are claimed in the same batch, after all outcomes of this turn.
      if (leased.claimed.flowId !== undefined && (outcome.kind === 'complete' || outcome.kind === 'skip')) {
        this.#services.claimer.sweepPartition(leased.partition)
      }
    }
    return reported
  }

  async #settle(leased: LeasedExecution, outcome: HandlerOutcome): Promise<void> {
    // In the batch of the report.
    const lines = leased.lines?.finish()
    try {
      const settled = await reportOutcome(this.#services, leased, outcome)
      this.counts[settled] += 1
      this.#meter.ended(leased, settled)
      if (outcome.kind === 'block' && settled !== 'lost')
        this.#services.permits.noteRefused(outcome.refusal, leased.partition)
      if (settled === 'lost') this.#log.lost(leased)
      else if (outcome.kind === 'refuse') this.#log.unfit(leased, outcome.reason)
    } catch (error) {
      this.counts.lost += 1
      this.#meter.ended(leased, 'lost')
      // A lease lost meanwhile has been logged already; any other error is unexpected.
      if (leased.refusal === undefined) this.#log.unreported(leased, outcome, error)
    }
    if (lines !== undefined) await lines
    this.#services.keeper.remove(leased)
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
    blocked: 0,
    left: 0,
    lost: 0,
  }
}
