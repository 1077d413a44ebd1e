/** The options of a worker, and the settings that they are parsed into. */
import { hostname } from 'node:os'
import { parseDuration } from '../client/define/duration.ts'
import type { Duration } from '../client/define/duration.ts'
import { isFlow } from '../client/define/flow.ts'
import type { AnyFlow } from '../client/define/flow.ts'
import { checkNeeds } from '../client/checks/needs.ts'
import { canonicalList } from '../client/executions/canonical-needs.ts'
import { checkLane, checkList, checkWorkerId, invalidInput } from '../client/checks/names.ts'
import {
  LEASE_TTL_DEFAULT_MS,
  LEASE_TTL_MIN_MS,
  NAME_BYTES,
  REFUSAL_LIMIT_DEFAULT,
  REFUSING_BUILD_LIMIT_DEFAULT,
  REFUSING_BUILD_LIMIT_MAX,
  WORKER_TTL_DEFAULT_MS,
  WORKER_TTL_MIN_MS,
} from '../kernel/index.ts'
import type { InputRefusal } from '../kernel/index.ts'
import type { Log } from '../runtime/index.ts'
import { boolean, oneOf, shape, unchecked, wholeNumber } from '../options/shape.ts'
import type { Middleware } from './attempt/middleware.ts'
import { keptLevels } from './streams/log-writer.ts'
import type { KeptLevel } from './streams/log-writer.ts'

export interface WorkerOptions {
  /** How many handlers run at once. Default: 16. */
  readonly concurrency?: number
  /** How many executions are claimed ahead, so that a free slot does not wait for the store. Default: `concurrency`. */
  readonly prefetch?: number
  /** How long a prefetched execution may wait for a slot before it is released to other workers. Default: 1 s. */
  readonly prefetchHold?: Duration
  /** Flows that have conditions on nodes whose handlers this worker runs: it evaluates the conditions. */
  readonly flows?: readonly AnyFlow[]
  /** How long a lease lasts without a renewal, before other workers can take over. Default: 30 s; minimum: 1 s. */
  readonly leaseTtl?: Duration
  /**
   * How long the worker counts as live without a heartbeat. After that its executions run elsewhere. Default: 15 s; minimum: 1 s.
   */
  readonly livenessTtl?: Duration
  /** Lanes to serve, each with every handler. By default each handler serves the lane of its task. */
  readonly lanes?: readonly string[]
  /**
   * What this worker is capable of, such as `['gpu', 'region:eu']`. It claims only executions whose `needs` are all among them, and
   * executions without needs. Default: none.
   */
  readonly capabilities?: readonly string[]
  /** Identifies the worker in histories and events. Default: the host name and the process id, as in `host.4711`. */
  readonly workerId?: string
  /**
   * The build of this program, such as a commit id. Workers of one build refuse the same inputs. Default: none, and all workers
   * without one count as one build.
   */
  readonly build?: string
  /** When an execution fails because its input does not fit the schemas of the workers. */
  readonly refusals?: RefusalOptions
  /** How long running handlers may take to finish when the worker closes. Default: 30 s. */
  readonly drainTimeout?: Duration
  /** How long handlers may take after that to react to their aborted signal. Default: 5 s. */
  readonly killTimeout?: Duration
  /** How often the worker polls for work without a wake-up. Default: 1 s; minimum: 100 ms. */
  readonly sweep?: Duration
  /** Drain and close on SIGTERM and SIGINT; a second signal skips the drain. */
  readonly signals?: boolean
  /** Middleware around every handler, the outermost first. */
  readonly middleware?: readonly Middleware[]
  readonly log?: Log
  /**
   * The lines of `ctx.log` that are kept with their executions: those from this level on, or 'none'. Default: 'info'.
   */
  readonly keepLog?: KeptLevel
}

export interface RefusalOptions {
  /** After so many refusals. Default: 12, which takes about 18 minutes. */
  readonly limit?: number
  /** After refusals by so many builds. Default: 3; at most 16. */
  readonly builds?: number
}

export interface WorkerSettings {
  readonly concurrency: number
  readonly prefetch: number
  readonly prefetchHoldMs: number
  readonly leaseTtlMs: number
  readonly livenessTtlMs: number
  readonly lanes: readonly string[] | undefined
  readonly capabilities: readonly string[]
  readonly flows: readonly AnyFlow[]
  readonly workerId: string
  readonly refusal: InputRefusal
  readonly drainTimeoutMs: number
  readonly killTimeoutMs: number
  readonly sweepMs: number
  readonly keptLevel: KeptLevel
}

const CONCURRENCY_DEFAULT = 16
const CONCURRENCY_MAX = 10_000
const PREFETCH_HOLD_DEFAULT_MS = 1_000
const PREFETCH_HOLD_MIN_MS = 10
const LANE_COUNT_MAX = 256
const DRAIN_DEFAULT_MS = 30_000
const KILL_DEFAULT_MS = 5_000
const SWEEP_DEFAULT_MS = 1_000
const SWEEP_MIN_MS = 100
const UNNAMED_BUILD = 'unnamed'

const workerOptions = shape<WorkerOptions>()('{ concurrency: 16 }', {
  concurrency: wholeNumber(1, CONCURRENCY_MAX),
  prefetch: wholeNumber(0, CONCURRENCY_MAX),
  prefetchHold: (value, field) => parseDuration(value, field, PREFETCH_HOLD_MIN_MS),
  leaseTtl: (value, field) => parseDuration(value, field, LEASE_TTL_MIN_MS),
  livenessTtl: (value, field) => parseDuration(value, field, WORKER_TTL_MIN_MS),
  lanes: checkLanes,
  capabilities: (value, field) => canonicalList(checkNeeds(value, field), field),
  flows: checkFlows,
  workerId: checkWorkerId,
  build: checkWorkerId,
  refusals: shape<RefusalOptions>()('{ limit: 12, builds: 3 }', {
    limit: wholeNumber(1, CONCURRENCY_MAX),
    builds: wholeNumber(1, REFUSING_BUILD_LIMIT_MAX),
  }),
  drainTimeout: parseDuration,
  killTimeout: parseDuration,
  sweep: (value, field) => parseDuration(value, field, SWEEP_MIN_MS),
  signals: boolean,
  middleware: checkList,
  log: unchecked<Log>(),
  keepLog: oneOf(keptLevels),
})

export function parseWorkerOptions(options: WorkerOptions): WorkerSettings {
  const given = workerOptions(options)
  const { concurrency = CONCURRENCY_DEFAULT } = given
  return {
    concurrency,
    prefetch: given.prefetch ?? concurrency,
    prefetchHoldMs: given.prefetchHold ?? PREFETCH_HOLD_DEFAULT_MS,
    leaseTtlMs: given.leaseTtl ?? LEASE_TTL_DEFAULT_MS,
    livenessTtlMs: given.livenessTtl ?? WORKER_TTL_DEFAULT_MS,
    lanes: given.lanes,
    capabilities: given.capabilities ?? [],
    flows: given.flows ?? [],
    workerId: given.workerId ?? processName(),
    refusal: {
      build: given.build ?? UNNAMED_BUILD,
      countLimit: given.refusals?.limit ?? REFUSAL_LIMIT_DEFAULT,
      buildLimit: given.refusals?.builds ?? REFUSING_BUILD_LIMIT_DEFAULT,
    },
    drainTimeoutMs: given.drainTimeout ?? DRAIN_DEFAULT_MS,
    killTimeoutMs: given.killTimeout ?? KILL_DEFAULT_MS,
    sweepMs: given.sweep ?? SWEEP_DEFAULT_MS,
    keptLevel: given.keepLog ?? 'info',
  }
}

function checkLanes(lanes: unknown, field: string): readonly string[] {
  if (!Array.isArray(lanes) || lanes.length === 0 || lanes.length > LANE_COUNT_MAX) {
    throw invalidInput(field, `${field} must be a list of 1 to ${LANE_COUNT_MAX} names.`)
  }
  return [...new Set(lanes.map((lane: unknown) => checkLane(lane, field)))]
}

function checkFlows(flows: unknown, field: string): readonly AnyFlow[] {
  if (!Array.isArray(flows) || !flows.every(isFlow)) {
    throw invalidInput(field, `${field} must be a list of flows, as flow(…) returned them.`)
  }
  const names = flows.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw invalidInput(field, `${field} contains two flows of the name '${twice}'.`)
  return flows
}

/** Host and process: two processes on one host have different names, and so have two containers with the same process id. */
function processName(): string {
  const host = hostname().replaceAll(/[^\x21-\x7e]/g, '-')
  const id = `.${process.pid}`
  return `${(host === '' ? 'worker' : host).slice(0, NAME_BYTES - id.length)}${id}`
}
