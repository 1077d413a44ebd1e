/** A store in one schema of a PostgreSQL database. The kernel runs in the process; a batch is a transaction. */
import { isReadOperation } from '../../kernel/index.ts'
import type { Instant } from '../../kernel/index.ts'
import { nonThrowingLog, silentLog } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { ProcessRegister } from '../level/process-register.ts'
import { LevelGuard, programLevels } from '../level/store-level.ts'
import type { Levels } from '../level/store-level.ts'
import { allPartitions, familyOf, partitionNumber } from '../partitions.ts'
import { EVENT_SWEEP_MS, QUIET_SWEEP_MS, executionPartition } from '../store.ts'
import type {
  Answer,
  Call,
  EventHint,
  EventPage,
  FactKind,
  Partition,
  PartitionDump,
  Store,
  StoreReport,
  StoreSettings,
  TransactionHandle,
  Wake,
} from '../store.ts'
import { WakeListeners } from '../wake-listeners.ts'
import { Connection } from './wire/connection.ts'
import { EventLog } from './event-log.ts'
import { insertFacts, selectFacts } from './facts.ts'
import { Flusher } from './flush/flush.ts'
import { Inbox } from './staging/inbox.ts'
import { Loader } from './load/load.ts'
import { channelOf, stagedPayload } from './notify/notify-payload.ts'
import { dumpPartition } from './partition-dump.ts'
import { Pool } from './wire/pool.ts'
import { quoted } from './wire/session.ts'
import { asEngineError } from './wire/postgres-error.ts'
import { checkPermissions } from './boot/permission-check.ts'
import { PostgresLevel } from './schema/postgres-level.ts'
import type { PostgresLocation } from './options/postgres-location.ts'
import { CONNECTIONS_DEFAULT, listenLocation } from './options/postgres-options.ts'
import type { PostgresOptions } from './options/postgres-options.ts'
import { SnapshotReader } from './transaction/snapshot-reader.ts'
import { checkServer } from './boot/server-check.ts'
import { findSettings, setUp, storeNotFound } from './schema/settings.ts'
import type { PostgresSettings } from './schema/settings.ts'
import { stageIn } from './staging/staging.ts'
import { inboxCounts, reportOf, warningsOf } from './boot/store-report.ts'
import { WakeChannel } from './notify/wake-channel.ts'
import { WriteQueue } from './transaction/write-queue.ts'

export interface PostgresStoreOptions {
  readonly runtime: Runtime
  readonly location: PostgresLocation
  readonly indexedTags: readonly string[] | undefined
  readonly connection?: PostgresOptions | undefined
  /** Whether to set the store up if it does not exist. True unless given. */
  readonly create?: boolean | undefined
  /** The clock of the store: the server's, except in tests that move time. */
  readonly clock?: 'server' | 'runtime' | undefined
  /** The levels that the program can run: its own, except in tests. */
  readonly levels?: Levels | undefined
  readonly log?: Log | undefined
}

interface Parts {
  readonly runtime: Runtime
  readonly location: PostgresLocation
  readonly options: PostgresOptions
  readonly pool: Pool
  readonly settings: PostgresSettings
  readonly clock: 'server' | 'runtime'
  readonly guard: LevelGuard
  readonly log: Log
}

export class PostgresStore implements Store {
  readonly settings: StoreSettings
  /** A second batch would wait for the partition's lock here instead of growing in the batcher. */
  readonly batchesAtOnce = 1
  readonly #location: PostgresLocation
  readonly #schema: string
  readonly #pool: Pool
  readonly #reader: SnapshotReader
  readonly #writes: WriteQueue
  readonly #events: EventLog
  readonly #inbox: Inbox
  readonly #listeners = new WakeListeners()
  readonly #channel: WakeChannel
  readonly #isListening: boolean
  readonly #connectionCount: number
  readonly #guard: LevelGuard
  readonly #register: ProcessRegister
  readonly #underWay = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  private constructor({ runtime, location, options, pool, settings, clock, guard, log }: Parts) {
    const schema = quoted(location.schema)
    const listening = listenLocation(options, location)
    const listener = listening === false ? location : listening
    const channel = channelOf(location.schema)
    const loader = new Loader(schema)
    const now = clock === 'runtime' ? () => runtime.now() : undefined
    const { executionPartitions, limitPartitions, indexedTags } = settings
    this.settings = { executionPartitions, limitPartitions, indexedTags }
    this.#location = location
    this.#schema = schema
    this.#pool = pool
    this.#inbox = new Inbox(schema, channel)
    this.#events = new EventLog(pool, schema, settings.lockSpace)
    this.#reader = new SnapshotReader(pool, loader, now)
    this.#writes = new WriteQueue({
      runtime,
      log,
      pool,
      // One connection stays free for reads.
      transactionsMax: (options.connections ?? CONNECTIONS_DEFAULT) - 1,
      parts: {
        schema,
        lockSpace: settings.lockSpace,
        loader,
        flusher: new Flusher(schema),
        inbox: this.#inbox,
        guard,
        now,
      },
      onWake: (wake) => this.#publish(wake),
    })
    this.#guard = guard
    const place = new PostgresLevel((work) => pool.use(work), location.schema, now)
    this.#register = new ProcessRegister({ place, guard, runtime, log })
    this.#isListening = listening !== false
    this.#connectionCount = connectionCountOf(options)
    this.#channel = new WakeChannel({
      openListener: () => openListener(listener, options),
      send: (statement) => pool.use((connection) => connection.send([statement])),
      channel,
      partitions: allPartitions(this.settings),
      runtime,
      log,
      sender: runtime.uuid(),
      onWake: (wake) => this.#receive(wake),
      onStaged: (number) => this.#writes.takeStaged(executionPartition(number), number),
    })
  }

  /** Checks the server before anything is written to it. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const { runtime, location, create = true, clock = 'server', indexedTags, levels = programLevels } = options
    const log = nonThrowingLog(options.log ?? silentLog)
    const connectionOptions = options.connection ?? {}
    const { connections = CONNECTIONS_DEFAULT } = connectionOptions
    const pool = new Pool(runtime, connections, () => Connection.open(location, connectionOptions))
    try {
      const wanted = { executionPartitions: location.executionPartitions, indexedTags, levels }
      const settings = await pool.use(async (connection) => {
        const facts = await checkServer(connection)
        for (const warning of warningsOf(facts)) log.warn({ store: 'postgres' }, warning)
        const known = await findSettings(connection, location.schema, wanted)
        if (known === undefined && !create) throw storeNotFound(location.schema)
        const settings = known ?? (await setUp(connection, location, wanted))
        await checkPermissions(connection, location.schema)
        return settings
      })
      const guard = new LevelGuard(levels, settings.level)
      const store = new PostgresStore({
        runtime,
        location,
        options: connectionOptions,
        pool,
        settings,
        clock,
        guard,
        log,
      })
      await store.#register.start()
      return store
    } catch (error) {
      pool.close()
      throw asEngineError(error)
    }
  }

  get level(): number {
    return this.#guard.level
  }

  run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const number = partitionNumber(partition)
    const isRead = calls.every((call) => isReadOperation(call.operation))
    return this.#use(() => (isRead ? this.#reader.run(number, calls) : this.#writes.run(partition, number, calls)))
  }

  stage(tx: TransactionHandle, partition: Partition, call: Call<'createExecution'>): Promise<void> {
    const number = partitionNumber(partition)
    return stageIn(tx, this.#inbox.staging(number, call, stagedPayload(number)), this.#schema)
  }

  readEvents(partition: Partition, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    return this.#use(() => this.#events.read(partitionNumber(partition), after, limit, hint))
  }

  trimEvents(partition: Partition, olderThan: Instant, keepCount: number): Promise<number> {
    return this.#use(() => this.#events.trim(partitionNumber(partition), olderThan, keepCount))
  }

  recordFacts(kind: FactKind, names: readonly string[]): Promise<void> {
    return this.#use(() => this.#pool.use((connection) => insertFacts(connection, this.#schema, kind, names)))
  }

  findFacts(kind: FactKind, names: readonly string[]): Promise<string[]> {
    return this.#use(() => this.#pool.use((connection) => selectFacts(connection, this.#schema, kind, names)))
  }

  onWake(listener: (wake: Wake) => void): () => void {
    if (this.#closing !== undefined) return () => undefined
    if (this.#isListening) this.#channel.listen()
    return this.#listeners.add(listener)
  }

  /** A process may end between a commit and its notification. */
  eventSweepMs(): number {
    return this.#isListening && this.#channel.isReliable ? QUIET_SWEEP_MS / 3 : EVENT_SWEEP_MS
  }

  report(): Promise<StoreReport> {
    return this.#use(() => this.#pool.use((connection) => this.#reportOver(connection)))
  }

  dump(partition: Partition): Promise<PartitionDump> {
    return this.#use(() => dumpPartition(this.#pool, this.#schema, partitionNumber(partition)))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#listeners.clear()
    await Promise.allSettled(this.#underWay)
    // Wake-ups of the last commits are sent before the connections close.
    await this.#channel.close()
    await this.#register.close()
    this.#pool.close()
  }

  async #reportOver(connection: Connection): Promise<StoreReport> {
    const server = await checkServer(connection)
    const counts = {
      connectionCount: this.#connectionCount,
      ...(await inboxCounts(connection, this.#location.schema)),
    }
    const report = reportOf(this.#location, server, counts)
    const { warning } = this.#channel
    return warning === undefined ? report : { ...report, warnings: [...report.warnings, warning] }
  }

  #publish(wake: Wake): void {
    this.#listeners.notify(wake)
    this.#channel.announce(wake)
  }

  /** A wake-up without `ready` means that wake-ups may have been missed, and so may staged submits. */
  #receive(wake: Wake): void {
    const { partition, ready } = wake
    if (ready === undefined && familyOf(partition) === 'fp')
      this.#writes.takeStaged(partition, partitionNumber(partition))
    this.#listeners.notify(wake)
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new EngineError('fabric_closed', { message: 'Its store is closed.' })
    this.#guard.check()
    const using = work()
    this.#underWay.add(using)
    try {
      return await using
    } catch (error) {
      const failure = asEngineError(error)
      if (failure instanceof EngineError && failure.isRetryable) this.#channel.doubt()
      throw failure
    } finally {
      this.#underWay.delete(using)
    }
  }
}

/**
 * Uses the credentials of the listen location. The socket is unref'd: the listener alone must not keep the process
 * alive.
 */
async function openListener(location: PostgresLocation, options: PostgresOptions): Promise<Connection> {
  const connection = await Connection.open(location, { ...options, username: undefined, password: undefined })
  connection.unref()
  return connection
}

/** Counts the connections that a process may use at once: those for its work, and the listener. */
function connectionCountOf({ connections = CONNECTIONS_DEFAULT, listen }: PostgresOptions): number {
  return connections + (listen === false ? 0 : 1)
}
