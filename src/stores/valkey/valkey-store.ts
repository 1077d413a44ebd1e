/** A store on a Valkey server or cluster. The kernel runs inside the server: a batch is one call of its function library. */
import { finishesWork, isReadOperation } from '../../kernel/index.ts'
import { quietLog, silentLog } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import type {
  Answer,
  Call,
  EventPage,
  Partition,
  PartitionDump,
  Store,
  StoreReport,
  StoreSettings,
  Wake,
  WakeInterest,
} from '../store.ts'
import { WakeListeners } from '../wake-listeners.ts'
import { packCalls, unpackReply } from './batch-call.ts'
import { Connection } from './connection.ts'
import type { ConnectionSettings } from './connection.ts'
import { EventLog } from './event-log.ts'
import { FunctionLoader } from './function-loader.ts'
import { Keys } from './keys.ts'
import { LibraryRegister } from './library-register.ts'
import { functionLibrary } from './library.ts'
import type { FunctionNames } from './library.ts'
import { dumpPartition } from './partition-dump.ts'
import { checkPermissions } from './permission-check.ts'
import { checkDatabase, checkServers } from './server-check.ts'
import { findSettings, setUp, storeNotFound } from './settings.ts'
import { reportOf, warningsOf } from './store-report.ts'
import { asEngineError, isOutOfMemory, storeFull } from './valkey-error.ts'
import type { ValkeyLocation } from './valkey-location.ts'
import { WakeChannel } from './wake-channel.ts'

export interface ValkeyStoreOptions {
  readonly runtime: Runtime
  readonly location: ValkeyLocation
  readonly indexedTags: readonly string[] | undefined
  readonly connection?: ConnectionSettings | undefined
  /** Whether this program may put the function library onto the server. True unless given. */
  readonly loadFunctions?: boolean | undefined
  /** Whether a store that nobody has used yet is set up. True unless given. */
  readonly create?: boolean | undefined
  /** Whose clock counts. The server's, except in tests that move time. */
  readonly clock?: 'server' | 'runtime' | undefined
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
  readonly log: Log
}

export class ValkeyStore implements Store {
  readonly settings: StoreSettings
  readonly #runtime: Runtime
  readonly #location: ValkeyLocation
  readonly #connection: Connection
  readonly #keys: Keys
  readonly #loader: FunctionLoader
  readonly #register: LibraryRegister
  readonly #clock: 'server' | 'runtime'
  readonly #events: EventLog
  readonly #sender: string
  readonly #listeners = new WakeListeners()
  readonly #channel: WakeChannel

  private constructor(parts: Parts) {
    const { runtime, connection, keys, settings, log } = parts
    this.settings = settings
    this.#runtime = runtime
    this.#location = parts.location
    this.#connection = connection
    this.#keys = keys
    this.#loader = parts.loader
    this.#register = parts.register
    this.#clock = parts.clock
    this.#events = new EventLog(parts.loader, keys)
    this.#sender = runtime.uuid()
    this.#channel = new WakeChannel({
      connection,
      keys,
      partitionCount: settings.executionPartitions,
      runtime,
      log,
      sender: this.#sender,
      tell: (wake) => this.#listeners.tell(wake),
    })
    this.#register.start()
    this.#loader.onReloaded(async () => {
      await setUp(connection, keys, settings)
      this.#register.announce()
    })
  }

  /** In an order in which nothing is written to a server that must not be used. */
  static async open(options: ValkeyStoreOptions): Promise<ValkeyStore> {
    const { runtime, location, loadFunctions = true, create = true, clock = 'server' } = options
    const log = quietLog(options.log ?? silentLog)
    const library = await functionLibrary()
    const connectionSettings = options.connection ?? {}
    const connection = await Connection.open(location, connectionSettings, runtime)
    try {
      const servers = await checkServers(connection)
      await checkDatabase(connection, location.database)
      for (const warning of new Set(servers.flatMap(warningsOf))) log.warn({ store: 'valkey' }, warning)
      const keys = new Keys(location.prefix, location.database)
      const wanted = { executionPartitions: location.executionPartitions, indexedTags: options.indexedTags }
      const found = await findSettings(connection, keys, wanted)
      if (found === undefined && !create) throw storeNotFound()
      const loader = new FunctionLoader(connection, library, loadFunctions, log)
      await loader.load()
      await checkPermissions(loader, keys, location.prefix)
      const settings = found ?? (await setUp(connection, keys, wanted))
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
      return new ValkeyStore({ runtime, location, connection, keys, loader, register, settings, clock, log })
    } catch (error) {
      connection.close()
      throw asEngineError(error)
    }
  }

  async run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const functions = this.#loader.library.functions
    const name = functionFor(functions, calls)
    try {
      return await this.#call(name, partition, calls)
    } catch (error) {
      if (!isOutOfMemory(error) || name !== functions.ordinary) throw asEngineError(error)
    }
    return await this.#runWhenFull(partition, calls)
  }

  async readEvents(partition: Partition, after: number, limit: number): Promise<EventPage> {
    return await guarded(() => this.#events.read(partition, after, limit))
  }

  async trimEvents(partition: Partition, olderThan: number, keepCount: number): Promise<number> {
    return await guarded(() => this.#events.trim(partition, olderThan, keepCount))
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

  async report(): Promise<StoreReport> {
    return await guarded(async () => reportOf(this.#location, await checkServers(this.#connection)))
  }

  async dump(partition: Partition): Promise<PartitionDump> {
    return await guarded(() => dumpPartition(this.#connection, this.#keys, this.#events, partition))
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    this.#register.close()
    this.#channel.close()
    this.#connection.close()
  }

  async #call(name: string, partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const keys = [this.#keys.partition(partition), this.#keys.channels(partition)]
    const now = this.#clock === 'runtime' ? this.#runtime.now() : undefined
    const reply = await this.#loader.call(name, keys, packCalls(calls, now, this.#sender))
    const { answers, wake } = unpackReply(partition, calls, reply as Buffer[])
    if (wake !== undefined) this.#listeners.tell(wake)
    return answers
  }

  /** What finishes work or frees memory goes through; only what asks for more memory is refused. */
  async #runWhenFull(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const finishing = calls.filter(runsWhenFull)
    const full: Answer = { kind: 'failed', error: storeFull() }
    if (finishing.length === 0) return calls.map(() => full)
    const answers = await guarded(() => this.#call(this.#loader.library.functions.whenFull, partition, finishing))
    return calls.map((call) => (runsWhenFull(call) ? (answers.shift() ?? { kind: 'not_run' }) : full))
  }
}

function runsWhenFull({ operation }: Call): boolean {
  return finishesWork(operation) || isReadOperation(operation)
}

function functionFor(functions: FunctionNames, calls: readonly Call[]): string {
  if (calls.every((call) => isReadOperation(call.operation))) return functions.read
  return calls.every(runsWhenFull) ? functions.whenFull : functions.ordinary
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asEngineError(error)
  }
}
