import { recordTypes, unpackRecord } from '../../kernel/index.ts'
import { cellsOf } from '../sql/record-text.ts'
import type { PartitionDump } from '../store.ts'
import { nameOf } from './wire/arrays.ts'
import { eventsIn } from './event-log.ts'
import type { Pool } from './wire/pool.ts'
import { snapshot } from './transaction/snapshot-reader.ts'

/** Reads everything in a partition, without a bound: for tests and `doctor`. */
export async function dumpPartition(pool: Pool, schema: string, number: number): Promise<PartitionDump> {
  const select = (name: string, columns: string, table: string, order: string) => ({
    name: `ff_dump_${name}`,
    text: `select ${columns} from ${schema}.${table} where partition = $1 order by ${order}`,
    values: [number],
  })
  const replies = await pool.use((connection) =>
    snapshot(connection, [
      select('entry', 'name, score, id', 'entry', 'name, score, id'),
      select('blob', 'key', 'blob', 'key'),
      select('event', 'first_sequence, records', 'event_batch', 'last_sequence'),
      ...recordTypes.map((type) => select(type, 'record', type, 'id')),
    ]),
  )
  const [entries, blobs, events, ...records] = replies.map(({ rows }) => rows)
  return {
    records: recordTypes.flatMap((type, i) =>
      (records[i] ?? []).map((row) => unpackRecord(type, cellsOf(row[0] as string))),
    ),
    entries: (entries ?? []).map((row) => ({
      index: nameOf(row[0] as string),
      score: row[1] as number,
      id: row[2] as string,
    })),
    blobKeys: (blobs ?? []).map((row) => row[0] as string),
    events: (events ?? []).flatMap(eventsIn),
  }
}
