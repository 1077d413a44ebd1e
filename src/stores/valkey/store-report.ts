/** What an operator should know of a server: what it is, and what it would lose. */
import type { StoreReport } from '../store.ts'
import type { ServerFacts } from './server-check.ts'
import { shownLocation } from './valkey-location.ts'
import type { ValkeyLocation } from './valkey-location.ts'

export function reportOf(location: ValkeyLocation, servers: readonly ServerFacts[]): StoreReport {
  const [first] = servers
  return {
    kind: location.isCluster ? 'valkey cluster' : 'valkey',
    version: [...new Set(servers.map(({ product, version }) => `${product} ${version}`))].join(', '),
    location: shownLocation(location),
    durability: first === undefined ? 'unknown' : [...new Set(servers.map(durabilityOf))].join('; '),
    warnings: [...new Set(servers.flatMap(warningsOf))],
  }
}

function durabilityOf({ isAppendOnly, appendFsync, hasSnapshots }: ServerFacts): string {
  if (isAppendOnly) {
    switch (appendFsync) {
      case 'always':
        return 'append-only file, synced before every answer: what was answered survives a power failure'
      case 'no':
        return 'append-only file, synced when the system likes: what was answered survives the end of the server, not of the machine'
      case 'everysec':
        return 'append-only file, synced every second: what was answered survives the end of the server; a power failure can take the last second'
      default:
        return 'append-only file'
    }
  }
  return hasSnapshots === true ? 'snapshots only: a crash takes everything since the last one' : 'none that is known'
}

/** Said by `doctor`, and logged when the store is opened. */
export function warningsOf({ isAppendOnly, hasSnapshots }: ServerFacts): string[] {
  if (isAppendOnly) return []
  const lost = hasSnapshots === true ? 'everything since the last snapshot' : 'everything'
  return [
    `The server keeps no append-only file: when it ends without warning, ${lost} is lost. Set "appendonly yes" and "appendfsync everysec".`,
  ]
}
