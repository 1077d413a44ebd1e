/** A store as programs of an older layout left it, written by hand: every type of record, indexes, blobs, events and a trimmed log. */
import type { AnyRecord, FabricEvent } from '../../src/kernel/index.ts'
import { DATA_VERSION } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { Connection } from '../../src/stores/valkey/connection/connection.ts'
import { oldEventBytes, oldRecordBytes } from '../../src/stores/valkey/migration/old-layout.fixture.ts'
import type { OldRecordType } from '../../src/stores/valkey/migration/old-schema.ts'
import { textEventBytes, textRecordBytes } from '../../src/stores/valkey/migration/text-ids.fixture.ts'
import { Clock } from '../conformance/clock.ts'
import { INDEXED_TAGS, TestFabric } from '../conformance/fabric.ts'
import { GivenFlow, chain } from '../conformance/given-flow.ts'
import { GivenJournal } from '../conformance/given-journal.ts'
import { Given } from '../conformance/given.ts'
import { memory } from '../conformance/targets.ts'

/** What layout 3 called its keys. Layout 4 has its number in front of the colon. */
const oldLetters: Readonly<Record<OldRecordType | 'index' | 'blob', string>> = {
  execution: 'x',
  attempt: 'a',
  queue: 'q',
  flow: 'f',
  edge: 'e',
  step: 's',
  waitpoint: 'w',
  signal: 'g',
  index: 'i',
  blob: 'b',
}

interface OldForm {
  readonly version: number
  readonly mark: string
  readonly recordBytes: (record: AnyRecord) => Buffer
  readonly eventBytes: (event: FabricEvent) => Buffer
}

export const oldForms: readonly OldForm[] = [
  { version: 3, mark: '', recordBytes: oldRecordBytes, eventBytes: oldEventBytes },
  { version: 4, mark: '4', recordBytes: textRecordBytes, eventBytes: textEventBytes },
]

export function oldSettings(layoutVersion: number) {
  return { dataVersion: DATA_VERSION, layoutVersion, executionPartitions: 8, indexedTags: [...INDEXED_TAGS] }
}

/** Events that were removed from the log of every partition before. */
export const TRIMMED = 17

/** Enough for several steps of a migration. */
const EXECUTIONS = 230
const EVENTS_MIN = 700

const bytes = (text: string) => new TextEncoder().encode(text)

/** What a partition came to hold through operations, on a store in memory. */
export async function livedPartition(): Promise<PartitionDump> {
  const fabric = new TestFabric(memory)
  await fabric.open()
  try {
    const given = new Given(fabric, new Clock(fabric))
    const flows = new GivenFlow(fabric, given)
    const journal = new GivenJournal(fabric, given)
    await given.endedExecution('completed', { bytes: bytes('a payload') })
    await given.endedExecution('failed')
    const held = await given.activeExecution({ tags: [{ name: 'customer', value: 'Åse 🐝', indexed: true }] })
    await journal.recordValue(held, 'charge', bytes('a value'))
    await journal.opened(held, 'approval')
    await journal.signal(held, 'approval', { bytes: bytes('a signal') })
    await journal.waiting()
    const graph = await flows.graph(chain(['first', 'second', 'third']))
    await graph.completeWith('first', bytes('a result'))
    await given.delayedExecution()
    await given.executions(EXECUTIONS)
    const dump = await fabric.dump()
    const events = Array.from({ length: Math.ceil(EVENTS_MIN / dump.events.length) }, () => dump.events).flat()
    return { ...dump, events: events.map((event, i) => ({ ...event, sequence: TRIMMED + i + 1 })) }
  } finally {
    await fabric.close()
  }
}

/** The bytes of a blob, known by its key. */
export function blobBytes(key: string): Buffer {
  return Buffer.concat([Buffer.from([0, 255, 13, 10]), Buffer.from(key)])
}

export class OldStore {
  readonly prefix: string
  readonly connection: Connection
  readonly form: OldForm

  private constructor(prefix: string, connection: Connection, form: OldForm) {
    this.prefix = prefix
    this.connection = connection
    this.form = form
  }

  static async at(location: string, prefix: string, layout: number): Promise<OldStore> {
    const parsed = parseLocation(location)
    const form = oldForms.find(({ version }) => version === layout)
    if (parsed.kind !== 'valkey' || form === undefined) throw new Error('Only a Valkey server has old layouts.')
    const store = new OldStore(prefix, await Connection.open(parsed, {}, systemRuntime()), form)
    await store.connection.send('SET', store.settingsKey, JSON.stringify(oldSettings(layout)))
    return store
  }

  get settingsKey(): string {
    return `${this.prefix}:{m}:settings`
  }

  key(partition: number, name: string): string {
    return `${this.prefix}:{${executionPartition(partition)}}:${name}`
  }

  /** The key of something in the old layout. */
  oldKey(partition: number, kind: keyof typeof oldLetters, name: string): string {
    return this.key(partition, `${oldLetters[kind]}${this.form.mark}:${name}`)
  }

  /** The name of the log, or of the count of its trimmed events, in the old layout. */
  logKey(partition: number, kind: 'events' | 'trimmed'): string {
    return this.key(partition, kind + this.form.mark)
  }

  async write(partition: number, { records, entries, blobKeys, events }: PartitionDump): Promise<void> {
    const { connection, form } = this
    const sends: Promise<unknown>[] = []
    for (const record of records) {
      sends.push(
        connection.send(
          'SET',
          this.oldKey(partition, record.type as OldRecordType, record.id),
          form.recordBytes(record),
        ),
      )
    }
    for (const { index, score, id } of entries) {
      sends.push(connection.send('ZADD', this.oldKey(partition, 'index', index), score, id))
    }
    for (const key of blobKeys) {
      sends.push(connection.send('SET', this.oldKey(partition, 'blob', key), blobBytes(key)))
    }
    const values = events.map(({ sequence: _, ...event }) => form.eventBytes(event))
    sends.push(
      connection.send('RPUSH', this.logKey(partition, 'events'), ...values),
      connection.send('SET', this.logKey(partition, 'trimmed'), TRIMMED),
    )
    await Promise.all(sends)
  }

  /** The names of all keys of the store. */
  async keys(): Promise<Buffer[]> {
    const found = await this.connection.onEachPrimary((server) => server.keysBuffer(`${this.prefix}:*`))
    return found.flat().sort((a, b) => Buffer.compare(a, b))
  }

  async remove(): Promise<void> {
    for (const key of await this.keys()) await this.connection.send('UNLINK', key)
    this.connection.close()
  }
}
