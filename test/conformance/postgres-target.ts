/** Stores on a PostgreSQL server that many tests share: each has a schema of its own, which goes with the store. */
import { randomUUID } from 'node:crypto'
import { recordTypes } from '../../src/kernel/index.ts'
import type { RecordType } from '../../src/kernel/index.ts'
import type { Runtime } from '../../src/runtime/index.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import { Connection } from '../../src/stores/postgres/wire/connection.ts'
import { afterEachFile } from '../after-file.ts'
import { damagedBytes } from './damage.ts'
import type { Damage, Heal } from './damage.ts'
import { LentStores } from './lent-stores.ts'
import type { OpenedTarget, StoreTarget } from './store-target.ts'
import { untilListening } from './until-listening.ts'
import { writeInProcess } from './write-in-process.ts'

/** The last partition that any test uses. */
const PARTITION_MAX = 4_095

/** What a test can have left behind, in all tables of a store. */
const CLEARED = [...recordTypes, 'entry', 'blob', 'event_batch', 'inbox', 'fact']

export function postgresTarget(name: string, location: string): StoreTarget {
  const way = new WayToServer(location)
  const open: StoreTarget['open'] = (runtime, indexedTags) => openTarget(way, location, runtime, indexedTags)
  const stores = new LentStores(open)
  return { name, open, lend: (indexedTags) => stores.lend(indexedTags) }
}

async function openTarget(
  way: WayToServer,
  location: string,
  runtime: Runtime,
  indexedTags: readonly string[],
): Promise<OpenedTarget> {
  const schema = `test_${randomUUID().replaceAll('-', '_')}`
  const store = await openStore(`${location}?schema=${schema}`, { runtime, indexedTags, clock: 'runtime' })
  const connection = await way.open()
  // Some tests use more partitions than a store has of itself.
  await connection.query(
    `insert into ${schema}.partition (number, name) select number, 'fp:' || number from generate_series(0, $1) as number
     on conflict do nothing`,
    [PARTITION_MAX],
  )
  let listening: Promise<void> | undefined
  return {
    store,
    plant: (partition, record) => writeInProcess(store, partition, (tx) => tx.put(record)),
    setEntry: (partition, index, id, score) => writeInProcess(store, partition, (tx) => tx.repair(index, id, score)),
    damage: async (_, type, id, damage) => damageRow(await way.open(), `${schema}.${type}`, type, id, damage),
    untilListening: () => (listening ??= untilListening(store)),
    clear: async () => {
      await connection.query(emptying(schema))
    },
    remove: async () => {
      await connection.query(`drop schema ${schema} cascade`)
    },
  }
}

function emptying(schema: string): string {
  const deletes = CLEARED.map((table) => `delete from ${schema}.${table}`)
  return [...deletes, `update ${schema}.partition set last_sequence = 0 where last_sequence > 0`].join('; ')
}

async function damageRow(
  connection: Connection,
  table: string,
  type: RecordType,
  id: string,
  damage: Damage,
): Promise<Heal> {
  const set = (text: string) => connection.query(`update ${table} set record = $1 where id = $2`, [text, id])
  const [row] = await connection.query(`select record from ${table} where id = $1`, [id])
  if (row === undefined) throw new Error(`The test damages the ${type} ${id}, which does not exist.`)
  const text = row['record'] as string
  const encoder = new TextEncoder()
  const damaged = damagedBytes(encoder.encode(text), damage, encoder.encode(JSON.stringify([id])))
  // Postgres keeps no zero bytes in a text.
  await set(new TextDecoder().decode(damaged).replaceAll('\u0000', '\u0001'))
  return async () => {
    await set(text)
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

  async #connect(): Promise<Connection> {
    const location = parseLocation(this.#location)
    if (location.kind !== 'postgres') throw new Error('This is not the location of a PostgreSQL server.')
    return Connection.open(location, {})
  }

  async #close(): Promise<void> {
    const connection = await this.#connection
    connection?.close()
    this.#connection = undefined
  }
}
