/**
 * Runs everything that writes a file. A batch is one transaction. Effects are acknowledged and announced only after the
 * commit, so a crash loses nothing that was acknowledged.
 */
import type { Instant } from '../../../kernel/index.ts'
import type { Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { LevelGuard } from '../../level/store-level.ts'
import { faultIn, runOneByOne } from '../../sql/run-one-by-one.ts'
import { Overlay } from '../../working-set/overlay/overlay.ts'
import { wakeOf } from '../../working-set/overlay/wake-of.ts'
import type { Answer, Call, FactKind, Partition, Wake } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'
import { EventLog } from '../tables/event-log.ts'
import { insertFacts } from '../tables/facts.ts'
import { countNews } from '../file/file-news.ts'
import { readMeta } from '../file/file-settings.ts'
import { PartitionWriter } from '../tables/partition-writer.ts'
import { RefusedRow } from '../tables/row-statements.ts'
import { isSqliteError } from '../connection/sqlite-error.ts'
import { StoredPartition } from '../tables/stored-partition.ts'
import { Transactions } from '../connection/transactions.ts'
import { SerialQueue } from './serial-queue.ts'

interface OpenPartition {
  readonly name: Partition
  readonly stored: StoredPartition
  readonly writer: PartitionWriter
  readonly log: EventLog
}

export class WriteQueue {
  readonly #runtime: Runtime
  readonly #connection: Connection
  readonly #transactions: Transactions
  readonly #queue = new SerialQueue()
  readonly #partitions = new Map<Partition, OpenPartition>()
  readonly #guard: LevelGuard
  readonly #onWake: (wake: Wake) => void

  constructor(runtime: Runtime, connection: Connection, guard: LevelGuard, onWake: (wake: Wake) => void) {
    this.#runtime = runtime
    this.#connection = connection
    this.#guard = guard
    this.#transactions = new Transactions(runtime, connection, 'write')
    this.#onWake = onWake
  }

  run(name: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const since = this.#runtime.monotonic()
    return this.#queue.run(async () => {
      const partition = await this.#open(name, since)
      try {
        return await this.#runTogether(partition, calls, since)
      } catch (error) {
        // A busy file fails every operation alike; any other error may be caused by one of them.
        if (error instanceof EngineError) throw error
      }
      return runOneByOne(calls, (call) => this.#runTogether(partition, [call], since), faultOf)
    })
  }

  /** Trims in steps, between which other work runs. */
  async trimEvents(name: Partition, olderThan: Instant, keepCount: number): Promise<number> {
    let trimmed = 0
    for (;;) {
      const since = this.#runtime.monotonic()
      const step = await this.#queue.run(async () => {
        const { log } = await this.#open(name, since)
        return this.#transact(() => log.trimSome(olderThan, keepCount), since)
      })
      if (step === undefined) return trimmed
      trimmed += step
      await new Promise<void>((resolve) => this.#runtime.soon(resolve))
    }
  }

  recordFacts(kind: FactKind, names: readonly string[]): Promise<void> {
    const since = this.#runtime.monotonic()
    return this.#queue.run(() => this.#transact(() => insertFacts(this.#connection, kind, names), since))
  }

  async #runTogether(partition: OpenPartition, calls: readonly Call[], since: number): Promise<Answer[]> {
    const { answers, wake } = await this.#transact(() => {
      // The clock is read under the lock, so a later transaction has a later time.
      const overlay = new Overlay(partition.stored, this.#runtime.now())
      const answers = overlay.runAll(calls)
      const writes = overlay.writes()
      partition.writer.write(writes)
      const wake = wakeOf(partition.name, writes)
      if (wake?.hasEvents === false) countNews(this.#connection, partition.name)
      return { answers, wake }
    }, since)
    if (wake !== undefined) this.#onWake(wake)
    return answers
  }

  /** Reads the level first, so that nothing is written to a file whose level was raised beyond this program. */
  #transact<T>(work: () => T, since: number): Promise<T> {
    return this.#transactions.run(() => {
      this.#guard.observe(readMeta(this.#connection, 'level'))
      return work()
    }, since)
  }

  async #open(name: Partition, since: number): Promise<OpenPartition> {
    const known = this.#partitions.get(name)
    if (known !== undefined) return known
    const number = await this.#transact(() => partitionNumber(this.#connection, name), since)
    const partition: OpenPartition = {
      name,
      stored: new StoredPartition(this.#connection, number),
      writer: new PartitionWriter(this.#connection, number),
      log: new EventLog(this.#connection, number),
    }
    this.#partitions.set(name, partition)
    return partition
  }
}

/** Returns the number of a partition, which is assigned at the first write. */
function partitionNumber(connection: Connection, name: Partition): number {
  connection.prepare('insert into partition (name) values (?) on conflict (name) do nothing').run(name)
  return connection.prepare('select number from partition where name = ?').get(name)?.['number'] as number
}

/** Returns a fault if the operation caused the error; undefined if the store failed. */
function faultOf(call: Call, error: unknown): Answer | undefined {
  if (error instanceof RefusedRow) return { kind: 'fault', reason: error.message, recordId: error.recordId }
  if (error instanceof EngineError || isSqliteError(error) || !(error instanceof Error)) return undefined
  return faultIn(call, error.message)
}
