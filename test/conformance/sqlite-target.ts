import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { recordTypes } from '../../src/kernel/index.ts'
import type { RecordType } from '../../src/kernel/index.ts'
import type { Runtime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import { damagedBytes } from './damage.ts'
import type { Damage, Heal } from './damage.ts'
import { LentStores } from './lent-stores.ts'
import type { OpenedTarget, StoreTarget } from './store-target.ts'
import { writeInProcess } from './write-in-process.ts'

/** In a file, as it is used; the folder of the file goes with the store. */
export function sqliteTarget(): StoreTarget {
  const stores = new LentStores(open)
  return { name: 'sqlite', open, lend: (indexedTags) => stores.lend(indexedTags) }
}

async function open(runtime: Runtime, indexedTags: readonly string[]): Promise<OpenedTarget> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const file = path.join(folder, 'fabric.db')
    const store = await openStore(`sqlite:${file}`, { runtime, indexedTags })
    return {
      store,
      plant: (partition, record) => writeInProcess(store, partition, (tx) => tx.put(record)),
      setEntry: (partition, index, id, score) => writeInProcess(store, partition, (tx) => tx.repair(index, id, score)),
      damage: async (_, type, id, damage) => damageRow(file, type, id, damage),
      untilListening: async () => undefined,
      clear: async () => empty(file),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

function empty(file: string): void {
  const deletes = [...recordTypes, 'entry', 'blob', 'event', 'fact'].map((table) => `delete from ${table}`)
  over(file, (database) =>
    database.exec(`begin; ${deletes.join('; ')}; update partition set last_sequence = 0; commit`),
  )
}

function damageRow(file: string, type: RecordType, id: string, damage: Damage): Heal {
  const set = (text: string) => run(file, `update ${type} set record = ? where id = ?`, text, id)
  const row = run(file, `select record from ${type} where id = ?`, id)
  if (row === undefined) throw new Error(`The test damages ${id}, which does not exist.`)
  const text = row['record'] as string
  const encoder = new TextEncoder()
  const hollow = encoder.encode(JSON.stringify([id]))
  set(new TextDecoder().decode(damagedBytes(encoder.encode(text), damage, hollow)))
  return async () => void set(text)
}

/** Answers the first row. */
function run(file: string, sql: string, ...values: string[]): Record<string, unknown> | undefined {
  return over(file, (database) => database.prepare(sql).get(...values))
}

/** Uses a connection that is none of the store's. */
function over<T>(file: string, use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file)
  try {
    return use(database)
  } finally {
    database.close()
  }
}
