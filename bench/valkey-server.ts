/** Valkey servers as every measurement uses them: on the loopback address, in folders of their own, gone afterwards. */
import { startServer } from '../test/servers/server.ts'
import type { Server } from '../test/servers/server.ts'
import { startCluster } from '../test/servers/start-cluster.ts'
import type { Cluster } from '../test/servers/cluster.ts'
import type { Settings } from './measurement.ts'

/**
 * Every write is in the log that a restart reads, and on disk within a second. The log is not rewritten by itself, since
 * that would fork the server in the middle of one measurement and not of another.
 */
const options = { appendOnly: 'everysec', settings: { 'auto-aof-rewrite-percentage': '0' } } as const

export const valkeySettings: Settings = { appendonly: 'yes', appendfsync: options.appendOnly, aofRewrites: false }

export function startValkey(): Promise<Server> {
  return startServer(options)
}

export function startValkeyCluster(): Promise<Cluster> {
  return startCluster(options)
}
