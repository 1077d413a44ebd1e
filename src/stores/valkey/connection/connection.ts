/**
 * A connection to a server or a cluster. Reconnects by itself, with backoff; calls meanwhile wait for a bounded time. Never
 * resends a command whose reply was lost: only the caller can retry it safely.
 */
import { Cluster, Redis } from 'ioredis'
import type { Runtime, Timer } from '../../../runtime/index.ts'
import { backoffMs } from '../../../runtime/backoff.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { BytesCommand, ReadyCommand, ReadyRead } from '../wire/bytes-command.ts'
import type { FunctionCall, ValueRead } from '../wire/call-writer.ts'
import { asConnectError } from './connect-error.ts'
import { asEngineError, causeOf, refusalWord } from './valkey-error.ts'
import type { ConnectionSettings } from '../options/connection-settings.ts'
import type { ServerAddress, ValkeyLocation } from '../options/valkey-location.ts'

export type Argument = string | number | Buffer

const CONNECT_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 5_000
/** How long closing a connection waits for the server. A pending connect keeps the process alive for as long. */
const GOODBYE_MS = 100
/**
 * A connection with pending commands that receives nothing for this many request timeouts is closed and reopened: a
 * half-open connection would otherwise last for a quarter of an hour.
 */
const SILENCES_MAX = 2
/** How long a call waits for a reconnect. */
const RECONNECT_WAIT_MS = 2_000
/** How often a server that loads its data is polled. Its own estimate is in seconds, and too high. */
const LOADING_LOOK_MS = 100
/** How often a command follows a slot to another server, or waits for one that is being moved, before the call fails. */
const REDIRECTIONS_MAX = 20
const SLOT_WAIT_MS = 100
/**
 * How often the slot map of a cluster is refreshed, besides after errors that show a change. The client's own timer would
 * keep a closed client alive.
 */
const SLOTS_REFRESH_MS = 10_000

type Client = Redis | Cluster
type ServerOptions = ReturnType<typeof serverOptions>

export class Connection {
  readonly isCluster: boolean
  readonly #client: Client
  readonly #runtime: Runtime
  readonly #seeds: readonly ServerAddress[]
  readonly #serverOptions: ServerOptions
  /** Callbacks of calls that wait for a reconnect. */
  readonly #waiting = new Set<() => void>()
  #refresh: Timer | undefined
  #isClosed = false
  #lastError: unknown

  private constructor(location: ValkeyLocation, settings: ConnectionSettings, runtime: Runtime) {
    const client = makeClient(location, settings, runtime)
    this.isCluster = location.isCluster
    this.#client = client
    this.#runtime = runtime
    this.#seeds = location.servers
    this.#serverOptions = serverOptions(location, settings)
    client.on('error', (error: unknown) => {
      this.#lastError = error
    })
    client.on('ready', () => this.#endWaiting())
    if (client instanceof Redis) unrefSocket(client)
    else client.on('+node', unrefSocket)
  }

  /** Connects, or throws an error that names the cause. */
  static async open(location: ValkeyLocation, settings: ConnectionSettings, runtime: Runtime): Promise<Connection> {
    const connection = new Connection(location, settings, runtime)
    const failure = await connection.#connect()
    if (failure === undefined) {
      connection.#refreshLater()
      return connection
    }
    // A cluster client reports only that no server replied; the client of a single server reports the cause.
    if (!location.isCluster || connection.#lastError === undefined) throw asConnectError(location, failure)
    const single = new Connection({ ...location, isCluster: false }, settings, runtime)
    const reason = (await single.#connect()) ?? (await single.#clusterTrouble())
    single.close()
    throw asConnectError(location, reason ?? failure)
  }

  /** Returns what a member reports of its cluster, if that is unhealthy. */
  async #clusterTrouble(): Promise<EngineError | undefined> {
    try {
      const info = String(await this.send('CLUSTER', 'INFO'))
      if (!info.includes('cluster_state:fail')) return undefined
    } catch {
      // It may not be asked; then the first failure has to do.
      return undefined
    }
    const message = 'The cluster does not serve all of its slots: look for a primary that is down and has no replica.'
    return new EngineError('store_unavailable', { message })
  }

  /** A server that accepts writes, as far as is known; with each turn another one, if there are several. */
  primary(turn: number): ServerAddress {
    const nodes = this.#client instanceof Cluster ? this.#client.nodes('master') : []
    const known = nodes.flatMap(({ options: { host, port } }) =>
      host === undefined || port === undefined ? [] : [{ host, port }],
    )
    const servers = known.length > 0 ? known : this.#seeds
    const server = servers[turn % servers.length]
    if (server === undefined) throw new Error('A location names at least one server.')
    return server
  }

  /** A connection of its own to one server, for who listens: it can do nothing else, and does not come back by itself. */
  openSubscription(server: ServerAddress): Redis {
    const client = new Redis({
      ...this.#serverOptions,
      ...server,
      lazyConnect: true,
      enableReadyCheck: false,
      autoResubscribe: false,
      retryStrategy: null,
    })
    unrefSocket(client)
    return client
  }

  /** Sends a command to the server that has its first key. Texts in the reply come as text. */
  send(command: string, ...args: Argument[]): Promise<unknown> {
    return this.#whenReady((client) => client.call(command, ...args))
  }

  /** The same with bytes in the reply. */
  sendForBytes(command: string, ...args: Argument[]): Promise<unknown> {
    return this.#whenReady((client) => client.sendCommand(new BytesCommand(command, args)) as Promise<unknown>)
  }

  /** Sends a call that is ready to the server that has its first key, with bytes in the reply. */
  sendCall(call: FunctionCall): Promise<unknown> {
    return this.#whenReady((client) => client.sendCommand(new ReadyCommand(call)) as Promise<unknown>)
  }

  /**
   * Sends a call behind its read of values, in one write. The read runs before the call: it follows no slot to another server,
   * where it could arrive behind the call. If the read fails, the reply to the call counts as lost.
   */
  async sendCallBehindRead(call: FunctionCall): Promise<[reply: unknown, values: unknown]> {
    const { read } = call
    if (read === undefined) return [await this.sendCall(call), []]
    return await this.#whenReady(async (client) => {
      const reading = readInPlace(client, read)
      // Awaited after the call, whose own error is more specific.
      reading.catch(() => undefined)
      const reply = await (client.sendCommand(new ReadyCommand(call)) as Promise<unknown>)
      return [reply, await reading]
    })
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

  /** Asks every replica that can be asked now. */
  async onEachReplica<T>(work: (server: Redis) => Promise<T>): Promise<T[]> {
    const replicas = this.#client instanceof Cluster ? this.#client.nodes('slave') : []
    const answers = await Promise.allSettled(replicas.map(work))
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }

  close(): void {
    this.#isClosed = true
    this.#refresh?.cancel()
    this.#client.disconnect()
    this.#endWaiting()
  }

  /** Answers what kept it from connecting, if anything did; it is closed then. */
  async #connect(): Promise<unknown> {
    const limit = Promise.withResolvers<never>()
    const timer = this.#runtime.after(CONNECT_TIMEOUT_MS, () => limit.reject(new Error('It did not answer in time')))
    try {
      await Promise.race([this.#client.connect(), limit.promise])
      return undefined
    } catch (error) {
      this.close()
      return this.#lastError ?? error
    } finally {
      timer.cancel()
    }
  }

  async #whenReady<T>(work: (client: Client) => Promise<T>): Promise<T> {
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
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const end = () => resolve(undefined)
    const timer = this.#runtime.after(RECONNECT_WAIT_MS, end)
    this.#waiting.add(end)
    await promise
    this.#waiting.delete(end)
    timer.cancel()
    if (this.#isClosed) throw new EngineError('fabric_closed')
    if (this.#client.status !== 'ready') {
      throw new EngineError(
        'store_unavailable',
        { message: 'There is no connection to the server; reconnecting.' },
        { cause: causeOf(this.#lastError) },
      )
    }
  }

  #refreshLater(): void {
    const client = this.#client
    if (!(client instanceof Cluster)) return
    const refresh = () => {
      client.refreshSlotsCache()
      this.#refreshLater()
    }
    this.#refresh = this.#runtime.after(SLOTS_REFRESH_MS, refresh, { background: true })
  }

  #endWaiting(): void {
    for (const end of this.#waiting) end()
  }

  /** A lost primary may have a successor that the slot map of the client does not have yet. */
  #lookForPrimaries(error: unknown): void {
    if (!(this.#client instanceof Cluster) || this.#isClosed) return
    const word = refusalWord(error)
    if (word !== undefined && word !== 'READONLY' && word !== 'CLUSTERDOWN') return
    this.#client.refreshSlotsCache()
  }
}

/** A connection alone does not keep the process alive. The timeout of a pending command does. */
function unrefSocket(client: Redis): void {
  client.on('connect', () => client.stream.unref())
}

/** Reads values from the server that has their slot in the slot map. With an explicit slot the client follows no redirection. */
function readInPlace(client: Client, read: ValueRead): Promise<unknown> {
  const command = new ReadyRead(read)
  if (!(client instanceof Cluster)) return client.sendCommand(command) as Promise<unknown>
  return client.sendCommand(command, undefined, { slot: command.getSlot() }) as Promise<unknown>
}

/** Options of every connection to every server. */
function serverOptions(location: ValkeyLocation, settings: ConnectionSettings) {
  const requestTimeoutMs = settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS
  return {
    db: location.database,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: GOODBYE_MS,
    maxLoadingRetryTime: LOADING_LOOK_MS,
    commandTimeout: requestTimeoutMs,
    socketTimeout: SILENCES_MAX * requestTimeoutMs,
    protocol: 2 as const,
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // A primary that has become a replica refuses writes until the address leads to its successor.
    reconnectOnError: (error: Error) => refusalWord(error) === 'READONLY',
    ...userOf(location, settings),
    ...(location.isTls ? { tls: { ...settings.tls } } : {}),
    ...sentinelsOf(location, settings),
  }
}

/** With sentinels the client asks them for the address at each connect, and ignores the one that it is given. */
function sentinelsOf({ watchedName, servers, isTls }: ValkeyLocation, { tls, sentinelPassword }: ConnectionSettings) {
  if (watchedName === undefined) return {}
  return {
    sentinels: [...servers],
    name: watchedName,
    role: 'master' as const,
    // Of a connection that does not come back by itself; the client of the store has another one.
    sentinelRetryStrategy: () => null,
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(isTls ? { enableTLSForSentinelMode: true, sentinelTLS: { ...tls } } : {}),
  }
}

function makeClient(location: ValkeyLocation, settings: ConnectionSettings, runtime: Runtime): Client {
  const retry = (tries: number) => backoffMs(runtime, tries)
  const options = serverOptions(location, settings)
  const [server] = location.servers
  if (!location.isCluster) {
    return new Redis({
      ...options,
      ...server,
      lazyConnect: true,
      enableOfflineQueue: false,
      retryStrategy: retry,
      ...(location.watchedName === undefined ? {} : { sentinelRetryStrategy: retry }),
    })
  }
  const clusterOptions = {
    redisOptions: options,
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: retry,
    maxRedirections: REDIRECTIONS_MAX,
    // A command whose connection broke may have run: the caller decides whether to retry.
    retryDelayOnFailover: 0,
    retryDelayOnTryAgain: SLOT_WAIT_MS,
    retryDelayOnClusterDown: SLOT_WAIT_MS,
  }
  return new Cluster([...location.servers], clusterOptions)
}

function userOf(location: ValkeyLocation, settings: ConnectionSettings): { username?: string; password?: string } {
  const username = settings.username ?? location.username
  const password = settings.password ?? location.password
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) }
}
