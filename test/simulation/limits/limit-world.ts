/**
 * Worker processes, two engines, submitters and an operator on one store in memory, with virtual time: all that the limits of a
 * store are for. One call is served at a time, and a seed decides which, whether its reply is lost, and when a process dies.
 */
import { fairClass } from '../../../src/kernel/index.ts'
import type {
  AnyRecord,
  ExecutionId,
  LimitRef,
  OperationInput,
  OperationName,
  OperationResult,
  RecordType,
} from '../../../src/kernel/index.ts'
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts'
import { executionPartition } from '../../../src/stores/store.ts'
import type { Partition } from '../../../src/stores/store.ts'
import type { Runtime } from '../../../src/runtime/index.ts'
import { virtualRuntime } from '../../../src/runtime/virtual.ts'
import { START_AT } from '../process.ts'
import { Chance, seededUuids } from '../chance.ts'
import { LimitCheck } from './limit-check.ts'
import { LIMIT_PARTITION, LimitWorker, PERMIT_TTL_MS } from './limit-worker.ts'
import type { Surroundings } from './limit-worker.ts'
import { call, sleep } from './strand.ts'
import type { CallWish, Strand } from './strand.ts'

export interface TrafficOptions {
  readonly seed: number
  readonly ms: number
  /** Executions that are submitted on average in a second. */
  readonly perSecond: number
  /** Calls after which the partition of one is checked as a whole. Usage is checked after each. */
  readonly checkEvery: number
  /** Stretches the times between claims, submits and passes of engines: a long time with fewer calls. */
  readonly pace: number
}

export interface TrafficReport {
  readonly problems: readonly string[]
  readonly calls: number
  readonly submitted: number
  readonly crashes: number
  readonly lostReplies: number
  /** How often each cause has blocked an execution. */
  readonly blocked: Readonly<Record<string, number>>
  /** What the reconcilers repaired, during the traffic and at its end. */
  readonly repaired: readonly string[]
}

interface Running {
  readonly owner: string
  readonly strand: Strand
  wakesAt: number
  wish: CallWish | undefined
  /** When the call was first tried. */
  askedAt: number
  /** A reply of it was lost. */
  isRepeated: boolean
}

const PARTITIONS = 2
const LANES = ['main', 'bulk'] as const
const CLASS = 'work'
const WORKERS = 4
const ENGINES = 2
/** A call may take so long, and an engine looks so often. */
const LATENCY_MAX_MS = 20
const BRIEF_MS = 100
const ENGINE_EVERY_MS = 900
const RECONCILE_EVERY_MS = 20_000
/** After the traffic everything must come to rest within this time. */
const REST_MS = 200_000
const RETENTION_MS = 20_000

const LOST_REPLY_RATE = 0.02
const UNSERVED_RATE = 0.01
const CRASH_RATE = 0.000_6
const PAUSE_RATE = 0.000_6
const PAUSE_MAX_MS = 9_000

const NONE: ReadonlySet<string> = new Set()

/** Shows its records without a copy. */
class OpenStore extends MemoryStore {
  look(partition: Partition): ReadonlyMap<RecordType, ReadonlyMap<string, AnyRecord>> {
    return this.partition(partition).records
  }
}

class LimitWorld implements Surroundings {
  readonly partitions = PARTITIONS
  readonly queues = LANES.flatMap((lane) => [CLASS, fairClass(CLASS)].map((name) => ({ lane, class: name })))
  readonly chance: Chance
  readonly uuid: () => string
  readonly #options: TrafficOptions
  readonly #store: OpenStore
  readonly #workers = new Map<string, LimitWorker>()
  readonly #pausedUntil = new Map<string, number>()
  readonly #check: LimitCheck
  readonly #blocked: Record<string, number> = {}
  readonly #repaired: string[] = []
  #running: Running[] = []
  #now: number
  #lives = 0
  #calls = 0
  #submitted = 0
  #crashes = 0
  #lostReplies = 0
  #isSubmitting = true

  constructor(options: TrafficOptions) {
    this.#options = options
    this.chance = new Chance(options.seed)
    this.#now = START_AT
    this.uuid = seededUuids(() => this.#now, this.chance.fork('ids'))
    const runtime: Runtime = { ...virtualRuntime(), now: () => this.#now }
    this.#store = new OpenStore(runtime, { executionPartitions: PARTITIONS, indexedTags: [] })
    this.#check = new LimitCheck(
      (partition) => this.#store.look(partition),
      () => this.#workers.values(),
    )
  }

  get pace(): number {
    return this.#options.pace
  }

  get now(): number {
    return this.#now
  }

  hasRate(limit: string): boolean {
    return limit === 'rated' || limit === 'both'
  }

  spawn(owner: string, strand: Strand): void {
    this.#running.push({ owner, strand, wakesAt: this.#now, wish: undefined, askedAt: 0, isRepeated: false })
    this.#go(this.#running[this.#running.length - 1]!, undefined)
  }

  async run(): Promise<TrafficReport> {
    for (let i = 0; i < WORKERS; i++) this.#startWorker()
    for (let i = 0; i < ENGINES; i++) {
      this.spawn(`engine${i}`, this.#timers())
      this.spawn(`engine${i}`, this.#reconcilers())
    }
    this.spawn('operator', this.#operate())
    this.spawn('submitter', this.#submits())
    const end = this.#now + this.#options.ms
    await this.#until(() => this.#now >= end)
    this.#isSubmitting = false
    await this.#until(() => this.#now >= end + REST_MS || this.#isAtRest())
    const problems = [...this.#check.problems, ...(await this.#finalProblems())]
    return {
      problems,
      calls: this.#calls,
      submitted: this.#submitted,
      crashes: this.#crashes,
      lostReplies: this.#lostReplies,
      blocked: this.#blocked,
      repaired: this.#repaired,
    }
  }

  async #until(isOver: () => boolean): Promise<void> {
    while (!isOver() && this.#check.problems.length === 0) await this.#step()
  }

  async #step(): Promise<void> {
    const ready = this.#running.filter((one) => this.#readyAt(one) <= this.#now)
    if (ready.length === 0) {
      this.#now = Math.min(...this.#running.map((one) => this.#readyAt(one)))
      return
    }
    this.#mishap()
    const one = this.chance.pick(ready)
    if (!this.#running.includes(one)) return
    if (one.wish === undefined) this.#go(one, undefined)
    else await this.#serve(one, one.wish)
  }

  #readyAt({ owner, wakesAt }: Running): number {
    return Math.max(wakesAt, this.#pausedUntil.get(owner) ?? 0)
  }

  #go(one: Running, reply: unknown): void {
    const { value: wish, done } = one.strand.next(reply)
    if (done === true) {
      this.#running = this.#running.filter((other) => other !== one)
      return
    }
    one.isRepeated = false
    one.askedAt = this.#now
    one.wish = wish.kind === 'call' ? wish : undefined
    one.wakesAt = this.#now + (wish.kind === 'call' ? this.chance.between(0, LATENCY_MAX_MS) : Math.max(1, wish.ms))
  }

  async #serve(one: Running, wish: CallWish): Promise<void> {
    const isCalm = !this.#isSubmitting
    if (wish.isBrief && !one.isRepeated && this.#now - one.askedAt > BRIEF_MS) {
      this.#go(one, undefined)
      return
    }
    if (!isCalm && this.chance.happens(UNSERVED_RATE)) {
      one.wakesAt = this.#now + this.chance.between(1, LATENCY_MAX_MS)
      return
    }
    const result = await this.#call(wish, one)
    if (result === undefined) return
    if (!isCalm && this.chance.happens(LOST_REPLY_RATE)) {
      this.#lostReplies += 1
      one.isRepeated = true
      one.wakesAt = this.#now + this.chance.between(1, 10 * LATENCY_MAX_MS)
      return
    }
    this.#go(one, result)
  }

  async #call({ partition, operation, input }: CallWish, one: Running): Promise<unknown> {
    const asked = operation === 'claimForWorker' && one.isRepeated ? { ...input, repeated: true } : input
    const paused = operation === 'claimForWorker' ? this.#pausedLanes(partition) : NONE
    const [answer] = await this.#store.run(partition, [{ operation, input: asked, blobs: [] }])
    this.#calls += 1
    if (answer?.kind !== 'answered') {
      this.#check.problems.push(`${operation} was not answered: ${JSON.stringify(answer)}`)
      return undefined
    }
    const { result } = answer
    if (operation === 'blockExecution' && (result as { kind: string }).kind === 'blocked') {
      const { cause } = asked as OperationInput<'blockExecution'>
      this.#blocked[cause] = (this.#blocked[cause] ?? 0) + 1
    }
    this.#check.judge({ now: this.#now, partition, operation, input: asked, result, paused })
    if (this.#calls % this.#options.checkEvery === 0) {
      const { firstSequence } = await this.#store.readEvents(partition, 0, 1)
      this.#check.judgeWhole(partition, await this.#store.dump(partition), firstSequence)
      await this.#store.trimEvents(partition, this.#now - 2 * RETENTION_MS, 0)
    }
    return result
  }

  #pausedLanes(partition: Partition): Set<string> {
    const lanes = [...(this.#store.look(partition).get('lane')?.values() ?? [])]
    return new Set(lanes.flatMap((lane) => (lane.type === 'lane' && lane.hold?.state === 'paused' ? [lane.id] : [])))
  }

  #mishap(): void {
    if (!this.#isSubmitting) return
    const owners = [...this.#workers.keys()]
    if (this.chance.happens(CRASH_RATE)) {
      const owner = this.chance.pick(owners)
      this.#crashes += 1
      this.#workers.delete(owner)
      this.#running = this.#running.filter((one) => one.owner !== owner)
      this.#startWorker()
    } else if (this.chance.happens(PAUSE_RATE)) {
      const owner = this.chance.pick([...owners, 'engine0'])
      this.#pausedUntil.set(owner, this.#now + this.chance.between(1, PAUSE_MAX_MS))
    }
  }

  #startWorker(): void {
    const id = `worker${(this.#lives += 1)}`
    const worker = new LimitWorker(this, id, this.chance.fork(id))
    this.#workers.set(id, worker)
    for (const strand of worker.strands()) this.spawn(id, strand)
  }

  *#submits(): Strand {
    const mean = (this.pace * 2_000) / this.#options.perSecond
    while (this.#isSubmitting) {
      const partition = this.chance.between(0, PARTITIONS - 1)
      const isFair = this.chance.happens(0.3)
      this.#submitted += 1
      yield* call(executionPartition(partition), 'createExecution', {
        executionId: `${partition}-${this.uuid()}` as ExecutionId,
        requestId: this.uuid(),
        namespace: 'default',
        task: CLASS,
        lane: this.chance.pick(LANES),
        class: isFair ? fairClass(CLASS) : CLASS,
        fairness: isFair ? { key: this.chance.pick(['ada', 'bob', 'cyd']), weight: 1 } : undefined,
        priority: 0,
        tags: [],
        retry: { attempts: 3, backoff: { kind: 'fixed', delayMs: 200 }, jitter: false, onlyCategories: [] },
        retentionMs: RETENTION_MS,
        ifExists: 'join',
        limits: this.#drawLimits(),
      })
      yield* sleep(this.chance.between(0, mean))
    }
  }

  #drawLimits(): LimitRef[] | undefined {
    const key = this.chance.pick(['', 'acme', 'umbrella'])
    const drawn: LimitRef[] = []
    const add = (limit: string, of: string, weight: number) =>
      drawn.push({ limit, key: of, weight, instead: undefined, budget: undefined })
    if (this.chance.happens(0.5)) add('both', key, this.chance.between(1, 3))
    if (this.chance.happens(0.5)) add('capped', this.chance.pick(['', 'acme']), 1)
    if (this.chance.happens(0.2)) add('rated', '', this.chance.between(1, 4))
    return drawn.length === 0 ? undefined : drawn
  }

  /** Defines the limits, changes them at times, holds keys, and pauses a lane now and then. */
  *#operate(): Strand {
    const define = (name: string, concurrency: number | undefined, count?: number) =>
      call(LIMIT_PARTITION, 'defineLimit', {
        name,
        concurrency,
        rate: count === undefined ? undefined : { count, windowMs: 10_000 },
        by: 'ada',
      })
    yield* define('capped', 3)
    yield* define('both', 4, this.#paced(40))
    yield* define('rated', undefined, this.#paced(25))
    while (this.#isSubmitting) {
      yield* sleep(this.chance.between(1_000, 20_000))
      const key = this.chance.pick(['', 'acme'])
      const what = this.chance.fraction()
      if (what < 0.4) {
        yield* define('capped', this.chance.between(1, 6))
        const { wakes } = yield* call(LIMIT_PARTITION, 'wakeWaiting', { name: 'capped' })
        for (const wake of wakes) yield* this.#open({ limit: 'capped', ...wake })
      } else if (what < 0.6) {
        const retryAfterMs = this.chance.between(100, 8_000)
        yield* call(LIMIT_PARTITION, 'holdLimit', { limit: 'both', key, retryAfterMs })
      } else if (what < 0.7) {
        const lifted = yield* call(LIMIT_PARTITION, 'liftHold', { limit: 'both', key })
        if (lifted.kind === 'hold_lifted')
          for (const wake of lifted.wakes) yield* this.#open({ limit: 'both', key, ...wake })
      } else {
        yield* this.#holdLane('paused')
        yield* sleep(this.chance.between(500, 5_000))
        yield* this.#holdLane('active')
      }
    }
    yield* this.#holdLane('active')
  }

  #paced(count: number): number {
    return Math.max(6, Math.floor(count / this.pace))
  }

  *#holdLane(state: 'paused' | 'active'): Strand {
    const input = { lane: 'bulk', state, by: 'ada', reason: 'an incident' } as const
    const configured = yield* call('m:0', 'configureLane', input)
    if (configured.kind === 'refused') return
    for (let n = 0; n < PARTITIONS; n++) yield* call(executionPartition(n), 'applyLane', { lane: configured.lane })
    yield* call('m:0', 'confirmLane', { lane: 'bulk', version: configured.lane.version })
  }

  #open({ limit, key, partition, permits }: { limit: string; key: string; partition: number; permits: number }) {
    return call(executionPartition(partition), 'openGates', { gates: [{ limit, key, permits, afterMs: 0 }] })
  }

  *#timers(): Strand {
    for (;;) {
      for (let n = 0; n < PARTITIONS; n++) {
        yield* call(executionPartition(n), 'runDue', { limit: 50, seed: 1 })
        yield* call(executionPartition(n), 'purgeExecutions', { limit: 50 } as never)
      }
      yield* call(LIMIT_PARTITION, 'runDue', { limit: 50, seed: 1, family: 'q' })
      yield* sleep(this.pace * this.chance.between(1, ENGINE_EVERY_MS))
    }
  }

  *#reconcilers(): Strand {
    for (;;) {
      yield* sleep(this.chance.between(1, RECONCILE_EVERY_MS))
      yield* this.#reconcile()
    }
  }

  *#reconcile(): Strand {
    let cursor: OperationInput<'reconcileLimits'>['cursor']
    do {
      const page: OperationResult<'reconcileLimits'> = yield* call(LIMIT_PARTITION, 'reconcileLimits', { cursor })
      this.#repaired.push(...page.repaired.map(({ problem, limit }) => `${problem} of ${limit}`))
      cursor = page.cursor
    } while (cursor !== undefined)
    for (let n = 0; n < PARTITIONS; n++) {
      let from: OperationInput<'reconcileBlocked'>['cursor']
      do {
        const page: OperationResult<'reconcileBlocked'> = yield* call(executionPartition(n), 'reconcileBlocked', {
          cursor: from,
        })
        this.#repaired.push(...page.repaired.map(({ problem }) => problem))
        from = page.cursor
      } while (from !== undefined)
    }
  }

  /** All executions have ended and were purged. */
  #isAtRest(): boolean {
    return !this.#executionPartitions().some(
      (partition) => (this.#store.look(partition).get('execution')?.size ?? 0) > 0,
    )
  }

  #executionPartitions(): Partition[] {
    return Array.from({ length: PARTITIONS }, (_, number) => executionPartition(number))
  }

  /** Everything has ended and was purged, nothing is held, and a cycle of the reconcilers finds nothing. */
  async #finalProblems(): Promise<string[]> {
    if (this.#check.problems.length > 0) return []
    const problems: string[] = []
    for (let n = 0; n < PARTITIONS; n++) {
      const { records } = await this.#store.dump(executionPartition(n))
      const left = records.filter(({ type }) => type === 'execution' || type === 'gate')
      if (left.length > 0) problems.push(`${left.length} executions and gates are left, as ${JSON.stringify(left[0])}`)
    }
    this.#now += 2 * PERMIT_TTL_MS
    await this.#runNow('runDue', LIMIT_PARTITION, { limit: 100, seed: 1, family: 'q' })
    this.#now += 2 * PERMIT_TTL_MS
    await this.#runNow('runDue', LIMIT_PARTITION, { limit: 100, seed: 1, family: 'q' })
    const page = (await this.#runNow('reconcileLimits', LIMIT_PARTITION, {})) as OperationResult<'reconcileLimits'>
    if (page.repaired.length > 0) problems.push(`the last cycle repaired ${JSON.stringify(page.repaired)}`)
    const { records } = await this.#store.dump(LIMIT_PARTITION)
    const left = records.filter(({ type }) => type !== 'limit_definition')
    if (left.length > 0) problems.push(`${left.length} records of keys are left, as ${JSON.stringify(left[0])}`)
    return problems
  }

  async #runNow(operation: OperationName, partition: Partition, input: object): Promise<unknown> {
    const [answer] = await this.#store.run(partition, [{ operation, input, blobs: [] }])
    return answer?.kind === 'answered' ? answer.result : undefined
  }
}

export function traffic(options: Partial<TrafficOptions> & { readonly seed: number }): Promise<TrafficReport> {
  return new LimitWorld({ ms: 60_000, perSecond: 6, checkEvery: 100, pace: 1, ...options }).run()
}
