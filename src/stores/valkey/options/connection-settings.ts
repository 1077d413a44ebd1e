import type { SecureContextOptions } from 'node:tls'

/** What a connection can be told besides its location. */
export interface ConnectionSettings {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Certificates, if the system's own do not do. */
  readonly tls?: (SecureContextOptions & { readonly servername?: string | undefined }) | undefined
  /** How long a call waits for its answer. */
  readonly requestTimeoutMs?: number | undefined
}
