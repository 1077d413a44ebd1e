/** Starts the servers of a test suite before its first test file and stops them after its last. */
import type { TestProject } from 'vitest/node'
import type { Cluster } from './cluster.ts'
import type { ServerLocations } from './server-locations.ts'
import { startPostgres } from './postgres-server.ts'
import type { PostgresServer } from './postgres-server.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import { startCluster } from './start-cluster.ts'

/** Nothing is meant to fail over here, however busy the machine is. */
const CALM_NODE_TIMEOUT_MS = 30_000

/** Vitest calls this once for each suite that names this file; the answer is what it calls in the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const starting = [
    startServer({ program: 'valkey-server' }),
    startServer({ program: 'redis-server' }),
    startCluster({ nodeTimeoutMs: CALM_NODE_TIMEOUT_MS }),
    // Nobody cuts the power of this machine between two tests: what they see is the same without waiting for the disk.
    // A test of what survives the machine starts a server of its own.
    startPostgres({ version: 'installed', fsync: false }),
    startPostgres({ version: 'newest', fsync: false }),
  ] as const
  const stop = async (): Promise<void> => {
    const started = await Promise.allSettled<Server | Cluster | PostgresServer>(starting)
    await Promise.all(started.map(async (server) => server.status === 'fulfilled' && server.value.stop()))
  }
  try {
    const [valkey, redis, cluster, postgres, postgresNewest] = await Promise.all(starting)
    const locations: ServerLocations = {
      valkey: valkey.location,
      redis: redis.location,
      cluster: cluster.location,
      postgres: postgres.location,
      postgresNewest: postgresNewest.location,
    }
    project.provide('serverLocations', locations)
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}
