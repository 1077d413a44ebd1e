/** Everything in a partition, read key by key. For tests and for proofs on small stores: it walks all keys of a server. */
import type { Redis } from 'ioredis'
import { recordTypes } from '../../kernel/index.ts'
import type { AnyRecord, IndexEntry } from '../../kernel/index.ts'
import type { Partition, PartitionDump } from '../store.ts'
import type { Connection } from './connection/connection.ts'
import type { EventLog } from './event-log.ts'
import { keyKinds } from './layout/keys.ts'
import type { Keys } from './layout/keys.ts'
import { readRecordValue } from './layout/stored-value.ts'
import { storedForm } from './layout/stored-form.ts'

const SCAN_COUNT = 1_000
const EVENT_PAGE = 1_000

export async function dumpPartition(
  connection: Connection,
  keys: Keys,
  log: EventLog,
  partition: Partition,
): Promise<PartitionDump> {
  const prefix = keys.partition(partition)
  const names = (await connection.onEachPrimary((server) => keysOn(server, prefix))).flat()
  const under = (kind: keyof typeof keyKinds) => names.filter((name) => name.startsWith(`${prefix}${keyKinds[kind]}`))
  const records = await Promise.all(
    recordTypes.flatMap((type) => under(type).map((key) => readRecord(connection, type, key))),
  )
  const entries = await Promise.all(
    under('index').map((key) => readIndex(connection, key, key.slice(prefix.length + keyKinds.index.length))),
  )
  return {
    records: records.filter((record) => record !== undefined),
    entries: entries.flat(),
    blobKeys: under('blob').map((key) => key.slice(prefix.length + keyKinds.blob.length)),
    events: await readEvents(log, partition),
  }
}

async function keysOn(server: Redis, prefix: string): Promise<string[]> {
  const pattern = `${prefix.replaceAll(/[*?[\]\\]/g, '\\$&')}*`
  const found = new Set<string>()
  let cursor = '0'
  do {
    const [next, names] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT)
    for (const name of names) found.add(name)
    cursor = next
  } while (cursor !== '0')
  return [...found]
}

async function readRecord(
  connection: Connection,
  type: (typeof recordTypes)[number],
  key: string,
): Promise<AnyRecord | undefined> {
  const bytes = (await connection.sendForBytes('GET', key)) as Buffer | null
  if (bytes === null) return undefined
  return readRecordValue(type, bytes, storedForm).record
}

async function readIndex(connection: Connection, key: string, index: string): Promise<IndexEntry[]> {
  const reply = (await connection.send('ZRANGE', key, 0, -1, 'WITHSCORES')) as string[]
  const entries: IndexEntry[] = []
  for (let i = 0; i + 1 < reply.length; i += 2) {
    entries.push({ index, id: String(reply[i]), score: Number(reply[i + 1]) })
  }
  return entries
}

async function readEvents(log: EventLog, partition: Partition): Promise<PartitionDump['events']> {
  const events: PartitionDump['events'][number][] = []
  for (let after = 0; ;) {
    const page = await log.read(partition, after, EVENT_PAGE)
    events.push(...page.events)
    const last = page.events.at(-1)
    if (last === undefined) return events
    after = last.sequence
  }
}
