/**
 * Runs the background work of a fabric: timers, retention and reconciliation. An engine may run in a worker's process or
 * in its own. Any number of engines may share a store: each operation re-checks its precondition, so work is done once. They
 * divide the partitions among them, so that ten engines read little more than one.
 */
import type { TenantFilter } from '../kernel/index.ts'
import type { Log, Runtime } from '../runtime/index.ts'
import type { Batcher } from '../stores/batcher.ts'
import type { Partition } from '../stores/store.ts'
import { invalidConfiguration, show } from '../options/invalid-input.ts'
import { shape } from '../options/shape.ts'
import { Duties } from './runner/duties.ts'
import { metricsRegistry } from '../runtime/metrics.ts'
import type { MetricsRegistry } from '../runtime/metrics.ts'
import { Runner } from './runner/runner.ts'
import type { RunnerStatus } from './runner/runner.ts'
import type { Scanner } from './runner/scanner.ts'
import { cancelReconciler } from './scanners/cancel-reconciler.ts'
import { dependencyReconciler } from './scanners/dependency-reconciler.ts'
import { due } from './scanners/due.ts'
import { edgeCancelReconciler } from './scanners/edge-cancel-reconciler.ts'
import { flowProjector } from './scanners/flow-projector.ts'
import { indexReconciler } from './scanners/index-reconciler.ts'
import { budgetReconciler } from './scanners/budget-reconciler.ts'
import { quotaReconciler } from './scanners/quota-reconciler.ts'
import { retentionTrimmer } from './scanners/retention-trimmer.ts'
import { unblock } from './scanners/unblock.ts'
import { excessTrimmer } from './scanners/excess-trimmer.ts'
import { laneCopier } from './scanners/lane-copier.ts'
import { workerSweep } from './scanners/worker-sweep.ts'
import { Supervisor } from './runner/supervisor.ts'

export type ScannerName =
  | 'due'
  | 'retention_trimmer'
  | 'index_reconciler'
  | 'dependency_reconciler'
  | 'edge_cancel_reconciler'
  | 'cancel_reconciler'
  | 'flow_projector'
  | 'worker_sweep'
  | 'lane_copier'
  | 'excess_trimmer'
  | 'quota_reconciler'
  | 'budget_reconciler'
  | 'unblock'

export const LEAST_INTERVAL_MS = 10
/** How long `close` waits for calls in flight. */
export const CLOSE_GRACE_MS = 15_000

export interface EngineOptions {
  readonly batcher: Batcher
  readonly runtime: Runtime
  readonly log: Log
  /** Restricts the engine to executions that match; all executions unless given. */
  readonly filter?: TenantFilter | undefined
  /** Overrides a scanner's interval between full passes, in milliseconds. Zero disables the scanner. */
  readonly intervals?: Readonly<Partial<Record<ScannerName, number | undefined>>> | undefined
  /** The registry for the scanners' metrics; a new one unless given. */
  readonly metrics?: MetricsRegistry | undefined
}

export type ScannerStatus =
  | { readonly kind: 'disabled'; readonly scanner: ScannerName }
  | ({
      readonly kind: 'enabled'
      readonly scanner: ScannerName
      readonly everyMs: number
      readonly restartCount: number
    } & RunnerStatus)

export interface Engine extends AsyncDisposable {
  readonly metrics: MetricsRegistry
  status(): ScannerStatus[]
  /**
   * Whether a partition is in the share of this engine, or this engine has no valid share.
   * @internal
   */
  holds(partition: Partition): boolean
  /** Stops all scanners and waits a bounded time for calls in flight. Returns the number of scanners still running. */
  close(): Promise<number>
}

/** Starts the background work immediately. The caller closes the engine before it closes the batcher. */
export function startEngine(options: EngineOptions): Engine {
  const { runtime, log, intervals = {}, metrics = metricsRegistry() } = options
  checkIntervals(intervals, 'intervals')
  const supervisor = new Supervisor(runtime, log, metrics)
  const filter = wholeFilter(options.filter)
  const common = { batcher: options.batcher, runtime, log, metrics }
  const duties = takesShare(filter, intervals)
    ? new Duties({ ...common, shortestMs: intervals.due ?? due.everyMs })
    : undefined
  const runnerOptions = { ...common, filter, duties }

  /** Starts one scanner and returns a function that reads its status. */
  const startScanner = <Cursor>(scanner: Scanner<ScannerName, Cursor>): (() => ScannerStatus) => {
    const everyMs = intervals[scanner.name] ?? scanner.everyMs
    if (everyMs === 0) return () => ({ kind: 'disabled', scanner: scanner.name })
    const runner = new Runner({ ...scanner, everyMs }, runnerOptions)
    supervisor.start(runner)
    return () => ({
      kind: 'enabled',
      scanner: scanner.name,
      everyMs,
      restartCount: supervisor.restartCount(scanner.name),
      ...runner.status(),
    })
  }
  const statuses = [
    startScanner(due),
    startScanner(retentionTrimmer),
    startScanner(indexReconciler),
    startScanner(dependencyReconciler),
    startScanner(edgeCancelReconciler),
    startScanner(cancelReconciler),
    startScanner(flowProjector),
    startScanner(workerSweep),
    startScanner(laneCopier),
    startScanner(excessTrimmer),
    startScanner(quotaReconciler),
    startScanner(budgetReconciler),
    startScanner(unblock),
  ]
  if (duties !== undefined) supervisor.start(duties)

  let closing: Promise<number> | undefined
  const close = () => (closing ??= stop(supervisor, log))
  return {
    metrics,
    status: () => statuses.map((status) => status()),
    holds: (partition) => duties?.holds(partition) ?? true,
    close,
    async [Symbol.asyncDispose]() {
      await close()
    },
  }
}

async function stop(supervisor: Supervisor, log: Log): Promise<number> {
  const unfinished = await supervisor.stop(CLOSE_GRACE_MS)
  if (unfinished > 0) log.warn({ unfinished, graceMs: CLOSE_GRACE_MS }, 'scanners did not stop within the grace period')
  return unfinished
}

/** An empty filter matches everything, so it is dropped. */
function wholeFilter(filter: TenantFilter | undefined): TenantFilter | undefined {
  return filter?.namespace === undefined && filter?.tag === undefined ? undefined : filter
}

/** Other engines rely on an engine with a share, so it examines everything there: all tenants, with all scanners. */
function takesShare(filter: TenantFilter | undefined, intervals: NonNullable<EngineOptions['intervals']>): boolean {
  return filter === undefined && !Object.values(intervals).includes(0)
}

const checkIntervals = shape<Record<ScannerName, number>>(invalidConfiguration)('{ due: 1_000 }', {
  due: checkInterval,
  retention_trimmer: checkInterval,
  index_reconciler: checkInterval,
  dependency_reconciler: checkInterval,
  edge_cancel_reconciler: checkInterval,
  cancel_reconciler: checkInterval,
  flow_projector: checkInterval,
  worker_sweep: checkInterval,
  lane_copier: checkInterval,
  excess_trimmer: checkInterval,
  quota_reconciler: checkInterval,
  budget_reconciler: checkInterval,
  unblock: checkInterval,
})

function checkInterval(everyMs: unknown, field: string): number {
  if (everyMs === 0 || (Number.isInteger(everyMs) && (everyMs as number) >= LEAST_INTERVAL_MS)) return everyMs as number
  const range = `neither 0 (off) nor a whole number of milliseconds from ${LEAST_INTERVAL_MS} on`
  throw invalidConfiguration(field, `${field}: ${show(everyMs)} is ${range}.`)
}
