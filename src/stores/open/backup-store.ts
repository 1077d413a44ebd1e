/** Copies a store to a file. Only for stores without a server: servers have tools of their own. */
import { existsSync } from 'node:fs'
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { FileBackup } from '../sqlite/file/backup-file.ts'
import type { StoreLocation } from './location.ts'
import { loadSqlite } from './open-store.ts'

export type { FileBackup }

export async function backupStore(runtime: Runtime, location: StoreLocation, target: string): Promise<FileBackup> {
  switch (location.kind) {
    case 'sqlite': {
      if (!existsSync(location.file)) {
        const message = `The file ${location.file} does not exist.`
        throw new EngineError('store_not_found', { field: 'location', message })
      }
      const { backupFile } = await loadSqlite(() => import('../sqlite/file/backup-file.ts'))
      return await backupFile(runtime, location.file, target)
    }
    case 'postgres':
      throw notHere('A Postgres store is backed up with pg_dump, or with the backups of the whole server')
    case 'valkey':
      throw notHere('A Valkey store is backed up by its server: copy its snapshot or its append-only files')
    case 'remote':
      throw notHere('A store is backed up with its own location, not with the address of a server')
    case 'memory':
      throw notHere('A store in memory has nothing to back up')
  }
}

function notHere(reason: string): EngineError {
  return new EngineError('invalid_configuration', { field: '--store', message: `${reason}. See docs/operations.md.` })
}
