/** What a worker that does not connect to the store asks for. */
import {
  CLAIM_COUNT_MAX,
  CLAIM_QUEUE_COUNT_MAX,
  LEASE_TTL_DEFAULT_MS,
  LEASE_TTL_MIN_MS,
  fairClass,
} from '../../kernel/index.ts'
import type { QueueName } from '../../kernel/index.ts'
import { VERSION_MAX } from '../../kernel/limits.ts'
import { oneOf, required, shape, wholeNumber } from '../../options/shape.ts'
import {
  checkGivenName,
  checkLane,
  checkList,
  checkSignal,
  checkTaskName,
  checkWorkerId,
  invalidInput,
} from '../checks/names.ts'
import { checkNeeds } from '../checks/needs.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import { canonicalList, classWithNeeds } from '../executions/canonical-needs.ts'

export interface ClaimedTask {
  readonly name: string
  readonly version?: number
  /** Claims executions that need exactly this. Those that need nothing are claimed in any case. */
  readonly needs?: readonly string[]
}

/** To evaluate the conditions of flows, and to run compensations. */
export type LeaseAbility = 'conditions' | 'undo'

export interface ClaimOptions {
  readonly tasks: readonly ClaimedTask[]
  /** `['default']` unless given. */
  readonly lanes?: readonly string[]
  /** At most this many; 1 unless given. */
  readonly count?: number
  /** What the worker can do besides running a handler. Work that needs more is left to others. */
  readonly takes?: readonly LeaseAbility[]
  /** How long the leases are valid unless they are renewed: 30 seconds unless given. */
  readonly leaseTtl?: Duration
  /** How long to wait if nothing is ready. Not at all unless given. */
  readonly wait?: Duration
  /** Names the worker in attempts and events. */
  readonly workerId: string
  /** Names its process. */
  readonly instanceId: string
  readonly signal?: AbortSignal
}

const LEASE_TTL_MAX_MS = 3_600_000

const claimedTask = shape<ClaimedTask>()("{ name: 'mail' }", {
  name: required(checkTaskName),
  version: wholeNumber(1, VERSION_MAX),
  needs: checkNeeds,
})

const claimOptions = shape<ClaimOptions>()(
  "{ tasks: [{ name: 'mail' }], workerId: 'mailer', instanceId: 'mailer-1' }",
  {
    tasks: required(list(claimedTask)),
    lanes: list(checkLane),
    count: wholeNumber(1, CLAIM_COUNT_MAX),
    takes: list(oneOf<LeaseAbility>(['conditions', 'undo'])),
    leaseTtl: checkLeaseTtl,
    wait: parseDuration,
    workerId: required(checkWorkerId),
    instanceId: required(checkGivenName),
    signal: checkSignal,
  },
)

export type ParsedClaim = ReturnType<typeof parseClaim>

export function parseClaim(options: ClaimOptions, namespace: string) {
  const { tasks, lanes = ['default'], leaseTtl = LEASE_TTL_DEFAULT_MS, ...rest } = claimOptions(options)
  return { ...rest, leaseTtlMs: leaseTtl, queues: queuesOf(tasks, lanes, namespace) }
}

export function checkLeaseTtl(value: unknown, field: string): number {
  const ms = parseDuration(value, field, LEASE_TTL_MIN_MS)
  if (ms <= LEASE_TTL_MAX_MS) return ms
  throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${LEASE_TTL_MAX_MS} ms, which is an hour.`)
}

/** Each task has a queue without needs and one with its own, and each of them another one for executions that take turns. */
function queuesOf(
  tasks: readonly ReturnType<typeof claimedTask>[],
  lanes: readonly string[],
  namespace: string,
): QueueName[] {
  const classes = tasks.flatMap(({ name, version, needs = [] }) => {
    const task = { name, version }
    const plain = classWithNeeds(task, namespace, [])
    const own = classWithNeeds(task, namespace, canonicalList(needs, 'needs'))
    return own === plain ? [plain, fairClass(plain)] : [plain, fairClass(plain), own, fairClass(own)]
  })
  const distinct = [...new Set(classes)]
  const queues = lanes.flatMap((lane) => distinct.map((className) => ({ lane, class: className })))
  if (queues.length > 0 && queues.length <= CLAIM_QUEUE_COUNT_MAX) return queues
  throw invalidInput(
    'tasks',
    `tasks and lanes make ${queues.length} queues, but one claim has 1 to ${CLAIM_QUEUE_COUNT_MAX}: name fewer of them, or claim in turns.`,
  )
}

export function list<T>(check: (value: unknown, field: string) => T): (value: unknown, field: string) => readonly T[] {
  return (value, field) => {
    checkList(value, field)
    return value.map((each, i) => check(each, `${field}[${i}]`))
  }
}
