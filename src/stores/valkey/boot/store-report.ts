/** Reports the kind, version and durability of the servers, with warnings. */
import type { StoreReport } from '../../store.ts'
import type { ServerFacts } from './server-check.ts'
import { shownLocation } from '../options/valkey-location.ts'
import type { ValkeyLocation } from '../options/valkey-location.ts'

/** From this share of its maxmemory on, a server is nearly full. */
const MEMORY_WARNING_SHARE = 0.9

export function reportOf(location: ValkeyLocation, servers: readonly ServerFacts[]): StoreReport {
  const product = servers[0]?.product ?? 'Valkey'
  return {
    kind: `${product.toLowerCase()}${location.isCluster ? ' cluster' : ''}`,
    version: distinct(servers.map(({ version }) => version)).join(', '),
    location: shownLocation(location),
    durability: distinct(servers.map(durabilityOf)).join('; '),
    warnings: distinct(servers.flatMap(warningsOf)),
    keyCount: servers.reduce((sum, { keyCounts }) => sum + (keyCounts.get(location.database) ?? 0), 0),
  }
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

function durabilityOf({ isAppendOnly, appendFsync, hasSnapshots }: ServerFacts): string {
  if (isAppendOnly) {
    switch (appendFsync) {
      case 'always':
        return 'append-only file, synced before every reply: acknowledged writes survive a power failure'
      case 'no':
        return 'append-only file, synced by the operating system: acknowledged writes survive a crash of the server, not of the machine'
      case 'everysec':
        return 'append-only file, synced every second: a power failure can take the last second, and so can a crash of the server while its disk is slow'
      default:
        return 'append-only file: acknowledged writes survive a crash of the server; this user may not see when they are synced'
    }
  }
  switch (hasSnapshots) {
    case true:
      return 'snapshots only: writes since the last snapshot are lost when the server ends'
    case false:
      return 'none: everything is lost when the server ends'
    case undefined:
      return 'no append-only file; this user may not see whether there are snapshots'
  }
}

/** Printed by `doctor`, and logged when the store is opened. */
export function warningsOf(server: ServerFacts): string[] {
  return [...durabilityWarnings(server), ...memoryWarnings(server)]
}

function durabilityWarnings({ isAppendOnly, hasSnapshots }: ServerFacts): string[] {
  if (isAppendOnly) return []
  const lost = hasSnapshots === false ? 'everything' : 'everything since the last snapshot'
  return [
    `The server keeps no append-only file: when it ends without warning, ${lost} is lost. Set "appendonly yes" and "appendfsync everysec".`,
  ]
}

function memoryWarnings({ usedMemoryBytes, maxmemoryBytes }: ServerFacts): string[] {
  if (maxmemoryBytes === 0 || usedMemoryBytes < maxmemoryBytes * MEMORY_WARNING_SHARE) return []
  const percent = Math.floor((100 * usedMemoryBytes) / maxmemoryBytes)
  return [
    `The server uses ${percent} % of its maxmemory; when it is full, no new work is accepted. Raise it, or let ended executions be removed sooner.`,
  ]
}
