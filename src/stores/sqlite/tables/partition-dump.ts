import { recordTypes, unpackRecord } from '../../../kernel/index.ts'
import type { Cell } from '../../../kernel/index.ts'
import type { PartitionDump } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'
import { readEvent } from './event-log.ts'

/** Reads everything in a partition, without a bound: for tests and `doctor`. */
export function dumpPartition(connection: Connection, partition: number): PartitionDump {
  return {
    records: recordTypes.flatMap((type) =>
      connection
        .prepare(`select record from ${type} where partition = ? order by id`)
        .all(partition)
        .map((row) => unpackRecord(type, JSON.parse(row['record'] as string) as Cell[])),
    ),
    entries: connection
      .prepare('select name, score, id from entry where partition = ? order by name, score, id')
      .all(partition)
      .map((row) => ({ index: row['name'] as string, score: row['score'] as number, id: row['id'] as string })),
    blobKeys: connection
      .prepare('select key from blob where partition = ? order by key')
      .all(partition)
      .map((row) => row['key'] as string),
    events: connection
      .prepare('select sequence, record from event where partition = ? order by sequence')
      .all(partition)
      .map(readEvent),
  }
}
