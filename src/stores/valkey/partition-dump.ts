/** Everything in a partition, read key by key. For tests and for proofs on small stores: it walks all keys of a server. */
import type { Redis } from 'ioredis'
import { recordTypes } from '../../kernel/index.ts'
import type { AnyRecord, IndexEntry } from '../../kernel/index.ts'
import type { Partition, PartitionDump } from '../store.ts'
import type { Connection } from './connection/connection.ts'
import type { EventLog } from './event-log.ts'
import { readName } from './layout/id-bytes.ts'
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
  const prefix = Buffer.from(keys.partition(partition))
  const names = (await connection.onEachPrimary((server) => keysOn(server, prefix))).flat()
  const under = (kind: keyof typeof keyKinds) => {
    const head = Buffer.concat([prefix, Buffer.from(keyKinds[kind])])
    const found = names.filter((key) => key.subarray(0, head.length).equals(head))
    return found.map((key) => ({ key, name: readName(key, head.length) }))
  }
  const records = await Promise.all(
    recordTypes.flatMap((type) => under(type).map(({ key, name }) => readRecord(connection, type, key, name))),
  )
  const entries = await Promise.all(under('index').map(({ key, name }) => readIndex(connection, key, name)))
  return {
    records: records.filter((record) => record !== undefined),
    entries: entries.flat(),
    blobKeys: under('blob').map(({ name }) => name),
    events: await readEvents(log, partition),
  }
}

async function keysOn(server: Redis, prefix: Buffer): Promise<Buffer[]> {
  const pattern = `${prefix.toString().replaceAll(/[*?[\]\\]/g, '\\$&')}*`
  const found = new Map<string, Buffer>()
  let cursor = '0'
  do {
    const [next, names] = await server.scanBuffer(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT)
    for (const name of names) found.set(name.toString('latin1'), name)
    cursor = String(next)
  } while (cursor !== '0')
  return [...found.values()]
}

async function readRecord(
  connection: Connection,
  type: (typeof recordTypes)[number],
  key: Buffer,
  id: string,
): Promise<AnyRecord | undefined> {
  const bytes = (await connection.sendForBytes('GET', key)) as Buffer | null
  if (bytes === null) return undefined
  return readRecordValue(type, id, bytes, storedForm).record
}

async function readIndex(connection: Connection, key: Buffer, index: string): Promise<IndexEntry[]> {
  const reply = (await connection.sendForBytes('ZRANGE', key, 0, -1, 'WITHSCORES')) as Buffer[]
  const entries: IndexEntry[] = []
  for (let i = 0; i + 1 < reply.length; i += 2) {
    entries.push({ index, id: readName(reply[i] as Buffer), score: Number(reply[i + 1]) })
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
