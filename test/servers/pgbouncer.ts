/**
 * A real pgbouncer on the loopback address, in front of a PostgreSQL server. It has the settings that every installation needs,
 * and transaction pooling; all else is at its default.
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { LocalServer } from './local-server.ts'
import type { StartResult } from './local-server.ts'
import { startInPlace } from './place.ts'
import type { Place } from './place.ts'
import { locationOf } from './postgres-server.ts'
import type { PostgresAddress, PostgresServer } from './postgres-server.ts'
import { startProcess } from './server-process.ts'
import type { Launch, ServerProcess } from './server-process.ts'
import { giveToServers, unprivilegedUser } from './system-user.ts'

export interface PgbouncerOptions {
  /** How many connections to the server all clients share. Default: that of pgbouncer. */
  readonly poolSize?: number
}

const LOOPBACK = '127.0.0.1'
const READY = 'process up'

export class Pgbouncer extends LocalServer<ServerProcess> {
  readonly address: PostgresAddress
  readonly #launch: Launch

  constructor(address: PostgresAddress, launch: Launch, place: Place, process: ServerProcess) {
    super(place, process)
    this.address = address
    this.#launch = launch
  }

  /** The address in the form in which a program names its store. */
  get location(): string {
    return locationOf(this.address)
  }

  /** The last lines that it wrote, also after its end. */
  get log(): string {
    return this.process.log
  }

  protected start(occupy: Place['occupy']): Promise<StartResult<ServerProcess>> {
    return startProcess(this.#launch, occupy)
  }
}

async function writeForServers(file: string, lines: readonly string[]): Promise<void> {
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  await giveToServers(file)
}

/** Answers the file of the settings. */
async function configure(place: Place, server: PostgresAddress, { poolSize }: PgbouncerOptions): Promise<string> {
  const usersFile = path.join(place.folder, 'users.txt')
  const settingsFile = path.join(place.folder, 'pgbouncer.ini')
  await giveToServers(place.folder)
  await writeForServers(usersFile, [`"${server.user}" "${server.password}"`])
  await writeForServers(settingsFile, [
    '[databases]',
    `* = host=${server.host} port=${server.port}`,
    '[pgbouncer]',
    `listen_addr = ${LOOPBACK}`,
    `listen_port = ${place.port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${usersFile}`,
    'pool_mode = transaction',
    ...(poolSize === undefined ? [] : [`default_pool_size = ${poolSize}`]),
  ])
  return settingsFile
}

/** Starts one in front of a server and waits until it accepts connections. Who starts it stops it. */
export function startPgbouncer(server: PostgresServer, options: PgbouncerOptions = {}): Promise<Pgbouncer> {
  return startInPlace(async (place) => {
    const settingsFile = await configure(place, server.address, options)
    const user = await unprivilegedUser()
    const launch: Launch = { program: 'pgbouncer', args: [settingsFile], readyText: READY, user }
    const started = await startProcess(launch, place.occupy)
    if (started.kind === 'port_taken') return undefined
    const address = { ...server.address, host: LOOPBACK, port: place.port }
    return new Pgbouncer(address, launch, place, started.process)
  })
}
