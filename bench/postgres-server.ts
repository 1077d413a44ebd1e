/** PostgreSQL servers as every measurement uses them: on the loopback address, in folders of their own, gone afterwards. */
import { startPostgres as start } from '../test/servers/postgres-server.ts'
import type { PostgresServer } from '../test/servers/postgres-server.ts'
import type { Settings } from './measurement.ts'

/**
 * A commit is answered when it is on disk. Everything else is as the server has it by itself, also the size of its memory,
 * which tests keep smaller.
 */
const settings = { synchronous_commit: 'on', full_page_writes: 'on', shared_buffers: '128MB' } as const

export const postgresSettings: Settings = {
  fsync: 'on',
  synchronousCommit: settings.synchronous_commit,
  fullPageWrites: settings.full_page_writes,
  sharedBuffers: settings.shared_buffers,
}

export function startPostgres(): Promise<PostgresServer> {
  return start({ version: 'installed', fsync: true, settings })
}
