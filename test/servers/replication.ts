/** What a server reports of its replication, and the servers between which it happens. */
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import type { ServerOptions } from './server-settings.ts'
import { untilAnswered } from './until.ts'

/** More than a first copy, or a promotion by a sentinel that is short of a core, takes. */
const REPLICATION_LIMIT_MS = 150_000

interface Replicated extends AsyncDisposable {
  readonly primary: Server
  readonly replica: Server
}

/** Waits until the server reports this line. A server that is promoted or loads a copy does not answer all calls meanwhile. */
export async function untilReplication(server: Server, line: string): Promise<void> {
  await untilAnswered(`the server reports ${line}`, REPLICATION_LIMIT_MS, async () => {
    const lines = String(await server.call('INFO', 'replication')).split('\r\n')
    return lines.some((one) => one.includes(line)) || undefined
  })
}

/** Starts a server and a replica of it, and waits until the replica has a copy and follows. */
export async function startReplicated(options: ServerOptions = {}): Promise<Replicated> {
  await using started = new AsyncDisposableStack()
  const { settings } = options
  const primary = await startServer({ ...options, settings: { 'repl-diskless-sync-delay': '0', ...settings } })
  started.use(primary)
  const replicaof = ['127.0.0.1', String(primary.port)]
  const replica = await startServer({ ...options, settings: { replicaof, ...settings } })
  started.use(replica)
  await untilReplication(replica, 'master_link_status:up')
  await untilReplication(primary, 'state=online')
  const all = started.move()
  return { primary, replica, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
