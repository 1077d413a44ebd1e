/**
 * Workers that do not connect to the store, in the list of workers. A worker registers, and again as its heartbeat. Its claims and renewals
 * extend the registration too, so a worker that reports work is never listed as lost. Registrations are advisory: none is needed to claim.
 */
import {
  CLAIM_QUEUE_COUNT_MAX,
  LEASE_TTL_DEFAULT_MS,
  NAME_BYTES,
  VERSION_MAX,
  WORKER_TASK_MAX,
} from '../../kernel/limits.ts'
import type { Instant, WorkerFacts } from '../../kernel/index.ts'
import { required, shape, wholeNumber } from '../../options/shape.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { checkLane, checkPlainText, checkTaskName, checkWorkerId, invalidInput } from '../checks/names.ts'
import { checkNeeds } from '../checks/needs.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { checkLeaseTtl, list } from './claim-options.ts'

export interface LeaseWorkerReport {
  /** Names the worker, which several processes may share. */
  readonly workerId: string
  readonly tasks: readonly { readonly name: string; readonly version?: number }[]
  /** `['default']` unless given. */
  readonly lanes?: readonly string[]
  readonly capabilities?: readonly string[]
  /** How many handlers it runs at once; 1 unless given. */
  readonly slots?: number
  /** How many handlers run now; 0 unless given. */
  readonly running?: number
  readonly host?: string
  readonly pid?: number
  /** The version of the program. */
  readonly version?: string
  /** How long the registration is valid: 90 seconds unless given. */
  readonly ttl?: Duration
  /** How long its leases are valid: 30 seconds unless given. */
  readonly leaseTtl?: Duration
  /** The worker finishes its work and claims nothing more. */
  readonly isDraining?: boolean
}

export interface LeaseRegistration {
  readonly kind: 'registered' | 'refreshed'
  readonly expiresAt: Instant
  /** Whether an operator asks the worker to finish its work and to stop. */
  readonly drain: boolean
}

/** Longer than the longest wait of a claim, which extends the registration at its beginning and its end. */
const TTL_DEFAULT_MS = 90_000
const TTL_MIN_MS = 5_000
const TTL_MAX_MS = 3_600_000
/** How often the claims and renewals of one worker extend its registration. */
const REFRESH_MS = 1_000
const KNOWN_MAX = 10_000
const SLOTS_MAX = 10_000
const PID_MAX = 2_147_483_647
/** A registration names its worker, so that a process which has forgotten everything else can extend and withdraw it. */
const BOOT = 'over http'

const report = shape<LeaseWorkerReport>()("{ workerId: 'mailer', tasks: [{ name: 'mail' }] }", {
  workerId: required(checkWorkerId),
  tasks: required(
    bounded(
      WORKER_TASK_MAX,
      list(
        shape<LeaseWorkerReport['tasks'][number]>()("{ name: 'mail' }", {
          name: required(checkTaskName),
          version: wholeNumber(1, VERSION_MAX),
        }),
      ),
    ),
  ),
  lanes: bounded(CLAIM_QUEUE_COUNT_MAX, list(checkLane)),
  capabilities: bounded(CLAIM_QUEUE_COUNT_MAX, checkNeeds),
  slots: wholeNumber(0, SLOTS_MAX),
  running: wholeNumber(0, SLOTS_MAX),
  host: checkName,
  pid: wholeNumber(0, PID_MAX),
  version: checkName,
  ttl: checkTtl,
  leaseTtl: checkLeaseTtl,
  isDraining: (value) => value === true,
})

export class LeaseWorkers {
  readonly #session: () => Session
  readonly #refreshes: Refreshes

  constructor(session: () => Session, refreshes: Refreshes) {
    this.#session = session
    this.#refreshes = refreshes
  }

  /** Registers a worker, or refreshes its registration. The name of its process is one that no other process has. */
  async register(instanceId: string, options: LeaseWorkerReport): Promise<LeaseRegistration> {
    const session = this.#session()
    const workerInstanceId = checkName(instanceId, 'instanceId')
    const { isDraining = false, ...given } = report(options)
    const facts = factsOf(given, session.within ?? session.namespace)
    const input = { workerInstanceId, bootId: BOOT, facts }
    const { kind, expiresAt, drain } = unwrap((await session.runIn(STORE_PARTITION, 'registerWorker', input)).result)
    if (isDraining) {
      const beat = { workerInstanceId, bootId: BOOT, runningCount: facts.runningCount, isDraining }
      await session.runIn(STORE_PARTITION, 'heartbeatWorker', beat)
    }
    this.#refreshes.note(session, workerInstanceId, drain)
    return { kind, expiresAt, drain }
  }

  /** Withdraws the registration of a worker that has stopped. A no-op if there is none. */
  async unregister(instanceId: string): Promise<'unregistered' | 'not_registered'> {
    const session = this.#session()
    const input = { workerInstanceId: checkName(instanceId, 'instanceId'), bootId: BOOT }
    const { kind } = unwrap((await session.runIn(STORE_PARTITION, 'unregisterWorker', input)).result)
    this.#refreshes.note(session, input.workerInstanceId, false)
    return kind
  }

  /**
   * Extends the registration of a worker that claims or renews, if it has one. Waits for nothing and never fails: the registry may be
   * missing or unreachable. Returns whether the worker was last asked to drain.
   */
  refresh(instanceId: string): boolean {
    return this.#refreshes.refresh(this.#session(), instanceId)
  }
}

interface Refresh {
  /** On the monotonic clock. */
  readonly at: number
  readonly drain: boolean
}

/** When registrations were extended last, by all clients of a store. */
export class Refreshes {
  readonly #known = new Map<string, Refresh>()

  refresh(session: Session, instanceId: string): boolean {
    const known = this.#known.get(keyOf(session, instanceId))
    const drain = known?.drain ?? false
    if (known !== undefined && session.runtime.monotonic() - known.at < REFRESH_MS) return drain
    this.note(session, instanceId, drain)
    void this.#extend(session, instanceId).catch(() => undefined)
    return drain
  }

  note(session: Session, instanceId: string, drain: boolean): void {
    const key = keyOf(session, instanceId)
    this.#known.delete(key)
    const [oldest] = this.#known.keys()
    if (this.#known.size >= KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(key, { at: session.runtime.monotonic(), drain })
  }

  async #extend(session: Session, instanceId: string): Promise<void> {
    const input = { workerInstanceId: instanceId, bootId: BOOT, isDraining: false, within: session.within }
    const { result } = await session.batcher.run(STORE_PARTITION, 'heartbeatWorker', input)
    // A caller of one namespace is refused the workers of another one.
    this.note(session, instanceId, result.kind === 'refreshed' && result.drain)
  }
}

function keyOf({ within = '' }: Session, instanceId: string): string {
  return `${within}\u001f${instanceId}`
}

function factsOf(given: Omit<ReturnType<typeof report>, 'isDraining'>, namespace: string): WorkerFacts {
  const { workerId, tasks, lanes = ['default'], capabilities = [], slots = 1, running = 0 } = given
  const { host = '', pid = 0, version = '', ttl = TTL_DEFAULT_MS, leaseTtl = LEASE_TTL_DEFAULT_MS } = given
  return {
    workerId,
    namespace,
    lanes,
    tasks: tasks.map(({ name, version: served }) => ({ name, version: served })),
    capabilities,
    slots,
    runningCount: running,
    host,
    pid,
    version,
    ttlMs: ttl,
    leaseTtlMs: leaseTtl,
  }
}

function checkTtl(value: unknown, field: string): number {
  const ms = parseDuration(value, field, TTL_MIN_MS)
  if (ms <= TTL_MAX_MS) return ms
  throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${TTL_MAX_MS} ms, which is an hour.`)
}

function checkName(value: unknown, field: string): string {
  return checkPlainText(value, field, NAME_BYTES)
}

function bounded<T>(maximum: number, check: (value: unknown, field: string) => readonly T[]) {
  return (value: unknown, field: string): readonly T[] => {
    const items = check(value, field)
    if (items.length <= maximum) return items
    throw invalidInput(field, `${field} has ${items.length} items, but may have at most ${maximum}.`)
  }
}
