/**
 * The same rows as the life of an execution or of a flow writes, put into the same tables by a bare loop over node:sqlite:
 * no client, no kernel, no reads. What an engine can reach at most on this machine, at this moment.
 */
import type { StatementSync } from 'node:sqlite'
import type { Runtime } from '../src/runtime/index.ts'
import { programLevels } from '../src/stores/level/store-level.ts'
import type { Synchronous } from '../src/stores/sqlite/file/synchronous.ts'
import type { Connection } from '../src/stores/sqlite/connection/connection.ts'
import { openFile } from '../src/stores/sqlite/file/file.ts'
import type { LifeRows } from './life-rows.ts'
import { perSecond } from './load.ts'
import { NEXT_SEQUENCE, PARTITION_NUMBER } from './rows.ts'
import type { Row, Value } from './rows.ts'

export interface RawLoad {
  readonly file: string
  readonly synchronous: Synchronous
  readonly count: number
  /** Lives whose step shares one transaction. */
  readonly batchSize: number
  readonly rows: LifeRows
}

/** Lives written per second. Only the transactions are timed, not the making of their rows. */
export async function rawStorePerSecond(runtime: Runtime, load: RawLoad): Promise<number> {
  const { writer, reader } = await openFile(runtime, load.file, load.synchronous, {
    indexedTags: undefined,
    levels: programLevels,
  })
  try {
    writer.execute(`insert into partition (number, name) values (${PARTITION_NUMBER}, 'bench')`)
    return perSecond(load.count, writeLives(new RawWriter(writer), load, runtime))
  } finally {
    reader.close()
    writer.close()
  }
}

function writeLives(writer: RawWriter, { count, batchSize, rows }: RawLoad, runtime: Runtime): number {
  const mint = (): Rename => new Map(rows.uuids.map((uuid) => [uuid, runtime.uuid()]))
  let elapsedMs = 0
  for (let done = 0; done < count; done += batchSize) {
    const renames = Array.from({ length: Math.min(batchSize, count - done) }, mint)
    for (const step of rows.steps) {
      elapsedMs += writer.transact(renames.flatMap((rename) => step.map((row) => writer.bind(row, rename))))
    }
  }
  return elapsedMs
}

/** What stands in one life for what stood in the one that the rows were taken from. */
type Rename = ReadonlyMap<string, string>

interface BoundRow {
  readonly statement: StatementSync
  readonly values: readonly Value[]
}

class RawWriter {
  readonly #connection: Connection
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  #sequence = 0

  constructor(connection: Connection) {
    this.#connection = connection
    this.#begin = connection.prepare('begin immediate')
    this.#commit = connection.prepare('commit')
  }

  /** A row of another life than the one it was taken from. */
  bind(row: Row, rename: Rename): BoundRow {
    const values = row.values.map((value) => {
      if (value === NEXT_SEQUENCE) return ++this.#sequence
      return typeof value === 'string' ? renamed(value, rename) : value
    })
    return { statement: this.#connection.prepare(row.sql), values }
  }

  transact(rows: readonly BoundRow[]): number {
    const startedAt = performance.now()
    this.#begin.run()
    for (const { statement, values } of rows) statement.run(...values)
    this.#commit.run()
    return performance.now() - startedAt
  }
}

function renamed(text: string, rename: Rename): string {
  let result = text
  for (const [from, to] of rename) result = result.replaceAll(from, to)
  return result
}
