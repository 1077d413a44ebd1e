/**
 * Workers, an engine and an operator that spend trees of budgets, on one store in memory with virtual time. A seed decides what is
 * submitted, which calls or replies are lost, when workers crash, and what the operator changes. Then all is calm, and has to end.
 */
import { Fabric } from '../../../src/fabric/fabric.ts'
import { virtualRuntime } from '../../../src/runtime/virtual.ts'
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Answer, Call, Partition } from '../../../src/stores/store.ts'
import { FaultyStore } from '../../../src/worker/worker.fixture.ts'
import { startWorker } from '../../../src/worker/worker.ts'
import { Chance } from '../chance.ts'
import { BudgetCheck } from './budget-check.ts'
import { RoomMaking, roomMakers } from './room-making.ts'
import type { RoomMaker } from './room-making.ts'
import { EACH_MINUTE, TENANTS, asks, drafts, handlers, keyed, known, runs, spends } from './spending-tasks.ts'
import type { Job } from './spending-tasks.ts'

const STEPS = 60
const RETRY_MS = 500
const STEP_MAX_MS = 2_500
/** Of all calls. */
const LOST_RATE = 0.02
const WORKERS = 2
/** Postponed work asks again after a minute. */
const CALM_MS = 90_000
const CALM_STEP_MS = 5_000
/** Blocked work starts within seconds: long before it asks by itself. */
const SOON_MS = 20_000
const LEASE_TTL = '3s'
/** A reservation that lapses gives its room back within this time. */
const ROOM_MS = 20_000
const LATE = ['late-0', 'late-1', 'late-2'] as const
const PLENTY = 1_000_000

class ObservedStore extends MemoryStore {
  onAnswers: (partition: Partition, calls: readonly Call[], answers: readonly Answer[]) => void = () => undefined

  override async run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const answers = await super.run(partition, calls)
    this.onAnswers(partition, calls, answers)
    return answers
  }
}

export interface BudgetReport {
  readonly problems: readonly string[]
  readonly crashes: number
  readonly lost: number
  readonly ended: Readonly<Record<string, number>>
  readonly counts: BudgetCheck['counts']
}

class BudgetWorld {
  readonly #chance: Chance
  readonly #runtime = virtualRuntime()
  readonly #memory = new ObservedStore(this.#runtime, { executionPartitions: 2, limitPartitions: 1, indexedTags: [] })
  readonly #store = new FaultyStore(this.#memory)
  readonly #log = { debug: noLine, info: noLine, warn: noLine, error: noLine }
  readonly #fabric = new Fabric(this.#store, this.#runtime, { log: this.#log })
  readonly #check = new BudgetCheck(known, () => this.#runtime.now())
  readonly #workers: { readonly crash: () => void }[] = []
  readonly #submitted: string[] = []
  /** Changes of the operator that are under way. */
  readonly #changes = new Set<Promise<unknown>>()
  #crashes = 0
  #lost = 0

  readonly #roomMaker: RoomMaker

  constructor(seed: number) {
    this.#chance = new Chance(seed)
    this.#roomMaker = roomMakers[seed % roomMakers.length] ?? 'raise'
    this.#memory.onAnswers = (partition, calls, answers) => {
      if (partition.startsWith('q:')) this.#check.applied(calls, answers)
    }
  }

  async run(): Promise<BudgetReport> {
    this.#fabric.engine()
    for (let i = 0; i < WORKERS; i++) this.#start()
    const weather = this.#chance.fork('weather')
    this.#store.plan = () => {
      if (!weather.happens(LOST_RATE)) return undefined
      this.#lost += 1
      return weather.pick(['before', 'after'] as const)
    }
    for (let step = 0; step < STEPS && this.#check.problems.length === 0; step++) {
      await this.#step()
      await this.#runtime.advance(this.#chance.between(1, STEP_MAX_MS))
      this.#check.compare(await this.#store.dump('q:0'))
    }
    const ended = this.#check.problems.length === 0 ? await this.#calm() : {}
    for (const worker of this.#workers) worker.crash()
    await this.#fabric.close()
    const { problems, counts } = this.#check
    return { problems, crashes: this.#crashes, lost: this.#lost, ended, counts }
  }

  #start(): void {
    const process = { isAlive: true }
    const own = handlers(async (ms) => {
      await this.#pause(ms)
      if (!process.isAlive) await new Promise(() => undefined)
    })
    const worker = startWorker(this.#fabric, own, { log: this.#log, leaseTtl: LEASE_TTL, concurrency: 4 })
    const crash = (): void => {
      process.isAlive = false
      worker.crash()
    }
    this.#workers.push({ crash })
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#runtime.after(ms, resolve))
  }

  async #step(): Promise<void> {
    const chance = this.#chance
    const isBusy = this.#submitted.length >= STEPS
    if (!isBusy && chance.happens(0.7)) this.#submit()
    if (chance.happens(0.12)) {
      const [worker] = this.#workers.splice(chance.between(0, this.#workers.length - 1), 1)
      worker?.crash()
      this.#crashes += 1
      this.#start()
    }
    if (chance.happens(0.3)) this.#change()
    if (chance.happens(0.3)) await this.#during(this.#answer(chance.happens(0.8)))
  }

  #submit(): void {
    const chance = this.#chance
    const id = `e${this.#submitted.length}`
    const job: Job = { tenant: chance.pick(TENANTS), tokens: chance.between(1, 30), over: chance.between(-5, 3) }
    const definition = chance.pick([drafts, drafts, spends, asks, runs])
    this.#submitted.push(id)
    this.#attempt(() => this.#fabric.submit(definition, job, { id }))
  }

  /** Repeats what a lost call or reply has failed, as a caller does. */
  #attempt(call: () => Promise<unknown>): void {
    const repeated = async (): Promise<void> => {
      try {
        await call()
      } catch {
        await this.#pause(RETRY_MS)
        await repeated()
      }
    }
    const change = repeated().finally(() => this.#changes.delete(change))
    this.#changes.add(change)
  }

  /** The operator raises, resets, freezes or opens, and does not repeat what fails: the engine wakes the work. */
  #change(): void {
    const chance = this.#chance
    const { name, keys } = chance.pick(keyed)
    const key = chance.pick(keys)
    const { budgets } = this.#fabric
    const by = 'ada'
    const calls = [
      () => budgets.raise(name, { key, amounts: { tokens: chance.between(1, 40) }, by }),
      () => budgets.reset(name, { key, by }),
      () => budgets.freeze(name, { by }),
      () => budgets.open(name, { by }),
    ] as const
    const change = chance.pick([calls[0], calls[0], calls[1], calls[2], calls[3], calls[3]])()
    const settled: Promise<unknown> = Promise.resolve(change)
      .catch(() => undefined)
      .finally(() => this.#changes.delete(settled))
    this.#changes.add(settled)
  }

  /** A person approves or rejects what executions ask for. */
  async #answer(isApproved: boolean): Promise<void> {
    const asked = await this.#fabric.waitpoints().catch(() => undefined)
    const name = isApproved ? 'approve' : 'reject'
    for (const { executionId, step, state } of asked?.items ?? []) {
      if (state !== 'awaited' || step === undefined) continue
      const options = { waitpoint: step, by: 'ada' }
      await this.#fabric.signal(executionId, name, undefined, options).catch(() => undefined)
    }
  }

  /** Without faults, with room for all and an answer to every question, all work ends. What was blocked has started soon. */
  async #calm(): Promise<Record<string, number>> {
    this.#store.plan = () => undefined
    await this.#runtime.advance(CALM_STEP_MS)
    // A raise ends with the period, at which all that was postponed asks again.
    const terms = { hard: { tokens: PLENTY }, every: { cron: EACH_MINUTE } }
    await this.#during(this.#fabric.budgets.define('metered', terms))
    await this.#waitForRoom()
    for (let ms = 0; ms < CALM_MS; ms += CALM_STEP_MS) {
      await this.#during(this.#makeRoom())
      await this.#runtime.advance(CALM_STEP_MS)
      await this.#during(this.#answer(true))
      if (ms >= SOON_MS) await this.#findBlocked()
    }
    const ended: Record<string, number> = {}
    for (const id of this.#submitted) {
      const { state, task: name, outcome } = await this.#fabric.execution(id).describe()
      if (outcome === undefined) this.#check.problems.push(`${name} ${id} is still ${state} although all have room`)
      ended[state] = (ended[state] ?? 0) + 1
    }
    if (this.#changes.size > 0) this.#check.problems.push('a call of the operator has not returned')
    this.#check.atRest(await this.#store.dump('q:0'))
    return ended
  }

  /** Work that waits for room begins when there is some, long before it asks by itself. */
  async #waitForRoom(): Promise<void> {
    const place = this.#chance.pick([
      { root: 'company', name: 'company', key: '' },
      { root: 'company', name: 'tenants', key: 'acme' },
    ])
    const making = new RoomMaking(this.#store, this.#fabric, this.#roomMaker, place)
    await this.#during(this.#makeRoom())
    await this.#runtime.advance(SOON_MS)
    await this.#during(making.useUp(this.#chance.between(0, 1)))
    for (const id of LATE) await this.#fabric.submit(drafts, { tenant: 'acme', tokens: 4, over: 0 }, { id })
    await this.#runtime.advance(CALM_STEP_MS)
    await this.#during(making.makeRoom())
    await this.#runtime.advance(ROOM_MS)
    for (const id of LATE) {
      const { state } = await this.#fabric.execution(id).describe()
      if (state === 'completed') continue
      this.#check.problems.push(`drafts ${id} is still ${state} although a ${this.#roomMaker} has made room`)
    }
  }

  async #makeRoom(): Promise<void> {
    const { budgets } = this.#fabric
    for (const { name, keys } of keyed) {
      await budgets.open(name)
      for (const key of keys) await budgets.raise(name, { key, amounts: { tokens: PLENTY } })
    }
  }

  async #findBlocked(): Promise<void> {
    const { items } = await this.#fabric.list({ state: 'rate_limited' })
    for (const { id, task: name } of items)
      this.#check.problems.push(`${name} ${id} is still blocked although all have room`)
  }

  /** Lets time pass until a call has returned. */
  async #during(call: Promise<unknown>): Promise<void> {
    let isDone = false as boolean
    const done = call.finally(() => (isDone = true))
    while (!isDone) await this.#runtime.advance(10)
    await done
  }
}

function noLine(): void {}

export async function budgetTraffic(seed: number): Promise<BudgetReport> {
  return await new BudgetWorld(seed).run()
}
