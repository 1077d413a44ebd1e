/**
 * A real PostgreSQL on the loopback address, in a folder of its own, for as long as a test or a benchmark needs it. It can
 * be killed, stopped in the middle of what it does, and started again on what it has kept. Its end is also the end of its
 * folder, and it does not outlive the process that started it.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Client } from 'pg'
import { LazyConnection } from './lazy-connection.ts'
import { LocalServer } from './local-server.ts'
import type { StartResult } from './local-server.ts'
import { startInPlace } from './place.ts'
import type { Place } from './place.ts'
import { startPostgresProcess } from './postgres-process.ts'
import type { PostgresLaunch, PostgresProcess } from './postgres-process.ts'
import type { PostgresVersion } from './postgres-programs.ts'
import { postgresTemplate, SUPERUSER } from './postgres-template.ts'
import { giveToServers } from './system-user.ts'

/** Settings by their names in the server's own documentation. */
export type PostgresSettings = Readonly<Record<string, string>>

export interface PostgresOptions {
  /** The one that this machine has, or the newest available. Default: installed. */
  readonly version?: PostgresVersion
  /** What is committed is on disk, and survives the machine. Default: true. Off, it survives only the server. */
  readonly fsync?: boolean
  /** Further settings of the server; they override all other options. */
  readonly settings?: PostgresSettings
}

export interface PostgresAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

const LOOPBACK = '127.0.0.1'
const DATABASE = 'postgres'
const CONNECT_LIMIT_MS = 30_000
const REPLY_LIMIT_MS = 30_000

/** The last output of a server is enough for a diagnosis. */
const LOG_TAIL_LENGTH = 8_192

const TERMINATE_OTHERS = `
  select pg_terminate_backend(pid) as is_terminated
  from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid()`

export class PostgresServer extends LocalServer<PostgresProcess> {
  readonly address: PostgresAddress
  readonly #launch: PostgresLaunch
  readonly #client: LazyConnection<Client>
  /** The log of a server whose folder is gone. */
  #lastLog: string | undefined

  constructor(address: PostgresAddress, launch: PostgresLaunch, place: Place, process: PostgresProcess) {
    super(place, process)
    this.address = address
    this.#launch = launch
    this.#client = new LazyConnection(async (forget) => (await connectTo(address)).once('end', forget))
  }

  /** The address in the form in which a program names its store. */
  get location(): string {
    return locationOf(this.address)
  }

  /** The last lines that it wrote, also after its end. */
  get log(): string {
    return this.#wholeLog().slice(-LOG_TAIL_LENGTH)
  }

  /** The lines that match, of all that it has written since it was first started, also after its end. */
  logLines(pattern: RegExp): string[] {
    return this.#wholeLog()
      .split('\n')
      .filter((line) => line.search(pattern) >= 0)
  }

  #wholeLog(): string {
    return this.#lastLog ?? readFileSync(this.#launch.logFile, 'utf8')
  }

  /** Answers the rows, over a connection of the superuser that is opened when it is first needed. */
  async query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = await this.#client.get()
    const { rows } = await client.query<Record<string, unknown>>(text, [...values])
    return rows
  }

  /** Ends what all clients but this object's own have open, and answers how many they were. */
  async terminateBackends(): Promise<number> {
    const rows = await this.query(TERMINATE_OTHERS)
    return rows.filter((row) => row['is_terminated'] === true).length
  }

  override async stop(): Promise<void> {
    await this.kill()
    this.#lastLog = this.#wholeLog()
    await super.stop()
  }

  protected start(occupy: Place['occupy']): Promise<StartResult<PostgresProcess>> {
    return startPostgresProcess(this.#launch, occupy)
  }

  protected override async disconnect(): Promise<void> {
    const client = await this.#client.release()
    await client?.end().catch(() => undefined)
  }
}

export function locationOf({ host, port, user, password, database }: PostgresAddress): string {
  return `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`
}

/** Never reconnects: queries to a server that is gone are rejected. */
async function connectTo(address: PostgresAddress): Promise<Client> {
  const client = new Client({
    ...address,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: REPLY_LIMIT_MS,
    application_name: 'flowfabric-servers',
  })
  // Pending queries are rejected when the connection is lost; no other code has to know.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

function settingsFor({ port, folder }: Place, { fsync = true, settings }: PostgresOptions): PostgresSettings {
  return {
    listen_addresses: LOOPBACK,
    port: String(port),
    unix_socket_directories: folder,
    max_connections: '200',
    shared_buffers: '64MB',
    fsync: fsync ? 'on' : 'off',
    // Kept in the folder of the server, so that nothing of a server that was killed stays behind elsewhere.
    dynamic_shared_memory_type: 'mmap',
    lc_messages: 'C',
    log_min_messages: 'warning',
    log_lock_waits: 'on',
    log_line_prefix: '%m [%p] %q%a ',
    ...settings,
  }
}

/** Starts a server and waits until it accepts connections. Who starts it stops it. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const template = await postgresTemplate(options.version ?? 'installed')
  return startInPlace(async (place) => {
    await giveToServers(place.folder)
    const dataFolder = path.join(place.folder, 'data')
    await template.copyTo(dataFolder, place.occupy)
    const launch = {
      program: template.program,
      args: Object.entries(settingsFor(place, options)).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      dataFolder,
      logFile: path.join(place.folder, 'server.log'),
    }
    const started = await startPostgresProcess(launch, place.occupy)
    if (started.kind === 'port_taken') return undefined
    const { password } = template
    const address = { host: LOOPBACK, port: place.port, user: SUPERUSER, password, database: DATABASE }
    return new PostgresServer(address, launch, place, started.process)
  })
}
