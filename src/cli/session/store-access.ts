/** Reads the credentials and certificates for a server from the configuration. */
import type { Configuration } from '../config/configuration.ts'
import type { StoreLocation } from '../../stores/open/location.ts'
import type { FabricOptions } from '../../fabric/fabric.ts'
import { dropUndefined } from '../args/drop-undefined.ts'

export type StoreAccess = Pick<FabricOptions, 'valkey' | 'postgres' | 'token'>

export function accessFrom(configuration: Configuration, location: StoreLocation): StoreAccess {
  switch (location.kind) {
    case 'valkey':
      return {
        valkey: dropUndefined({
          ...userFrom(configuration, location, 'valkey'),
          sentinelPassword: configuration.value('valkey.sentinelPassword'),
          loadFunctions: configuration.value('valkey.loadFunctions'),
        }),
      }
    case 'postgres': {
      const listen = configuration.value('postgres.listen')
      return {
        postgres: dropUndefined({
          ...userFrom(configuration, location, 'postgres'),
          connections: configuration.value('postgres.connections'),
          listen: listen === 'false' ? (false as const) : listen,
        }),
      }
    }
    case 'remote':
      return dropUndefined({ token: configuration.secret('remote.token') })
    case 'memory':
    case 'sqlite':
      return {}
  }
}

interface User {
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Ignores the configured user if the location has a password, because its user belongs to that password. */
function userFrom(configuration: Configuration, located: User, kind: 'valkey' | 'postgres') {
  const tls = certificatesFrom(configuration, kind)
  if (located.password !== undefined) return { tls }
  return {
    tls,
    username: located.username ?? configuration.value(`${kind}.username`),
    password: configuration.secret(`${kind}.password`),
  }
}

function certificatesFrom(configuration: Configuration, kind: 'valkey' | 'postgres') {
  const tls = dropUndefined({
    ca: configuration.content(`${kind}.caFile`),
    cert: configuration.content(`${kind}.certFile`),
    key: configuration.content(`${kind}.keyFile`),
  })
  return Object.keys(tls).length === 0 ? undefined : tls
}
