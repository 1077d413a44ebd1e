/** Options of a Valkey store besides its location. Keeps a password out of the location, which may be logged. */
import {
  boolean,
  checkServerOptions,
  duration,
  invalidOption,
  object,
  refuseConflictingUsers,
  text,
} from '../../server/server-options.ts'
import type { OptionKind } from '../../server/server-options.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import type { ValkeyLocation } from './valkey-location.ts'

export interface ValkeyOptions extends ConnectionSettings {
  /** False if this program may not load its function library. */
  readonly loadFunctions?: boolean | undefined
}

const kinds: { readonly [Name in keyof Required<ValkeyOptions>]: OptionKind } = {
  username: text,
  password: text,
  tls: object,
  requestTimeoutMs: duration,
  loadFunctions: boolean,
}

/** Throws for options that would be ignored. No message holds a value. */
export function checkValkeyOptions(options: ValkeyOptions, location: ValkeyLocation): void {
  checkServerOptions('valkey', options, kinds)
  if (options.tls !== undefined && !location.isTls) {
    const how = location.isCluster ? 'add "?tls=true" to it' : 'begin it with "valkeys://"'
    throw invalidOption(
      'valkey.tls',
      `The location does not ask for TLS, so the connection would not be encrypted: ${how}.`,
    )
  }
  refuseConflictingUsers('valkey', location, options)
}
