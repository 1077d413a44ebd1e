/** What a worker can be told, and what that comes to once it is checked. */
import { hostname } from 'node:os'
import { parseDuration } from '../client/define/duration.ts'
import type { Duration } from '../client/define/duration.ts'
import { checkLane, checkOptions, checkWorkerId, invalidInput, show } from '../client/checks/names.ts'
import { LEASE_TTL_DEFAULT_MS, LEASE_TTL_MIN_MS, NAME_BYTES } from '../kernel/index.ts'
import type { Log } from '../runtime/index.ts'
import type { Middleware } from './attempt/middleware.ts'

export interface WorkerOptions {
  /** How many handlers run at once. 16 unless given. */
  readonly concurrency?: number
  /** How many executions are claimed ahead, so that a free slot does not wait for the store. As many as `concurrency` unless given. */
  readonly prefetch?: number
  /** How long an execution that was claimed ahead may wait for a slot before it is handed back to others. 1 s unless given. */
  readonly prefetchHold?: Duration
  /** How long others wait before they take over from a worker that went silent. 30 s unless given, at least 1 s. */
  readonly leaseTtl?: Duration
  /** Lanes to serve, each with every handler. Without them each handler serves its task's own lane. */
  readonly lanes?: readonly string[]
  /** Who this is, in histories and events. The machine's name unless given. */
  readonly workerId?: string
  /** How long running handlers are given to finish when the worker closes. 30 s unless given. */
  readonly drainTimeout?: Duration
  /** How long handlers are given after that to obey their aborted signal. 5 s unless given. */
  readonly killTimeout?: Duration
  /** How often the worker looks for work without having been woken. 1 s unless given, at least 100 ms. */
  readonly sweep?: Duration
  /** Drain and close on SIGTERM and SIGINT; a second one skips the draining. */
  readonly signals?: boolean
  /** What stands around every handler, the outermost first. */
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
