/**
 * Everything between the processes and the one store: calls that are on their way, replies, wake-ups. A call has its effect
 * when the scheduler serves it and is answered when the scheduler delivers its reply, so a process can die, stand still or
 * be overtaken between the two.
 */
import { isReadOperation } from '../../src/kernel/index.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import { MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { logPartitions } from '../../src/stores/partitions.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type {
  Answer,
  Call,
  EventPage,
  FactKind,
  Partition,
  PartitionDump,
  Store,
  StoreReport,
  StoreSettings,
  Wake,
} from '../../src/stores/store.ts'
import type { Clockwork } from './clockwork.ts'
import { START_AT } from './process.ts'
import type { Process } from './process.ts'
import type { Fate, FaultName, Weather } from './weather.ts'
import { writeCount } from './write-count.ts'

/** One batch of calls that the store has run, with the partition before and after it. */
export interface Effect {
  readonly partition: Partition
  readonly calls: readonly Call[]
  readonly answers: readonly Answer[]
  readonly before: PartitionDump
  /** The very same as before if nothing was written. */
  readonly after: PartitionDump
  /** The store's clock. */
  readonly now: number
}

export interface Request {
  readonly process: Process
  readonly partition: Partition
  readonly label: string
  readonly callCount: number
  /** Whether it changes nothing. */
  readonly isRead: boolean
  /** Has its effect; given a count, only that of the first calls. */
  readonly perform: (keep?: number) => Promise<unknown>
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
}

/** What a request is about. */
type Subject = Pick<Request, 'partition' | 'label' | 'callCount' | 'isRead'>

export interface NetworkListener {
  readonly onEffect: (effect: Effect) => void
  readonly onFault: (fault: FaultName, label: string) => void
}

const DOWN: Fate = { kind: 'refused', code: 'store_unavailable' }
const EMPTY: PartitionDump = { records: [], entries: [], blobKeys: [], events: [] }

export class Network {
  weather: Weather
  /** How far the store's clock is from the world's. */
  storeSkewMs = 0
  /** Until then the store refuses everything. */
  downUntil = 0
  /** Calls that have reached the store and wait to be served. */
  readonly requests: Request[] = []
  /** Calls that have yet to reach the store. */
  onTheirWay = 0
  servedCount = 0
  readonly store: MemoryStore
  readonly #clockwork: Clockwork
  readonly #listener: NetworkListener
  readonly #dumps = new Map<Partition, PartitionDump>()
  readonly #ports = new Set<Port>()
  #wakes: Wake[] = []

  constructor(clockwork: Clockwork, settings: StoreSettings, weather: Weather, listener: NetworkListener) {
    this.weather = weather
    this.#clockwork = clockwork
    this.#listener = listener
    this.store = new MemoryStore(storeClock(this, clockwork), settings)
    this.store.onWake((wake) => this.#wakes.push(wake))
  }

  get storeNow(): number {
    return Math.floor(START_AT + this.#clockwork.elapsedMs + this.storeSkewMs)
  }

  /** The way to the store for one process. */
  open(process: Process): Store {
    const port = new Port(this, process)
    this.#ports.add(port)
    return port
  }

  /** A dead process receives nothing more; what it has sent is still in flight. */
  cut(process: Process): void {
    for (const port of this.#ports) if (port.process === process) this.#ports.delete(port)
  }

  forget(port: Port): void {
    this.#ports.delete(port)
  }

  /** Every partition as the last effect left it. */
  get dumps(): PartitionDump[] {
    const { executionPartitions } = this.store.settings
    return Array.from(
      { length: executionPartitions },
      (_, number) => this.#dumps.get(executionPartition(number)) ?? EMPTY,
    )
  }

  /** The number of events that all logs of the store have, also those without executions. */
  get eventCount(): number {
    const logs = logPartitions(this.store.settings)
    return logs.reduce((sum, partition) => sum + (this.#dumps.get(partition) ?? EMPTY).events.length, 0)
  }

  send(request: Request): void {
    const delayMs = this.weather.delayOf()
    if (delayMs === 0) {
      this.requests.push(request)
      return
    }
    this.#listener.onFault('delayed', `${request.label} for ${delayMs} ms`)
    this.#arriveIn(delayMs, request)
  }

  async serve(request: Request): Promise<void> {
    this.requests.splice(this.requests.indexOf(request), 1)
    const isDown = this.#clockwork.elapsedMs < this.downUntil
    const fate: Fate = isDown ? DOWN : this.weather.fateOf(request.callCount)
    if (fate.kind !== 'served') this.#listener.onFault(fate.kind, request.label)
    this.servedCount += 1
    if (fate.kind === 'refused') {
      this.#reply(request, () => request.reject(new EngineError(fate.code)))
      return
    }
    try {
      const reply = await request.perform(fate.kind === 'cut' ? fate.keep : undefined)
      if (fate.kind === 'repeated') await this.#repeat(request, fate.afterMs)
      if (fate.kind === 'reply_lost') this.#reply(request, () => request.reject(new EngineError('store_unavailable')))
      else this.#reply(request, () => request.resolve(reply))
    } catch (error) {
      this.#reply(request, () => request.reject(error))
    }
  }

  async #repeat(request: Request, afterMs: number): Promise<void> {
    if (afterMs === 0) {
      await request.perform()
      return
    }
    const silent = () => undefined
    const echo = { ...request, label: `echo of ${request.label}`, resolve: silent, reject: silent }
    this.#arriveIn(afterMs, echo)
  }

  #arriveIn(ms: number, request: Request): void {
    this.onTheirWay += 1
    this.#clockwork.after(ms, () => {
      this.onTheirWay -= 1
      this.requests.push(request)
    })
  }

  #reply(request: Request, deliver: () => void): void {
    request.process.receive({ label: `reply to ${request.label}`, deliver })
  }

  async run(process: Process, partition: Partition, calls: readonly Call[], keep = calls.length): Promise<Answer[]> {
    const before = this.#dumps.get(partition) ?? EMPTY
    const now = this.storeNow
    const run = calls.slice(0, keep)
    const writeCountBefore = writeCount()
    this.#wakes = []
    const answers = await this.store.run(partition, run)
    const wakes = this.#wakes
    const hasWritten = writeCount() > writeCountBefore
    if (hasWritten || run.some(({ operation }) => !isReadOperation(operation))) {
      const after = hasWritten ? await this.store.dump(partition) : before
      this.#dumps.set(partition, after)
      this.#listener.onEffect({ partition, calls: run, answers, before, after, now })
    }
    for (const wake of wakes) this.#tellAll(wake, process)
    return [...answers, ...calls.slice(keep).map((): Answer => ({ kind: 'not_run' }))]
  }

  #tellAll(wake: Wake, sender: Process): void {
    for (const port of this.#ports) if (port.isListening) this.#tell(port, wake, port.process === sender)
  }

  #tell(port: Port, wake: Wake, isOwn: boolean): void {
    const { isLost, delayMs, isVague } = this.weather.wakeFate()
    if (isLost) {
      this.#listener.onFault('wake_lost', `to ${port.process.name}`)
      return
    }
    if (isVague && !isOwn) this.#listener.onFault('wake_vague', `to ${port.process.name}`)
    if (delayMs > 0) this.#listener.onFault('wake_delayed', `to ${port.process.name} by ${delayMs} ms`)
    const told: Wake = isVague && !isOwn ? { partition: wake.partition, hasEvents: wake.hasEvents } : wake
    const message = { label: `wake-up of ${wake.partition}`, deliver: () => port.wake(told) }
    if (delayMs === 0) port.process.receive(message)
    else this.#clockwork.after(delayMs, () => port.process.receive(message))
  }
}

function storeClock(network: Network, clockwork: Clockwork): ConstructorParameters<typeof MemoryStore>[0] {
  return {
    now: () => network.storeNow,
    monotonic: () => clockwork.elapsedMs,
    after: (ms, callback) => clockwork.after(ms, callback),
    nextTick: (callback) => process.nextTick(callback),
    soon: (callback) => void clockwork.after(0, callback),
    uuid: () => '',
    random: () => 0,
  }
}

/** What a process holds of the store. */
class Port implements Store {
  readonly process: Process
  readonly settings: StoreSettings
  readonly level: number
  readonly #network: Network
  readonly #listeners = new Set<(wake: Wake) => void>()

  constructor(network: Network, process: Process) {
    this.process = process
    this.settings = network.store.settings
    this.level = network.store.level
    this.#network = network
  }

  get isListening(): boolean {
    return this.#listeners.size > 0
  }

  wake(wake: Wake): void {
    for (const listener of [...this.#listeners]) listener(wake)
  }

  run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const label = `${partition} ${calls.map(callText).join(' + ')}`
    const isRead = calls.every(({ operation }) => isReadOperation(operation))
    const subject = { partition, label, callCount: calls.length, isRead }
    return this.#ask(subject, (keep) => this.#network.run(this.process, partition, calls, keep))
  }

  readEvents(partition: Partition, after: number, limit: number): Promise<EventPage> {
    const subject = { partition, label: `${partition} readEvents`, callCount: 1, isRead: true }
    return this.#ask(subject, () => this.#network.store.readEvents(partition, after, limit))
  }

  trimEvents(partition: Partition, olderThan: number, keepCount: number): Promise<number> {
    const subject = { partition, label: `${partition} trimEvents`, callCount: 1, isRead: false }
    return this.#ask(subject, async () => {
      const trimmed = await this.#network.store.trimEvents(partition, olderThan, keepCount)
      if (trimmed > 0) throw new Error('The checks need the whole event log, and some of it was trimmed.')
      return trimmed
    })
  }

  recordFacts(kind: FactKind, names: readonly string[]): Promise<void> {
    return this.#network.store.recordFacts(kind, names)
  }

  findFacts(kind: FactKind, names: readonly string[]): Promise<string[]> {
    return this.#network.store.findFacts(kind, names)
  }

  onWake(listener: (wake: Wake) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  report(): Promise<StoreReport> {
    return this.#network.store.report()
  }

  dump(partition: Partition): Promise<PartitionDump> {
    return this.#network.store.dump(partition)
  }

  close(): Promise<void> {
    this.#listeners.clear()
    this.#network.forget(this)
    return Promise.resolve()
  }

  #ask<T>(subject: Subject, perform: (keep?: number) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#network.send({
        ...subject,
        process: this.process,
        perform,
        resolve: resolve as (reply: unknown) => void,
        reject,
      })
    })
  }
}

/** Enough to distinguish calls in a trace. */
function callText({ operation, input }: Call): string {
  const subject = 'executionId' in input ? ` ${shortId(input.executionId)}` : ''
  const fence = 'fence' in input && input.fence !== undefined ? `@${input.fence.epoch}` : ''
  return isReadOperation(operation) ? `(${operation}${subject})` : `${operation}${subject}${fence}`
}

/** The end of an id distinguishes the executions of one world. */
export function shortId(id: string): string {
  return id.slice(-6)
}
