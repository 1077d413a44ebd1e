/** Starts PostgreSQL servers in every state, and a pgbouncer, prints them and waits to be killed. */
import { startPgbouncer } from './pgbouncer.ts'
import { startPostgres } from './postgres-server.ts'
import type { PostgresServer } from './postgres-server.ts'
import { childrenOf } from './process-tree.ts'

/** Connects, so that it has a process that serves a client. */
async function tell(server: PostgresServer): Promise<object> {
  await server.query('select 1')
  const { port, folder, pid } = server
  return { port, folder, pids: pid === undefined ? [] : [pid, ...childrenOf(pid)] }
}

const running = await startPostgres()
const paused = await startPostgres({ version: 'newest' })
const killed = await startPostgres()
const { port, folder, pid } = await startPgbouncer(running)
const told = [await tell(running), await tell(paused), await tell(killed), { port, folder, pids: [pid] }]
paused.pause()
await killed.kill()
process.stdout.write(`${JSON.stringify(told)}\n`)
