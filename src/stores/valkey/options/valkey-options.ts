/** What a Valkey store can be told besides its location. A password here does not stand in a line of text that gets logged. */
import {
  boolean,
  checkServerOptions,
  duration,
  invalidOption,
  object,
  refuseTwoUsers,
  text,
} from '../../server/server-options.ts'
import type { OptionKind } from '../../server/server-options.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import type { ValkeyLocation } from './valkey-location.ts'

export interface ValkeyOptions extends ConnectionSettings {
  /** False where this program may not put its function library onto the server. */
  readonly loadFunctions?: boolean | undefined
}

const kinds: { readonly [Name in keyof Required<ValkeyOptions>]: OptionKind } = {
  username: text,
  password: text,
  tls: object,
  requestTimeoutMs: duration,
  loadFunctions: boolean,
}

/** Refuses what would be ignored otherwise; no message holds a value. */
export function checkValkeyOptions(options: ValkeyOptions, location: ValkeyLocation): void {
  checkServerOptions('valkey', options, kinds)
  if (options.tls !== undefined && !location.isTls) {
    const how = location.isCluster ? 'add "?tls=true" to it' : 'begin it with "valkeys://"'
    throw invalidOption(
      'valkey.tls',
      `The location does not ask for TLS, so the connection would be open to all: ${how}.`,
    )
  }
  refuseTwoUsers('valkey', location, options)
}
