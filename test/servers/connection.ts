/** A connection for administering a server. Never reconnects: calls to a server that is gone are rejected. */
import { Redis } from 'ioredis'

export interface ServerAddress {
  readonly host: string
  readonly port: number
  /** Undefined for the default user. */
  readonly username: string | undefined
  readonly password: string | undefined
  /** The text of the certificate to trust; undefined if the server speaks plain text. */
  readonly certificate: string | undefined
}

const CONNECT_LIMIT_MS = 30_000
const REPLY_LIMIT_MS = 30_000

export async function connectTo({ host, port, username, password, certificate }: ServerAddress): Promise<Redis> {
  const connection = new Redis({
    host,
    port,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(certificate !== undefined && { tls: { ca: certificate } }),
    connectTimeout: CONNECT_LIMIT_MS,
    commandTimeout: REPLY_LIMIT_MS,
    retryStrategy: null,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    lazyConnect: true,
  })
  // The reason why a connection failed is emitted here; the rejection of `connect` lacks it.
  let reason: Error | undefined
  connection.on('error', (error: Error) => (reason = error))
  try {
    await connection.connect()
  } catch (error) {
    throw reason ?? error
  }
  return connection
}
