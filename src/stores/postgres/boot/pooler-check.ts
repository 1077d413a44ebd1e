/** Finds a pooler between this process and the server, and whether it shares connections between transactions. */
import type { Connection } from '../wire/connection.ts'

/**
 * `none`: the server is reached directly. `shared`: two clients have got the same connection of the server in turn.
 * `kept`: there is a pooler, and it kept the connection of a client.
 */
export type PoolerKind = 'none' | 'shared' | 'kept'

/** A busy pooler may give the connection to another process between two statements. */
const TRIES_MAX = 5

const BACKEND = 'select pg_catalog.pg_backend_pid() as pid'

/** A server announces its process when a client connects. A pooler announces a number of its own. */
export async function findPooler(open: () => Promise<Connection>): Promise<PoolerKind> {
  const first = await open()
  try {
    if ((await backendOf(first)) === first.announcedPid) return 'none'
    const second = await open()
    try {
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const before = await backendOf(first)
        if ((await backendOf(second)) === before || (await backendOf(first)) !== before) return 'shared'
      }
      return 'kept'
    } finally {
      second.close()
    }
  } finally {
    first.close()
  }
}

async function backendOf(connection: Connection): Promise<number> {
  const [row] = await connection.query(BACKEND)
  return Number(row?.['pid'])
}
