/** Stores on a PostgreSQL server that many tests share: each has a schema of its own, which goes with the test. */
import { randomUUID } from 'node:crypto'
import { afterAll } from 'vitest'
import { recordTypes } from '../../src/kernel/index.ts'
import type { RecordType } from '../../src/kernel/index.ts'
import { parseLocation } from '../../src/stores/location.ts'
import { openStore } from '../../src/stores/open-store.ts'
import { Connection } from '../../src/stores/postgres/connection.ts'
import { damagedBytes } from './damage.ts'
import type { Damage, Heal } from './damage.ts'
import type { StoreTarget } from './store-target.ts'
import { untilListening } from './until-listening.ts'
import { writeInProcess } from './write-in-process.ts'

/** The last partition that any test uses. */
const PARTITION_MAX = 4_095

/** What a test can have left behind, in all tables of a store. */
const CLEARED = [...recordTypes, 'entry', 'blob', 'event_batch', 'inbox']

export function postgresTarget(name: string, location: string): StoreTarget {
  const way = new WayToServer(location)
  const schemas = new Schemas(way)
  return {
    name,
    open: async (runtime, indexedTags) => {
      const schema = schemas.take(indexedTags)
      const store = await openStore(`${location}?schema=${schema}`, { runtime, indexedTags, clock: 'runtime' })
      await schemas.prepare(schema)
      return {
        store,
        plant: (partition, record) => writeInProcess(store, partition, (tx) => tx.put(record)),
        setEntry: (partition, index, id, score) =>
          writeInProcess(store, partition, (tx) => tx.repair(index, id, score)),
        damage: async (_, type, id, damage) => damageRow(await way.open(), `${schema}.${type}`, type, id, damage),
        untilListening: () => untilListening(store),
        clear: async () => undefined,
        remove: () => schemas.giveBack(schema, indexedTags),
      }
    },
  }
}

/** Making tables takes longer than most tests do, so one test hands them, emptied, to the next that wants the same tags. */
class Schemas {
  readonly #way: WayToServer
  readonly #free = new Map<string, string[]>()
  readonly #prepared = new Set<string>()

  constructor(way: WayToServer) {
    this.#way = way
    afterAll(() => this.#dropAll())
  }

  take(indexedTags: readonly string[]): string {
    const used = this.#free.get(indexedTags.join())?.pop()
    return used ?? `test_${randomUUID().replaceAll('-', '_')}`
  }

  /** Once for each: some tests use more partitions than a store has of itself. */
  async prepare(schema: string): Promise<void> {
    if (this.#prepared.has(schema)) return
    this.#prepared.add(schema)
    const connection = await this.#way.open()
    await connection.query(
      `insert into ${schema}.partition (number, name) select number, 'fp:' || number from generate_series(0, $1) as number
       on conflict do nothing`,
      [PARTITION_MAX],
    )
  }

  async giveBack(schema: string, indexedTags: readonly string[]): Promise<void> {
    const connection = await this.#way.open()
    const statements = [
      ...CLEARED.map((table) => `delete from ${schema}.${table}`),
      `update ${schema}.partition set last_sequence = 0 where last_sequence > 0`,
    ]
    await connection.query(statements.join('; '))
    const key = indexedTags.join()
    this.#free.set(key, [...(this.#free.get(key) ?? []), schema])
  }

  async #dropAll(): Promise<void> {
    const connection = await this.#way.open()
    for (const schema of [...this.#free.values()].flat()) await connection.query(`drop schema ${schema} cascade`)
    this.#free.clear()
    this.#prepared.clear()
    await this.#way.close()
  }
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

  async close(): Promise<void> {
    const connection = await this.#connection
    connection?.close()
    this.#connection = undefined
  }
}
