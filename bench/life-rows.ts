/**
 * The rows that one execution's life leaves in a file store, step by step. They are taken from the kernel by letting it
 * run one execution and looking at what changed, so they are the right ones whatever the kernel writes.
 */
import { Client, encodeValue, task } from '../src/client/index.ts'
import { PAYLOAD_BYTES, packEvent, packRecord } from '../src/kernel/index.ts'
import type { AnyRecord, Claimed, IndexEntry } from '../src/kernel/index.ts'
import { systemRuntime } from '../src/runtime/index.ts'
import { eventColumns, recordColumns } from '../src/stores/columns.ts'
import type { Column } from '../src/stores/columns.ts'
import { MemoryStore } from '../src/stores/memory/memory-store.ts'
import { executionPartition } from '../src/stores/store.ts'
import type { PartitionDump, StoredEvent } from '../src/stores/store.ts'

export type Value = string | number | Uint8Array | null

export interface Row {
  readonly sql: string
  readonly values: readonly Value[]
}

export interface LifeRows {
  /** Stands in the values wherever the execution's id belongs. */
  readonly executionId: string
  /** Created, claimed, completed. */
  readonly steps: readonly (readonly Row[])[]
}

/** Stands in the values wherever the next number of the event log belongs. */
export const NEXT_SEQUENCE = -1
/** The number of the partition in the tables. */
export const PARTITION_NUMBER = 1

const TASK_NAME = 'bench.noop'
const LEASE_TTL_MS = 30_000

export async function lifeRows(payload: unknown, result: unknown): Promise<LifeRows> {
  const runtime = systemRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] })
  await using client = new Client(store, runtime)
  const noop = task(TASK_NAME)
  // The first submit to a queue registers it; the later ones find it there.
  await (await client.submit(noop, payload)).cancel()

  let before = await store.dump(executionPartition(0))
  const changes = async (bytes: Uint8Array) => {
    const after = await store.dump(executionPartition(0))
    const rows = rowsBetween(before, after, bytes)
    before = after
    return rows
  }
  const execution = await client.submit(noop, payload)
  const created = await changes(encode(payload))
  const claimed = await claimOne(client)
  const taken = await changes(new Uint8Array())
  await complete(client, claimed, encode(result))
  const completed = await changes(encode(result))
  return { executionId: execution.id, steps: [created, taken, completed] }
}

function encode(value: unknown): Uint8Array {
  return encodeValue(value, 'value', PAYLOAD_BYTES)?.bytes ?? new Uint8Array()
}

async function claimOne(client: Client): Promise<Claimed> {
  const { result } = await client.batcher.run(executionPartition(0), 'claimForWorker', {
    requestId: client.runtime.uuid(),
    workerId: 'bench',
    workerInstanceId: client.runtime.uuid(),
    queues: [{ lane: 'default', class: TASK_NAME }],
    count: 1,
    leaseTtlMs: LEASE_TTL_MS,
    seed: 1,
  })
  const [claimed] = result.executions
  if (claimed === undefined) throw new Error('Nothing could be claimed.')
  return claimed
}

async function complete(client: Client, { executionId, fence }: Claimed, bytes: Uint8Array): Promise<void> {
  const result = { blob: 0, size: bytes.byteLength, encoding: 'json' } as const
  await client.batcher.run(executionPartition(0), 'completeExecution', { executionId, fence, result }, [bytes])
}

/** What one step wrote. A step that adds bytes adds these. */
function rowsBetween(before: PartitionDump, after: PartitionDump, bytes: Uint8Array): Row[] {
  const known = new Map(before.records.map((record) => [record.id, JSON.stringify(record)]))
  const [oldEntries, newEntries] = [new Set(before.entries.map(entryText)), new Set(after.entries.map(entryText))]
  const oldKeys = new Set(before.blobKeys)
  return [
    ...after.records
      .filter((record) => known.get(record.id) !== JSON.stringify(record))
      .map((record) => recordRow(record, known.has(record.id))),
    ...before.entries.filter((entry) => !newEntries.has(entryText(entry))).map(removedEntryRow),
    ...after.entries.filter((entry) => !oldEntries.has(entryText(entry))).map(addedEntryRow),
    ...after.blobKeys.filter((key) => !oldKeys.has(key)).map((key) => blobRow(key, bytes)),
    ...after.events.slice(before.events.length).map(eventRow),
  ]
}

function entryText({ index, score, id }: IndexEntry): string {
  return JSON.stringify([index, score, id])
}

function recordRow(record: AnyRecord, existed: boolean): Row {
  // A record is only ever handed to the columns of its own type.
  const columns = recordColumns[record.type] as readonly Column<AnyRecord>[]
  const names = [...columns.map((column) => column.name), 'record', 'id', 'partition']
  const values = [
    ...columns.map((column) => column.value(record) ?? null),
    JSON.stringify(packRecord(record)),
    record.id,
    PARTITION_NUMBER,
  ]
  if (!existed) return insertRow(record.type, names, values)
  const changes = names.slice(0, -2).map((name) => `${name} = ?`)
  return { sql: `update ${record.type} set ${changes.join(', ')} where id = ? and partition = ?`, values }
}

function addedEntryRow({ index, score, id }: IndexEntry): Row {
  return insertRow('entry', ['partition', 'name', 'score', 'id'], [PARTITION_NUMBER, index, score, id])
}

function removedEntryRow({ index, score, id }: IndexEntry): Row {
  const sql = 'delete from entry where partition = ? and name = ? and score = ? and id = ?'
  return { sql, values: [PARTITION_NUMBER, index, score, id] }
}

function blobRow(key: string, bytes: Uint8Array): Row {
  return insertRow('blob', ['partition', 'key', 'bytes'], [PARTITION_NUMBER, key, bytes])
}

function eventRow({ sequence: _, ...event }: StoredEvent): Row {
  const names = [...eventColumns.map((column) => column.name), 'record', 'partition', 'sequence']
  const values = [
    ...eventColumns.map((column) => column.value(event) ?? null),
    JSON.stringify(packEvent(event)),
    PARTITION_NUMBER,
    NEXT_SEQUENCE,
  ]
  return insertRow('event', names, values)
}

function insertRow(table: string, names: readonly string[], values: readonly Value[]): Row {
  const marks = names.map(() => '?').join(', ')
  return { sql: `insert into ${table} (${names.join(', ')}) values (${marks})`, values }
}
