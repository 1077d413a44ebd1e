/**
 * The way to a server or a cluster. It reconnects by itself, with back-off; whoever calls meanwhile waits a bounded time.
 * A command whose answer was lost is never sent again from here: only its caller knows how to repeat it.
 */
import type { SecureContextOptions } from 'node:tls'
import { Cluster, Redis } from 'ioredis'
import type { Runtime, Timer } from '../../runtime/index.ts'
import { EngineError } from '../engine-error.ts'
import { asEngineError, refusalWord } from './valkey-error.ts'
import type { ValkeyLocation } from './valkey-location.ts'

export type Argument = string | number | Buffer

/** What a connection can be told besides its location. */
export interface ConnectionSettings {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Certificates, if the system's own do not do. */
  readonly tls?: (SecureContextOptions & { readonly servername?: string | undefined }) | undefined
  /** How long a call waits for its answer. */
  readonly requestTimeoutMs?: number | undefined
}

const CONNECT_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 5_000
/** How long a call waits for a connection that is being made again. */
const RECONNECT_WAIT_MS = 2_000
const RETRY_FIRST_MS = 50
const RETRY_MAX_MS = 2_000
/** How often a command follows a slot to another server, or waits for one that is being moved, before its caller hears of it. */
const REDIRECTIONS_MAX = 20
const SLOT_WAIT_MS = 100
const SLOTS_REFRESH_MS = 10_000

export type Client = Redis | Cluster

export class Connection {
  readonly isCluster: boolean
  readonly #client: Client
  readonly #runtime: Runtime
  #isClosed = false
  #lastError: unknown

  private constructor(client: Client, runtime: Runtime) {
    this.isCluster = client instanceof Cluster
    this.#client = client
    this.#runtime = runtime
    client.on('error', (error: unknown) => {
      this.#lastError = error
    })
  }

  /** Connects, or throws what keeps it from connecting. */
  static async open(location: ValkeyLocation, settings: ConnectionSettings, runtime: Runtime): Promise<Connection> {
    const connection = new Connection(makeClient(location, settings, runtime), runtime)
    try {
      await connection.#connect()
      return connection
    } catch (error) {
      connection.close()
      throw unreachable(location, connection.#lastError ?? error)
    }
  }

  /** For commands that ioredis keeps apart, such as subscriptions. */
  get client(): Client {
    return this.#client
  }

  /** Sends a command to the server that has its first key. Texts in the reply come as text. */
  send(command: string, ...args: Argument[]): Promise<unknown> {
    return this.#whenReady((client) => client.call(command, ...args))
  }

  /** The same with bytes in the reply. */
  sendForBytes(command: string, ...args: Argument[]): Promise<unknown> {
    return this.#whenReady((client) => client.callBuffer(command, ...args))
  }

  /** Does something with each server that accepts writes. */
  async onEachPrimary<T>(work: (server: Redis) => Promise<T>): Promise<T[]> {
    const client = this.#client
    const servers = client instanceof Cluster ? client.nodes('master') : [client]
    try {
      return await Promise.all(servers.map(work))
    } catch (error) {
      throw asEngineError(error)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#client.disconnect()
  }

  async #connect(): Promise<void> {
    const limit = Promise.withResolvers<never>()
    const timer = this.#runtime.after(CONNECT_TIMEOUT_MS, () => limit.reject(new Error('It did not answer in time.')))
    try {
      await Promise.race([this.#client.connect(), limit.promise])
    } finally {
      timer.cancel()
    }
  }

  async #whenReady(work: (client: Client) => Promise<unknown>): Promise<unknown> {
    if (this.#isClosed) throw new EngineError('fabric_closed')
    if (this.#client.status !== 'ready') await this.#untilReady()
    try {
      return await work(this.#client)
    } catch (error) {
      this.#lookForPrimaries(error)
      throw error
    }
  }

  async #untilReady(): Promise<void> {
    const ready = Promise.withResolvers<undefined>()
    const onReady = () => ready.resolve(undefined)
    this.#client.once('ready', onReady)
    const timer: Timer = this.#runtime.after(RECONNECT_WAIT_MS, onReady)
    await ready.promise
    timer.cancel()
    this.#client.off('ready', onReady)
    if (this.#isClosed) throw new EngineError('fabric_closed')
    if (this.#client.status !== 'ready') {
      throw new EngineError(
        'store_unavailable',
        { message: 'There is no connection to the server; it is tried again and again.' },
        { cause: this.#lastError },
      )
    }
  }

  /** A server that was lost may have a successor that the client has not heard of. */
  #lookForPrimaries(error: unknown): void {
    if (!(this.#client instanceof Cluster) || this.#isClosed) return
    const word = refusalWord(error)
    if (word !== undefined && word !== 'READONLY' && word !== 'CLUSTERDOWN') return
    this.#client.refreshSlotsCache()
  }
}

function makeClient(location: ValkeyLocation, settings: ConnectionSettings, runtime: Runtime): Client {
  const retry = (tries: number) => backoffMs(runtime, tries)
  const options = {
    db: location.database,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    protocol: 2 as const,
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // A primary that has become a replica refuses writes until the address leads to its successor.
    reconnectOnError: (error: Error) => refusalWord(error) === 'READONLY',
    ...userOf(location, settings),
    ...(location.isTls ? { tls: { ...settings.tls } } : {}),
  }
  const [server] = location.servers
  if (!location.isCluster) {
    return new Redis({ ...options, ...server, lazyConnect: true, enableOfflineQueue: false, retryStrategy: retry })
  }
  const clusterOptions = {
    redisOptions: options,
    lazyConnect: true,
    enableOfflineQueue: false,
    shardedSubscribers: true,
    clusterRetryStrategy: retry,
    maxRedirections: REDIRECTIONS_MAX,
    // A command whose connection broke may have been carried out: its caller decides.
    retryDelayOnFailover: 0,
    retryDelayOnTryAgain: SLOT_WAIT_MS,
    retryDelayOnClusterDown: SLOT_WAIT_MS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
  }
  return new Cluster([...location.servers], clusterOptions)
}

function userOf(location: ValkeyLocation, settings: ConnectionSettings): { username?: string; password?: string } {
  const username = settings.username ?? location.username
  const password = settings.password ?? location.password
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) }
}

/** Doubles from one try to the next, up to a bound, and is spread so that clients do not come back together. */
function backoffMs(runtime: Runtime, tries: number): number {
  const waitMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(tries - 1, 10))
  return Math.ceil(waitMs * (0.5 + runtime.random() / 2))
}

function unreachable(location: ValkeyLocation, cause: unknown): EngineError {
  const known = refusalWord(cause) === undefined ? undefined : asEngineError(cause)
  if (known !== undefined) return known
  const [first] = location.servers
  const server = first === undefined ? 'the server' : `${first.host}:${first.port}`
  const said = cause instanceof Error ? cause.message : String(cause)
  const others = location.servers.length > 1 ? ' or any other server of the location' : ''
  return new EngineError(
    'store_unavailable',
    { message: `${server}${others} cannot be reached: ${said}. Check that it runs there.` },
    { cause },
  )
}
