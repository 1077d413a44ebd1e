/** A store on a Valkey server or cluster. The kernel runs in the process; the server loads, compares versions and applies. */
import { finishesWork, isReadOperation } from '../../kernel/index.ts'
import { nonThrowingLog, silentLog, sleep } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { ProcessRegister } from '../level/process-register.ts'
import { LevelGuard, programLevels } from '../level/store-level.ts'
import type { Levels } from '../level/store-level.ts'
import { EVENT_SWEEP_MS, QUIET_SWEEP_MS } from '../store.ts'
import type {
  Answer,
  AnswerListener,
  Call,
  EventHint,
  EventPage,
  FactKind,
  Partition,
  PartitionDump,
  Store,
  StoreReport,
  StoreSettings,
  Wake,
  WakeInterest,
} from '../store.ts'
import { allPartitions } from '../partitions.ts'
import { WakeListeners } from '../wake-listeners.ts'
import { Connection } from './connection/connection.ts'
import type { ConnectionSettings } from './options/connection-settings.ts'
import { EventLog } from './event-log.ts'
import { addFacts, knownFacts } from './facts.ts'
import { FunctionLoader } from './library/function-loader.ts'
import { Keys } from './layout/keys.ts'
import { LibraryRegister } from './library/library-register.ts'
import { functionLibrary } from './library/library.ts'
import { dumpPartition } from './partition-dump.ts'
import { checkPermissions } from './boot/permission-check.ts'
import { checkDatabase, checkServers } from './boot/server-check.ts'
import { findSettings, setUp, storeNotFound } from './boot/settings.ts'
import { reportOf, warningsOf } from './boot/store-report.ts'
import { asEngineError, isOutOfMemory, storeFull } from './connection/valkey-error.ts'
import type { ValkeyLocation } from './options/valkey-location.ts'
import type { Backend } from '../working-set/commit/backend.ts'
import { BatchRunner } from '../working-set/batch/batch-runner.ts'
import type { RunCounts } from '../working-set/batch/batch-runner.ts'
import { ValkeyBackend } from './valkey-backend.ts'
import { ValkeyLevel } from './boot/valkey-level.ts'
import { WakeChannel } from './notify/wake-channel.ts'

/** A server works on one batch at a time, and the client prepares another meanwhile. More batches would be smaller ones. */
const BUSY_BATCHES_PER_SERVER = 2

export interface ValkeyStoreOptions {
  readonly runtime: Runtime
  readonly location: ValkeyLocation
  readonly indexedTags: readonly string[] | undefined
  readonly connection?: ConnectionSettings | undefined
  /** Whether this program may load the function library. Default true. */
  readonly loadFunctions?: boolean | undefined
  /** Whether to set up a store that was never used. Default true. */
  readonly create?: boolean | undefined
  /** The clock in use: the server's, except in tests that move time. */
  readonly clock?: 'server' | 'runtime' | undefined
  /** The levels that the program can run: its own, except in tests. */
  readonly levels?: Levels | undefined
  /** Wraps the backend. For tests only. */
  readonly wrapBackend?: ((backend: Backend) => Backend) | undefined
  readonly log?: Log | undefined
}

interface Parts {
  readonly runtime: Runtime
  readonly location: ValkeyLocation
  readonly connection: Connection
  readonly keys: Keys
  readonly loader: FunctionLoader
  readonly register: LibraryRegister
  readonly settings: StoreSettings
  readonly clock: 'server' | 'runtime'
  readonly guard: LevelGuard
  readonly processes: ProcessRegister
  readonly wrapBackend: ((backend: Backend) => Backend) | undefined
  readonly log: Log
  readonly busyBatches: number
}

export class ValkeyStore implements Store {
  readonly settings: StoreSettings
  readonly busyBatches: number
  readonly #location: ValkeyLocation
  readonly #connection: Connection
  readonly #keys: Keys
  readonly #loader: FunctionLoader
  readonly #register: LibraryRegister
  readonly #guard: LevelGuard
  readonly #processes: ProcessRegister
  readonly #events: EventLog
  readonly #runner: BatchRunner
  readonly #listeners = new WakeListeners()
  readonly #channel: WakeChannel

  private constructor(parts: Parts) {
    const { runtime, connection, keys, settings, log } = parts
    this.settings = settings
    this.busyBatches = parts.busyBatches
    this.#location = parts.location
    this.#connection = connection
    this.#keys = keys
    this.#loader = parts.loader
    this.#register = parts.register
    this.#guard = parts.guard
    this.#processes = parts.processes
    this.#events = new EventLog(parts.loader, keys)
    const sender = runtime.uuid()
    const isServerClock = parts.clock === 'server'
    const backend = new ValkeyBackend(parts.loader, keys, sender, parts.guard)
    this.#runner = new BatchRunner({
      backend: parts.wrapBackend?.(backend) ?? backend,
      runtime,
      now: isServerClock ? undefined : () => runtime.now(),
      // In a test that moves time, a pause would not end by itself.
      pause: (ms) => (isServerClock ? sleep(runtime, ms) : new Promise((resolve) => runtime.soon(resolve))),
      onWake: (wake) => this.#listeners.notify(wake),
    })
    this.#channel = new WakeChannel({
      connection,
      keys,
      partitions: allPartitions(settings),
      runtime,
      log,
      sender,
      notify: (wake) => this.#listeners.notify(wake),
    })
    this.#register.start()
    this.#loader.onReloaded(async () => {
      await setUp(connection, keys, { ...settings, levels: parts.guard.levels })
      this.#register.announce()
    })
  }

  /** Checks the server, the settings and the permissions before it writes anything. */
  static async open(options: ValkeyStoreOptions): Promise<ValkeyStore> {
    const { runtime, location, loadFunctions = true, create = true, clock = 'server', levels = programLevels } = options
    const log = nonThrowingLog(options.log ?? silentLog)
    const library = await functionLibrary(levels.max)
    const connectionSettings = options.connection ?? {}
    const connection = await Connection.open(location, connectionSettings, runtime)
    try {
      const servers = await checkServers(connection)
      await checkDatabase(connection, location.database)
      for (const warning of new Set(servers.flatMap(warningsOf))) log.warn({ store: 'valkey' }, warning)
      const keys = new Keys(location.prefix, location.database)
      const wanted = { executionPartitions: location.executionPartitions, indexedTags: options.indexedTags, levels }
      const found = await findSettings(connection, keys, wanted)
      if (found === undefined && !create) throw storeNotFound()
      const loader = new FunctionLoader(connection, library, loadFunctions, log)
      await loader.load()
      await checkPermissions(loader, keys, location.prefix)
      const { level, ...settings } = found ?? (await setUp(connection, keys, wanted))
      const register = new LibraryRegister({
        library: library.name,
        location,
        connection,
        connectionSettings,
        mayRemove: loadFunctions,
        clock,
        runtime,
        log,
      })
      const guard = new LevelGuard(levels, level)
      const place = new ValkeyLevel(connection, keys, clock === 'runtime' ? () => runtime.now() : undefined)
      const processes = new ProcessRegister({ place, guard, runtime, log })
      await processes.start()
      const store = { runtime, location, connection, keys, loader, register, settings, clock, guard, processes, log }
      const busyBatches = BUSY_BATCHES_PER_SERVER * servers.length
      return new ValkeyStore({ ...store, wrapBackend: options.wrapBackend, busyBatches })
    } catch (error) {
      connection.close()
      throw asEngineError(error)
    }
  }

  /** Counts the operations of this process, and those with a conflict. */
  get counts(): RunCounts {
    return this.#runner.counts
  }

  get level(): number {
    return this.#guard.level
  }

  isContended(partition: Partition): boolean {
    return this.#runner.isContended(partition)
  }

  async run(partition: Partition, calls: readonly Call[], onAnswer?: AnswerListener): Promise<Answer[]> {
    this.#guard.check()
    try {
      return await this.#runner.run(partition, calls, onAnswer)
    } catch (error) {
      if (!isOutOfMemory(error) || calls.every(runsWhenFull)) throw asEngineError(error)
    }
    return await this.#runWhenFull(partition, calls)
  }

  async readEvents(partition: Partition, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    this.#guard.check()
    return await guarded(() => this.#events.read(partition, after, limit, hint))
  }

  async trimEvents(partition: Partition, olderThan: number, keepCount: number): Promise<number> {
    return await guarded(() => this.#events.trim(partition, olderThan, keepCount))
  }

  async recordFacts(kind: FactKind, names: readonly string[]): Promise<void> {
    this.#guard.check()
    await guarded(() => addFacts(this.#connection, this.#keys, kind, names))
  }

  async findFacts(kind: FactKind, names: readonly string[]): Promise<string[]> {
    this.#guard.check()
    return await guarded(() => knownFacts(this.#connection, this.#keys, kind, names))
  }

  onWake(listener: (wake: Wake) => void, interest: WakeInterest = {}): () => void {
    const { eventsOf } = interest
    const remove = this.#listeners.add(listener)
    if (eventsOf === undefined) {
      this.#channel.listenForWork()
      return remove
    }
    const stop = this.#channel.listenForEvents(eventsOf)
    return () => {
      remove()
      stop()
    }
  }

  eventSweepMs(partition: Partition): number {
    return this.#channel.receivesEvents(partition) ? QUIET_SWEEP_MS : EVENT_SWEEP_MS
  }

  async report(): Promise<StoreReport> {
    return await guarded(async () => reportOf(this.#location, await checkServers(this.#connection)))
  }

  async dump(partition: Partition): Promise<PartitionDump> {
    return await guarded(() => dumpPartition(this.#connection, this.#keys, this.#events, partition))
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    const withdrawing = this.#processes.close()
    this.#register.close()
    this.#channel.close()
    // Sends queued commands, and does not wait for an unreachable server.
    this.#connection.close()
    await withdrawing
  }

  /** Runs the calls that finish work or only read. Refuses those that need more memory. */
  async #runWhenFull(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const finishing = calls.filter(runsWhenFull)
    const full: Answer = { kind: 'failed', error: storeFull() }
    if (finishing.length === 0) return calls.map(() => full)
    const answers = await guarded(() => this.#runner.run(partition, finishing))
    return calls.map((call) => (runsWhenFull(call) ? (answers.shift() ?? { kind: 'not_run' }) : full))
  }
}

function runsWhenFull({ operation }: Call): boolean {
  return finishesWork(operation) || isReadOperation(operation)
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asEngineError(error)
  }
}
