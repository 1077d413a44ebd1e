/** Runs read operations on snapshots, over a connection of its own. Never waits for a writer. */
import type { Runtime } from '../../../runtime/index.ts'
import { Overlay } from '../../working-set/overlay/overlay.ts'
import type { Answer, Call, EventHint, EventPage, FactKind, Partition, PartitionDump } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'
import { EventLog } from '../tables/event-log.ts'
import { selectFacts } from '../tables/facts.ts'
import { dumpPartition } from '../tables/partition-dump.ts'
import { StoredPartition } from '../tables/stored-partition.ts'
import { Transactions } from '../connection/transactions.ts'

/** Partitions are numbered from 1, so a partition that was never written reads as empty. */
const NO_PARTITION = 0

interface OpenPartition {
  readonly number: number
  readonly stored: StoredPartition
  readonly log: EventLog
}

export class SnapshotReader {
  readonly #runtime: Runtime
  readonly #connection: Connection
  readonly #transactions: Transactions
  readonly #partitions = new Map<Partition, OpenPartition>()

  constructor(runtime: Runtime, connection: Connection) {
    this.#runtime = runtime
    this.#connection = connection
    this.#transactions = new Transactions(runtime, connection, 'read')
  }

  run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    return this.#transactions.run(() => new Overlay(this.#open(partition).stored, this.#runtime.now()).runAll(calls))
  }

  readEvents(partition: Partition, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    return this.#transactions.run(() => this.#open(partition).log.page(after, limit, hint))
  }

  findFacts(kind: FactKind, names: readonly string[]): Promise<string[]> {
    return this.#transactions.run(() => selectFacts(this.#connection, kind, names))
  }

  dump(partition: Partition): Promise<PartitionDump> {
    return this.#transactions.run(() => dumpPartition(this.#connection, this.#open(partition).number))
  }

  #open(name: Partition): OpenPartition {
    const known = this.#partitions.get(name)
    if (known !== undefined) return known
    const row = this.#connection.prepare('select number from partition where name = ?').get(name)
    const number = (row?.['number'] as number | undefined) ?? NO_PARTITION
    const partition = {
      number,
      stored: new StoredPartition(this.#connection, number),
      log: new EventLog(this.#connection, number),
    }
    if (number !== NO_PARTITION) this.#partitions.set(name, partition)
    return partition
  }
}
