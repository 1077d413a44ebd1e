/**
 * One server of every kind that a store can be opened on, for all test files of a suite or for all suites of a run. A run of
 * several suites starts the servers once and passes their locations to the suites in an environment variable.
 */
import { z } from 'zod'
import type { Cluster } from './cluster.ts'
import { startPostgres } from './postgres-server.ts'
import type { PostgresServer } from './postgres-server.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import { startCluster } from './start-cluster.ts'

const LOCATIONS_VARIABLE = 'FLOWFABRIC_TEST_SERVERS'

const locationsSchema = z.object({
  valkey: z.string(),
  redis: z.string(),
  cluster: z.string(),
  /** The PostgreSQL that is installed on the machine. */
  postgres: z.string(),
  /** The newest PostgreSQL, which is a dev dependency. */
  postgresNewest: z.string(),
})

/** The locations of the servers, in the form in which a program names its store. */
export type ServerLocations = Readonly<z.infer<typeof locationsSchema>>

export interface SharedServers {
  readonly locations: ServerLocations
  readonly stop: () => Promise<void>
}

/** Returns the environment that passes the locations to a suite. */
export function environmentOf(locations: ServerLocations): Record<string, string> {
  return { [LOCATIONS_VARIABLE]: JSON.stringify(locations) }
}

/** Returns the locations in the environment of this process; undefined if the suite has to start its own servers. */
export function locationsFromEnvironment(): ServerLocations | undefined {
  const text = process.env[LOCATIONS_VARIABLE]
  return text === undefined ? undefined : locationsSchema.parse(JSON.parse(text))
}

/** Starts all servers or none. They do not outlive this process. */
export async function startSharedServers(): Promise<SharedServers> {
  const starting = [
    startServer({ program: 'valkey-server' }),
    startServer({ program: 'redis-server' }),
    startCluster(),
    // Tests on these servers do not depend on what survives a power failure, so they need not wait for the disk.
    // A test of durability starts a server of its own.
    startPostgres({ version: 'installed', fsync: false }),
    startPostgres({ version: 'newest', fsync: false }),
  ] as const
  const stop = async (): Promise<void> => {
    const started = await Promise.allSettled<Server | Cluster | PostgresServer>(starting)
    await Promise.all(started.map(async (server) => server.status === 'fulfilled' && server.value.stop()))
  }
  try {
    const [valkey, redis, cluster, postgres, postgresNewest] = await Promise.all(starting)
    const locations = {
      valkey: valkey.location,
      redis: redis.location,
      cluster: cluster.location,
      postgres: postgres.location,
      postgresNewest: postgresNewest.location,
    }
    return { locations, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
