import type { ConnectionOptions } from 'node:tls'

/** What a connection can be told besides its location. */
export interface ConnectionSettings {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Certificates, if the system's own do not do. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'> | undefined
  /** How long statements that were sent together may take. */
  readonly requestTimeoutMs?: number | undefined
}
