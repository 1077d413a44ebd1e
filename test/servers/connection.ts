/** A connection for looking after a server. It never comes back by itself: who asks a server that is gone is told so. */
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

const CONNECT_LIMIT_MS = 5_000
const REPLY_LIMIT_MS = 10_000

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
  // Why a connection could not be opened is told here; what `connect` rejects with says only that it was not.
  let reason: Error | undefined
  connection.on('error', (error: Error) => (reason = error))
  try {
    await connection.connect()
  } catch (error) {
    throw reason ?? error
  }
  return connection
}
