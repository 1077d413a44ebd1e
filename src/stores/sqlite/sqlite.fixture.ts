/** A folder with one SQLite file, opened as often as a test likes. The test closes it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemRuntime } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { SqliteStore } from './sqlite-store.ts'
import type { SqliteOptions } from './sqlite-store.ts'

export interface FileWorld {
  readonly folder: string
  readonly file: string
  readonly runtime: Runtime
  open(options?: Partial<SqliteOptions>): Promise<SqliteStore>
  /** Opens a connection to the file that is not one of the store. */
  connect(): DatabaseSync
  /** Closes everything that was opened here. */
  settle(): Promise<void>
  close(): Promise<void>
}

export function fileWorld(): FileWorld {
  const folder = mkdtempSync(join(tmpdir(), 'flowfabric-'))
  const file = join(folder, 'fabric.db')
  const runtime = systemRuntime()
  const stores: SqliteStore[] = []
  const connections: DatabaseSync[] = []
  const settle = async () => {
    for (const connection of connections.splice(0)) connection.close()
    for (const store of stores.splice(0)) await store.close()
  }
  return {
    folder,
    file,
    runtime,
    async open(options = {}) {
      const store = await SqliteStore.open({ runtime, file, ...options })
      stores.push(store)
      return store
    },
    connect() {
      const connection = new DatabaseSync(file)
      connections.push(connection)
      return connection
    },
    settle,
    async close() {
      await settle()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
