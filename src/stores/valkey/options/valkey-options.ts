/** Options of a Valkey store besides its location. Keeps a password out of the location, which may be logged. */
import { invalidConfiguration } from '../../../options/invalid-input.ts'
import { shape } from '../../../options/shape.ts'
import {
  checkServerOptions,
  invalidOption,
  must,
  refuseConflictingUsers,
  serverChecks,
} from '../../server/server-options.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import type { ValkeyLocation } from './valkey-location.ts'

export interface ValkeyOptions extends ConnectionSettings {
  /** False if this program may not load its function library. */
  readonly loadFunctions?: boolean | undefined
}

const valkeyOptions = shape<ValkeyOptions>(invalidConfiguration)('{ password }', {
  ...serverChecks,
  sentinelPassword: must<string>((value) => typeof value === 'string' && value !== '', 'a text that is not empty'),
  loadFunctions: must<boolean>((value) => typeof value === 'boolean', 'true or false'),
})

/** Throws for options that would be ignored. No message holds a value. */
export function checkValkeyOptions(options: ValkeyOptions, location: ValkeyLocation): void {
  checkServerOptions('valkey', options, valkeyOptions)
  if (options.tls !== undefined && !location.isTls) {
    const isListed = location.isCluster || location.watchedName !== undefined
    const how = isListed ? 'add "?tls=true" to it' : 'begin it with "valkeys://"'
    throw invalidOption(
      'valkey.tls',
      `The location does not ask for TLS, so the connection would not be encrypted: ${how}.`,
    )
  }
  refuseConflictingUsers('valkey', location, options)
}
