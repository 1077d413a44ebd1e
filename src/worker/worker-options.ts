/** The options of a worker, and the settings that they are parsed into. */
import { hostname } from 'node:os'
import { parseDuration } from '../client/define/duration.ts'
import type { Duration } from '../client/define/duration.ts'
import { checkLane, checkOptions, checkWorkerId, invalidInput, show } from '../client/checks/names.ts'
import { LEASE_TTL_DEFAULT_MS, LEASE_TTL_MIN_MS, NAME_BYTES } from '../kernel/index.ts'
import type { Log } from '../runtime/index.ts'
import type { Middleware } from './attempt/middleware.ts'

export interface WorkerOptions {
  /** How many handlers run at once. Default: 16. */
  readonly concurrency?: number
  /** How many executions are claimed ahead, so that a free slot does not wait for the store. Default: `concurrency`. */
  readonly prefetch?: number
  /** How long a prefetched execution may wait for a slot before it is released to other workers. Default: 1 s. */
  readonly prefetchHold?: Duration
  /** How long a lease lasts without a renewal, before other workers can take over. Default: 30 s; minimum: 1 s. */
  readonly leaseTtl?: Duration
  /** Lanes to serve, each with every handler. By default each handler serves the lane of its task. */
  readonly lanes?: readonly string[]
  /** Identifies the worker in histories and events. Default: the host name. */
  readonly workerId?: string
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
}

const WORKER_OPTION_KEYS = [
  'concurrency',
  'prefetch',
  'prefetchHold',
  'leaseTtl',
  'lanes',
  'workerId',
  'drainTimeout',
  'killTimeout',
  'sweep',
  'signals',
  'middleware',
  'log',
] as const satisfies readonly (keyof WorkerOptions)[]

export interface WorkerSettings {
  readonly concurrency: number
  readonly prefetch: number
  readonly prefetchHoldMs: number
  readonly leaseTtlMs: number
  readonly lanes: readonly string[] | undefined
  readonly workerId: string
  readonly drainTimeoutMs: number
  readonly killTimeoutMs: number
  readonly sweepMs: number
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

export function parseWorkerOptions(options: WorkerOptions): WorkerSettings {
  checkOptions(options, WORKER_OPTION_KEYS, '{ concurrency: 16 }')
  const concurrency = checkCount(options.concurrency ?? CONCURRENCY_DEFAULT, 'concurrency', 1)
  return {
    concurrency,
    prefetch: checkCount(options.prefetch ?? concurrency, 'prefetch', 0),
    prefetchHoldMs: parseDuration(
      options.prefetchHold ?? PREFETCH_HOLD_DEFAULT_MS,
      'prefetchHold',
      PREFETCH_HOLD_MIN_MS,
    ),
    leaseTtlMs: parseDuration(options.leaseTtl ?? LEASE_TTL_DEFAULT_MS, 'leaseTtl', LEASE_TTL_MIN_MS),
    lanes: options.lanes === undefined ? undefined : checkLanes(options.lanes),
    workerId: checkWorkerId(options.workerId ?? machineName()),
    drainTimeoutMs: parseDuration(options.drainTimeout ?? DRAIN_DEFAULT_MS, 'drainTimeout'),
    killTimeoutMs: parseDuration(options.killTimeout ?? KILL_DEFAULT_MS, 'killTimeout'),
    sweepMs: parseDuration(options.sweep ?? SWEEP_DEFAULT_MS, 'sweep', SWEEP_MIN_MS),
  }
}

function checkCount(value: unknown, field: string, minimum: number): number {
  if (Number.isInteger(value) && (value as number) >= minimum && (value as number) <= CONCURRENCY_MAX)
    return value as number
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but must be a whole number from ${minimum} to ${CONCURRENCY_MAX}.`,
  )
}

function checkLanes(lanes: readonly string[]): readonly string[] {
  if (!Array.isArray(lanes) || lanes.length === 0 || lanes.length > LANE_COUNT_MAX) {
    throw invalidInput('lanes', `lanes must be a list of 1 to ${LANE_COUNT_MAX} names.`)
  }
  return [...new Set(lanes.map((lane: unknown) => checkLane(lane, 'lanes')))]
}

function machineName(): string {
  const name = hostname()
    .replaceAll(/[^\x21-\x7e]/g, '-')
    .slice(0, NAME_BYTES)
  return name === '' ? 'worker' : name
}
