/**
 * Workers of several processes whose tasks have limits: processes crash and stop, calls fail and lose their replies, and a process
 * may be cut off from its limits while its leases go on. Counts the handlers that run, as a shared resource would see them.
 */
import { Client } from '../../src/client/client.ts'
import { limit, task } from '../../src/client/index.ts'
import type { Handler, LimitDefinition, TaskContext } from '../../src/client/index.ts'
import { startEngine } from '../../src/engine/engine.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import { silentLog, virtualRuntime } from '../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../src/runtime/index.ts'
import { MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { limitPartition } from '../../src/stores/partitions.ts'
import type { Call, Partition, PartitionDump, Store } from '../../src/stores/store.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { Worker } from '../../src/worker/index.ts'
import { Chance } from '../simulation/chance.ts'

const LEASE_TTL_MS = 1_000
const WINDOW_MS = 20_000
/** Permits are taken some time before the handler starts, so the starts are counted over a part of the window. */
const COUNTED_MS = WINDOW_MS / 2
const STEP_MS = 50
const TURMOIL_STEPS = 240
/** Far more than any run needs to end in peace. */
const PEACE_STEPS = 6_000

export interface LimitedRun {
  readonly seed: number
  readonly processes: number
  readonly jobs: number
  readonly tenants: number
  readonly cap: number
  /** So much weight may start per window, if anything. */
  readonly rate: number | undefined
}

interface Job {
  readonly tenant: string
  readonly weight: number
  readonly ms: number
}

export interface LimitedOutcome {
  readonly problems: readonly string[]
  readonly starts: number
  readonly disturbances: number
  readonly mostAtOnce: number
}

interface Process {
  readonly client: Client
  readonly worker: Worker
  /** Ends the handlers of a process that is gone. */
  readonly ends: Set<() => void>
  isCutOff: boolean
}

export class LimitedWorkers {
  readonly #run: LimitedRun
  readonly #chance: Chance
  readonly #runtime: VirtualRuntime = virtualRuntime()
  readonly #store: MemoryStore
  readonly #cap: LimitDefinition
  readonly #rate: LimitDefinition | undefined
  readonly #processes: Process[] = []
  readonly #clients: Client[] = []
  readonly #problems: string[] = []
  readonly #running = new Map<string, number>()
  readonly #starts: { readonly at: number; readonly weight: number }[] = []
  readonly #attempts = new Set<string>()
  readonly #givenBack = new Set<string>()
  #mostAtOnce = 0
  #disturbances = 0
  #isCalm = false

  constructor(run: LimitedRun) {
    this.#run = run
    this.#chance = new Chance(run.seed)
    this.#store = new MemoryStore(this.#runtime, { executionPartitions: 2, indexedTags: [] })
    this.#cap = limit('cap', { concurrency: run.cap })
    this.#rate =
      run.rate === undefined ? undefined : limit('rate', { rate: { count: run.rate, per: `${WINDOW_MS}ms` } })
  }

  async play(): Promise<LimitedOutcome> {
    const client = new Client(this.#store, this.#runtime)
    this.#clients.push(client)
    const engine = startEngine({ batcher: client.batcher, runtime: this.#runtime, log: silentLog })
    for (let i = 0; i < this.#run.processes; i++) this.#processes.push(this.#start())
    const { definition } = this.#task(new Set())
    const results: Promise<unknown>[] = []
    let ended = 0
    for (let step = 0; step < TURMOIL_STEPS; step++) {
      if (results.length < this.#run.jobs && this.#chance.happens(0.5)) {
        const execution = await client.submit(definition, this.#job())
        results.push(
          execution.result().then(
            () => (ended += 1),
            () => (ended += 1),
          ),
        )
      }
      await this.#disturb()
      await this.#runtime.advance(STEP_MS)
    }
    this.#isCalm = true
    for (const one of this.#processes) one.isCutOff = false
    for (let step = 0; step < PEACE_STEPS && ended < results.length; step++) await this.#runtime.advance(STEP_MS)
    if (ended < results.length) this.#problems.push(`${results.length - ended} of ${results.length} never end`)

    const closing = this.#processes.map(({ worker }) => worker.close())
    await this.#runtime.advance(10_000)
    await Promise.all(closing)
    await this.#runtime.advance(60_000)
    await this.#checkRest()
    const closed = engine.close()
    await this.#runtime.advance(1_000)
    await closed
    for (const one of this.#clients) await one.batcher.close()
    this.#checkRate()
    return {
      problems: this.#problems,
      starts: this.#starts.length,
      disturbances: this.#disturbances,
      mostAtOnce: this.#mostAtOnce,
    }
  }

  #job(): Job {
    return {
      tenant: `t${this.#chance.between(1, this.#run.tenants)}`,
      weight: this.#chance.between(1, 3),
      ms: this.#chance.happens(0.2) ? this.#chance.between(1_000, 4_000) : this.#chance.between(0, 200),
    }
  }

  #start(): Process {
    const ends = new Set<() => void>()
    const client = new Client(
      this.#faulty(() => found?.isCutOff ?? false),
      this.#runtime,
    )
    const { handler } = this.#task(ends)
    const worker = startWorker(client, [handler], {
      leaseTtl: LEASE_TTL_MS,
      concurrency: this.#chance.between(1, 6),
      prefetch: this.#chance.between(0, 3),
    })
    const found: Process | undefined = { client, worker, ends, isCutOff: false }
    this.#clients.push(client)
    return found
  }

  async #disturb(): Promise<void> {
    const place = this.#chance.between(0, this.#processes.length - 1)
    const process = this.#processes[place]
    if (process === undefined || !this.#chance.happens(0.06)) return
    this.#disturbances += 1
    const what = this.#chance.between(0, 4)
    if (what > 1) {
      process.isCutOff = !process.isCutOff
      return
    }
    if (what === 1) void process.worker.close({ drain: this.#chance.between(0, 500) })
    else {
      process.worker.crash()
      for (const end of process.ends) end()
    }
    this.#processes[place] = this.#start()
  }

  /** The store as one process sees it: calls fail before or after they took effect. */
  #faulty(isCutOff: () => boolean): Store {
    const original = this.#store
    const run = async (partition: Partition, calls: readonly Call[]) => {
      this.#noteGivenBack(calls)
      if (this.#isCalm) return await original.run(partition, calls)
      const isOfLimits = calls.some(({ operation }) => operation.endsWith('Permits'))
      const fate = this.#chance.between(0, 99)
      if (fate < 2 || (isOfLimits && isCutOff() && fate < 90)) throw new EngineError('store_unavailable')
      const answers = await original.run(partition, calls)
      if (fate > 96) throw new EngineError('store_unavailable')
      return answers
    }
    return new Proxy<Store>(original, {
      get(target, name) {
        if (name === 'run') return run
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }

  #noteGivenBack(calls: readonly Call[]): void {
    for (const { operation, input } of calls) {
      if (operation === 'releaseExecution' && 'executionId' in input) this.#givenBack.add(input.executionId)
    }
  }

  #task(ends: Set<() => void>) {
    const byTenant = this.#cap.for({ key: ({ tenant }: Job) => tenant })
    const byWeight = this.#rate?.for({ weight: ({ weight }: Job) => weight })
    const limits = byWeight === undefined ? [byTenant] : [byTenant, byWeight]
    const definition = task<Job, string>('limited', { limits })
    const handler: Handler = definition.handle((job, context) => this.#handle(job, context, ends))
    return { definition, handler }
  }

  async #handle(
    { tenant, weight, ms }: Job,
    { executionId, attempt: number, signal }: TaskContext,
    ends: Set<() => void>,
  ): Promise<string> {
    const over = Promise.withResolvers<undefined>()
    const count = (this.#running.get(tenant) ?? 0) + 1
    this.#running.set(tenant, count)
    this.#mostAtOnce = Math.max(this.#mostAtOnce, count)
    // The rate counts an attempt when it is first admitted, also if that run is given back before it starts.
    const attempt = `${executionId} ${number}`
    if (!this.#attempts.has(attempt) && !this.#givenBack.has(executionId))
      this.#starts.push({ at: this.#runtime.monotonic(), weight })
    this.#attempts.add(attempt)
    if (count > this.#run.cap) this.#problems.push(`${count} of ${tenant} run at ${this.#runtime.monotonic()}`)
    const end = () => {
      if (!ends.delete(end)) return
      this.#running.set(tenant, (this.#running.get(tenant) ?? 0) - 1)
      over.resolve(undefined)
    }
    ends.add(end)
    signal.addEventListener('abort', end, { once: true })
    this.#runtime.after(ms, end)
    await over.promise
    signal.throwIfAborted()
    return tenant
  }

  /** Nothing is held when nothing runs. */
  async #checkRest(): Promise<void> {
    for (const definition of [this.#cap, this.#rate]) {
      if (definition === undefined) continue
      const { records }: PartitionDump = await this.#store.dump(limitPartition(definition.name, this.#store.settings))
      for (const record of records) {
        if (record.type === 'gauge' && record.heldCount > 0) {
          this.#problems.push(`${record.heldCount} permits of ${record.limit} ${record.key} are held`)
        }
        if (record.type === 'holding') this.#problems.push(`${record.limit} ${record.key} has a holder`)
      }
    }
  }

  #checkRate(): void {
    const { rate } = this.#run
    if (rate === undefined) return
    for (const { at } of this.#starts) {
      const within = this.#starts.filter((other) => other.at >= at && other.at < at + COUNTED_MS)
      const sum = within.reduce((total, { weight }) => total + weight, 0)
      if (sum > rate) this.#problems.push(`weight ${sum} of ${rate} starts from ${at}`)
    }
  }
}
