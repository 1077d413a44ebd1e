import type { SecureContextOptions } from 'node:tls'

/** Settings of a connection besides its location. */
export interface ConnectionSettings {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** The password of the sentinels, if they ask for one. */
  readonly sentinelPassword?: string | undefined
  /** Certificates beyond those of the system. */
  readonly tls?: (SecureContextOptions & { readonly servername?: string | undefined }) | undefined
  /** How long a call waits for its reply. */
  readonly requestTimeoutMs?: number | undefined
}
