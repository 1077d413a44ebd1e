/** Measures the attempts of a worker. */
import type { Metrics, Runtime } from '../../runtime/index.ts'
import type { Settled } from '../attempt/report-outcome.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { attemptSeconds, attemptsEnded, attemptsStarted, leasesLost, startLatency } from '../metrics/worker-metrics.ts'

export class AttemptMeter {
  readonly #metrics: Metrics
  readonly #runtime: Runtime

  constructor(metrics: Metrics, runtime: Runtime) {
    this.#metrics = metrics
    this.#runtime = runtime
  }

  started(leased: LeasedExecution): void {
    const { task, lane, readyForMs } = leased.claimed
    this.#metrics.add(attemptsStarted, { task, lane })
    if (readyForMs === undefined) return
    const sinceClaimMs = this.#runtime.monotonic() - leased.claimedAt
    this.#metrics.observe(startLatency, { lane }, (readyForMs + sinceClaimMs) / 1_000)
  }

  /** The handler has returned or thrown, or waits. */
  stopped(leased: LeasedExecution): void {
    if (leased.startedAt === undefined) return
    const ms = this.#runtime.monotonic() - leased.startedAt
    this.#metrics.observe(attemptSeconds, { task: leased.claimed.task }, ms / 1_000)
  }

  /** An execution that was given back before its handler started is no attempt. */
  ended({ claimed: { task, lane }, isStarted }: LeasedExecution, outcome: Settled): void {
    if (isStarted) this.#metrics.add(attemptsEnded, { task, lane, outcome })
  }

  lost({ refusal }: LeasedExecution): void {
    this.#metrics.add(leasesLost, { code: refusal?.code ?? 'unexpected' })
  }
}
