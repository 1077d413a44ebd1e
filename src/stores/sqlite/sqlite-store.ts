/** A store in one SQLite file, shared by any number of processes of one machine. */
import { isReadOperation } from '../../kernel/index.ts'
import type { Instant } from '../../kernel/index.ts'
import { nonThrowingLog, silentLog } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { ProcessRegister } from '../level/process-register.ts'
import { LevelGuard, programLevels } from '../level/store-level.ts'
import type { Levels } from '../level/store-level.ts'
import type { Synchronous } from './file/synchronous.ts'
import { allPartitions } from '../partitions.ts'
import { QUIET_SWEEP_MS } from '../store.ts'
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
  Wake,
} from '../store.ts'
import { WakeListeners } from '../wake-listeners.ts'
import { FileIdentity } from './file/file-identity.ts'
import { FileLevel } from './file/file-level.ts'
import { FileNews } from './file/file-news.ts'
import { FileWatch, WATCH_INTERVAL_MS } from './file/file-watch.ts'
import { MEMORY_FILE, openFile } from './file/file.ts'
import type { OpenFile } from './file/file.ts'
import { SnapshotReader } from './transaction/snapshot-reader.ts'
import { failureInUse } from './connection/sqlite-error.ts'
import { reportOf } from './store-report.ts'
import { WriteQueue } from './transaction/write-queue.ts'

export interface SqliteOptions {
  readonly runtime: Runtime
  /** A path, or `:memory:`. */
  readonly file: string
  readonly synchronous?: Synchronous | undefined
  /** Left out, those of the file, or none for a new one. */
  readonly indexedTags?: readonly string[] | undefined
  /** Interval of polling for commits of others, while there are listeners. */
  readonly watchIntervalMs?: number | undefined
  /** The levels that the program can run: its own, except in tests. */
  readonly levels?: Levels | undefined
  readonly log?: Log | undefined
}

export class SqliteStore implements Store {
  readonly settings: StoreSettings
  readonly #file: OpenFile
  readonly #reader: SnapshotReader
  readonly #writes: WriteQueue
  /** Undefined in memory, where nothing else can write. */
  readonly #watch: FileWatch | undefined
  readonly #news: FileNews | undefined
  readonly #identity: FileIdentity | undefined
  readonly #register: ProcessRegister | undefined
  readonly #guard: LevelGuard
  readonly #listeners = new WakeListeners()
  readonly #underWay = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  static async open(options: SqliteOptions): Promise<SqliteStore> {
    const { runtime, file, synchronous = 'normal', indexedTags, levels = programLevels } = options
    return new SqliteStore(options, await openFile(runtime, file, synchronous, { indexedTags, levels }), levels)
  }

  private constructor(options: SqliteOptions, file: OpenFile, levels: Levels) {
    const { runtime, watchIntervalMs = WATCH_INTERVAL_MS } = options
    this.settings = file.settings
    this.#file = file
    this.#reader = new SnapshotReader(runtime, file.reader)
    this.#guard = new LevelGuard(levels, file.level)
    this.#writes = new WriteQueue(runtime, file.writer, this.#guard, (wake) => this.#listeners.notify(wake))
    if (file.path === MEMORY_FILE) return
    this.#identity = new FileIdentity(runtime, file.path)
    // The data version of the writer's connection changes only by commits of others. Its own commits wake listeners
    // directly.
    this.#watch = new FileWatch(runtime, file.writer, watchIntervalMs, () => this.#wakeOthers())
    this.#news = new FileNews(file.writer, allPartitions(this.settings))
    this.#register = new ProcessRegister({
      place: new FileLevel(runtime, file.writer),
      guard: this.#guard,
      runtime,
      log: nonThrowingLog(options.log ?? silentLog),
    })
    // Opening never waits for a busy file.
    void this.#register.start()
  }

  get level(): number {
    return this.#guard.level
  }

  run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const isRead = calls.every((call) => isReadOperation(call.operation))
    return this.#use(async () => {
      if (isRead) return await this.#reader.run(partition, calls)
      this.#identity?.check()
      return await this.#writes.run(partition, calls)
    })
  }

  readEvents(partition: Partition, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    return this.#use(() => this.#reader.readEvents(partition, after, limit, hint))
  }

  trimEvents(partition: Partition, olderThan: Instant, keepCount: number): Promise<number> {
    return this.#use(() => this.#writes.trimEvents(partition, olderThan, keepCount))
  }

  recordFacts(kind: FactKind, names: readonly string[]): Promise<void> {
    return this.#use(() => this.#writes.recordFacts(kind, names))
  }

  findFacts(kind: FactKind, names: readonly string[]): Promise<string[]> {
    return this.#use(() => this.#reader.findFacts(kind, names))
  }

  onWake(listener: (wake: Wake) => void): () => void {
    if (this.#closing !== undefined) return () => undefined
    // In this order, so that a commit between the two is news.
    if (this.#listeners.size === 0) this.#news?.take()
    const remove = this.#listeners.add(listener)
    this.#watch?.start()
    return () => {
      remove()
      if (this.#listeners.size === 0) this.#watch?.stop()
    }
  }

  /** The data version of the file shows every commit of others. */
  eventSweepMs(): number {
    return QUIET_SWEEP_MS
  }

  report(): Promise<StoreReport> {
    return this.#use(async () => reportOf(this.#file))
  }

  dump(partition: Partition): Promise<PartitionDump> {
    return this.#use(() => this.#reader.dump(partition))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#watch?.stop()
    this.#listeners.clear()
    await Promise.allSettled(this.#underWay)
    await this.#register?.close()
    if (this.#file.reader !== this.#file.writer) this.#file.reader.close()
    this.#file.writer.close()
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new EngineError('fabric_closed', { message: 'Its store is closed.' })
    this.#guard.check()
    const using = work()
    this.#underWay.add(using)
    try {
      return await using
    } catch (error) {
      throw failureInUse(this.#file.path, error)
    } finally {
      this.#underWay.delete(using)
    }
  }

  /** Notifies listeners of commits of other connections. */
  #wakeOthers(): void {
    for (const partition of this.#news?.take() ?? []) this.#listeners.notify({ partition, hasEvents: true })
  }
}
