/**
 * One connection to the server. Statements sent together are pipelined: the server runs them in order, and none waits
 * for the reply to another. A failed connection is not used again. Nothing is retried here.
 */
import { Socket } from 'node:net'
import { userInfo } from 'node:os'
import { checkServerIdentity } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import { Client, TypeOverrides, types } from 'pg'
import type { ClientConfig, Notification } from 'pg'
import { asConnectError } from './connect-error.ts'
import { asEngineError, sqlState } from './postgres-error.ts'
import type { ConnectionSettings } from '../options/postgres-options.ts'
import { MessageWriter } from './message-writer.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'
import { RoundTrip } from './round-trip.ts'
import type { Prepared, Statement, StatementReply } from './round-trip.ts'
import type { Row, Session } from './session.ts'

const CONNECT_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const KEEP_ALIVE_AFTER_MS = 10_000

export class Connection implements Session {
  /** Limit for statements that are sent together. */
  readonly requestTimeoutMs: number
  readonly #client: Client
  readonly #writer = new MessageWriter()
  readonly #socket: Socket
  /** Statements prepared on this connection; undefined if a pooler does not allow them. */
  readonly #prepared: Map<string, Prepared> | undefined
  #isLost = false
  #onLost: (() => void)[] = []

  private constructor(client: Client, socket: Socket, location: PostgresLocation, settings: ConnectionSettings) {
    this.requestTimeoutMs = settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS
    this.#client = client
    this.#socket = socket
    this.#prepared = location.isPrepared ? new Map() : undefined
    client.on('error', () => this.#lose())
    client.on('end', () => this.#lose())
  }

  static async open(location: PostgresLocation, settings: ConnectionSettings): Promise<Connection> {
    const socket = new Socket()
    const client = new Client({ ...clientConfig(location, settings), stream: () => socket })
    const connection = new Connection(client, socket, location, settings)
    try {
      await client.connect()
    } catch (error) {
      connection.close()
      throw asConnectError(location, error)
    }
    return connection
  }

  /** The process that the other side announced as the one that serves this connection. */
  get announcedPid(): number | undefined {
    const { processID: pid } = this.#client as Client & { readonly processID?: number | null }
    return pid ?? undefined
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Calls the listener at once if the connection is lost already. */
  onLost(listener: () => void): void {
    if (this.#isLost) listener()
    else this.#onLost.push(listener)
  }

  onNotification(listener: (notification: Notification) => void): void {
    this.#client.on('notification', listener)
  }

  async query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const result = await this.#client.query<Record<string, unknown>>(text, [...values])
    return result.rows
  }

  /** Sends statements together and returns all replies. Throws the error of the first statement that failed. */
  async send(statements: readonly Statement[]): Promise<readonly StatementReply[]> {
    if (statements.length === 0) return []
    const [writer, prepared] = [this.#writer, this.#prepared]
    try {
      return await new Promise((resolve, reject) => {
        const callback = (error: Error | null, replies: readonly StatementReply[] = []) => {
          if (error === null) resolve(replies)
          else reject(error)
        }
        this.#client.query(new RoundTrip(statements, { writer, prepared, types: numericTypes, callback }))
      })
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** An error without an SQLSTATE is a transport failure, so the outcome of the statements is unknown. */
  #failure(reason: unknown): unknown {
    if (sqlState(reason) !== undefined) return reason
    this.#lose()
    return asEngineError(reason)
  }

  /** An unref'd connection does not keep the process alive. */
  unref(): void {
    this.#socket.unref()
  }

  ref(): void {
    this.#socket.ref()
  }

  close(): void {
    const wasLost = this.#isLost
    this.#lose()
    if (wasLost) {
      this.#socket.destroy()
      return
    }
    void this.#client.end().catch(() => undefined)
    // A server that does not answer never closes the connection, and must not keep the process alive.
    this.#socket.unref()
  }

  #lose(): void {
    this.#isLost = true
    for (const listener of this.#onLost.splice(0)) listener()
  }
}

/** All stored 64-bit integers are below 2^53. */
const numericTypes = new TypeOverrides()
numericTypes.setTypeParser(types.builtins.INT8, Number)

function clientConfig(location: PostgresLocation, settings: ConnectionSettings): ClientConfig {
  const user = settings.username ?? location.username ?? userInfo().username
  return {
    host: location.host,
    port: location.port,
    user,
    database: location.database ?? user,
    password: settings.password ?? location.password,
    ssl: tlsOf(location, settings),
    application_name: location.applicationName ?? 'flowfabric',
    connectionTimeoutMillis: location.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: numericTypes,
  }
}

/**
 * As in libpq: `require` encrypts, `verify-ca` also checks the authority of the certificate, `verify-full` also the
 * host.
 */
function tlsOf({ tls }: PostgresLocation, settings: ConnectionSettings): ConnectionOptions | false {
  switch (tls) {
    case 'disable':
      return false
    case 'require':
      return { ...settings.tls, rejectUnauthorized: settings.tls?.ca !== undefined }
    case 'verify-ca':
      return { ...settings.tls, checkServerIdentity: () => undefined }
    case 'verify-full': {
      const { servername } = settings.tls ?? {}
      // `pg` always passes the host of the location as the server name.
      return servername === undefined
        ? { ...settings.tls }
        : { ...settings.tls, checkServerIdentity: (_, certificate) => checkServerIdentity(servername, certificate) }
    }
  }
}
