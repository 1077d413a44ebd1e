/**
 * Stores on a server that many tests share: each has keys of its own under a unique prefix, and removes them
 * in the end, because a scan of a partition walks over the keys of all others.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { entriesOf } from '../../src/kernel/index.ts'
import type { AnyRecord } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import type { Partition, Store } from '../../src/stores/store.ts'
import { ByteWriter } from '../../src/stores/valkey/layout/byte-writer.ts'
import { Connection } from '../../src/stores/valkey/connection/connection.ts'
import { Keys, memberIdParts, nameBytes } from '../../src/stores/valkey/layout/keys.ts'
import { putCell } from '../../src/stores/valkey/layout/put-value.ts'
import { recordValue } from '../../src/stores/valkey/layout/stored-value.ts'
import { storedForm } from '../../src/stores/valkey/layout/stored-form.ts'
import type { ValkeyLocation } from '../../src/stores/valkey/options/valkey-location.ts'
import { ValkeyStore } from '../../src/stores/valkey/valkey-store.ts'
import type { ValkeyStoreOptions } from '../../src/stores/valkey/valkey-store.ts'
import { afterEachFile } from '../after-file.ts'
import { damagedBytes } from './damage.ts'
import type { Damage, Heal } from './damage.ts'
import type { StoreTarget } from './store-target.ts'
import { untilListening } from './until-listening.ts'

const SCAN_COUNT = 1_000

/** With `wrapBackend`, something stands between the store and the server. */
export function serverTarget(
  name: string,
  location: string,
  wrapBackend?: ValkeyStoreOptions['wrapBackend'],
): StoreTarget {
  const way = new WayToServer(location)
  return {
    name,
    open: async (runtime, indexedTags) => {
      const prefix = `test:${randomUUID()}`
      const options = { runtime, indexedTags, clock: 'runtime', wrapBackend } as const
      const store = await ValkeyStore.open({ ...options, location: valkeyLocation(`${location}?prefix=${prefix}`) })
      const keys = new Keys(prefix, 0)
      return {
        store,
        plant: async (partition, record) => plant(await way.open(), keys, store, partition, record),
        setEntry: async (partition, index, id, score) =>
          setEntry(await way.open(), keys, partition, { index, id }, score),
        damage: async (partition, type, id, damage) =>
          damageValue(await way.open(), keys.key(partition, type, id), damage, hollow(id)),
        untilListening: () => untilListening(store),
        clear: () => way.removeKeys(`${prefix}:{[fqm]*:[0-9]*`),
        remove: () => way.removeKeys(`${prefix}:*`),
      }
    },
  }
}

function valkeyLocation(text: string): ValkeyLocation {
  const location = parseLocation(text)
  if (location.kind !== 'valkey') throw new Error(`${text} is not the location of a server.`)
  return location
}

async function plant(
  connection: Connection,
  keys: Keys,
  store: Store,
  partition: Partition,
  record: AnyRecord,
): Promise<void> {
  const { type, id } = record
  const { records } = await store.dump(partition)
  const before = records.find((other) => other.type === type && other.id === id)
  for (const entry of before === undefined ? [] : entriesOf(before)) {
    await setEntry(connection, keys, partition, entry, undefined)
  }
  for (const entry of entriesOf(record)) {
    await setEntry(connection, keys, partition, entry, entry.score)
  }
  await connection.send('SET', keys.key(partition, type, id), layOut(record))
}

/** A version that no process has seen. */
function newVersion(): string {
  return randomBytes(8).toString('latin1')
}

function layOut(record: AnyRecord): Buffer {
  return recordValue(newVersion(), record, storedForm)
}

/** A record without values but its id. */
function hollow(id: string): Buffer {
  const writer = new ByteWriter()
  writer.bytes(newVersion())
  writer.byte(0)
  writer.value(putCell, [id])
  return writer.take()
}

async function setEntry(
  connection: Connection,
  keys: Keys,
  partition: Partition,
  { index, id }: { readonly index: string; readonly id: string },
  score: number | undefined,
): Promise<void> {
  const key = keys.key(partition, 'index', index)
  const member = nameBytes(id, memberIdParts(index))
  if (score === undefined) await connection.send('ZREM', key, member)
  else await connection.send('ZADD', key, score, member)
}

async function damageValue(connection: Connection, key: Buffer, damage: Damage, hollow: Buffer): Promise<Heal> {
  const bytes = (await connection.sendForBytes('GET', key)) as Buffer | null
  if (bytes === null) throw new Error(`The test damages ${key.toString()}, which does not exist.`)
  await connection.send('SET', key, Buffer.from(damagedBytes(bytes, damage, hollow)))
  return async () => {
    await connection.send('SET', key, bytes)
  }
}

/** A connection that is none of a store's, made when it is first needed and shared by the tests of a file. */
class WayToServer {
  readonly #location: string
  #connection: Promise<Connection> | undefined

  constructor(location: string) {
    this.#location = location
    afterEachFile(() => this.#close())
  }

  open(): Promise<Connection> {
    this.#connection ??= this.#connect()
    return this.#connection
  }

  async removeKeys(pattern: string): Promise<void> {
    const connection = await this.open()
    await connection.onEachPrimary((server) => removeKeysOn(server, pattern))
  }

  async #connect(): Promise<Connection> {
    const connection = await Connection.open(valkeyLocation(this.#location), {}, systemRuntime())
    // Of a cluster only one server is known to answer by then, and a test may begin with any of them.
    await connection.onEachPrimary((server) => server.ping())
    return connection
  }

  async #close(): Promise<void> {
    const connection = await this.#connection
    connection?.close()
    this.#connection = undefined
  }
}

/** One by one: the keys of several partitions of a cluster cannot share a command. */
async function removeKeysOn(server: Redis, pattern: string): Promise<void> {
  let cursor = '0'
  do {
    const [next, keys] = await server.scanBuffer(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT)
    await Promise.all(keys.map((key) => server.unlink(key)))
    cursor = String(next)
  } while (cursor !== '0')
}
