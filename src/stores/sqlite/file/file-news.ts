/**
 * Shows which partitions have changed in a way that listeners are notified of. Every commit changes the data version of a file,
 * also a heartbeat of an idle process. So a commit with news leaves a trace: its events advance the last sequence of the partition,
 * and without events it advances a count. The trace is part of the commit, so no news is lost.
 */
import type { StatementSync } from 'node:sqlite'
import type { Partition } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'

const NEWS_NAME = 'news '
const COUNT = `insert into meta (name, value) values ('${NEWS_NAME}' || ?, '1')
  on conflict (name) do update set value = cast(cast(value as integer) + 1 as text)`
const TRACES = `select partition.name, last_sequence, meta.value as news_count from partition
  left join meta on meta.name = '${NEWS_NAME}' || partition.name order by number limit ?`

/** The trace in a partition that was never written. */
const NO_TRACE = traceOf(0, null)

export class FileNews {
  readonly #partitions: readonly Partition[]
  readonly #traces: StatementSync
  #known = new Map<Partition, string>()

  constructor(connection: Connection, partitions: readonly Partition[]) {
    this.#partitions = partitions
    this.#traces = connection.prepare(TRACES)
  }

  /** Returns the partitions with news since the last call: all of them if the file cannot be read. */
  take(): readonly Partition[] {
    const before = this.#known
    try {
      this.#known = this.#read()
    } catch {
      return this.#partitions
    }
    const traceIn = (traces: ReadonlyMap<Partition, string>, partition: Partition) => traces.get(partition) ?? NO_TRACE
    return this.#partitions.filter((partition) => traceIn(before, partition) !== traceIn(this.#known, partition))
  }

  #read(): Map<Partition, string> {
    const rows = this.#traces.all(this.#partitions.length)
    return new Map(rows.map((row) => [row['name'] as Partition, traceOf(row['last_sequence'], row['news_count'])]))
  }
}

/** Counts news without events, in the transaction of the caller. */
export function countNews(connection: Connection, partition: Partition): void {
  connection.prepare(COUNT).run(partition)
}

function traceOf(lastSequence: unknown, newsCount: unknown): string {
  return `${String(lastSequence)} ${String(newsCount)}`
}
