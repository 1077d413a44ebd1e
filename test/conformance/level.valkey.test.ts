import { onTestFinished } from 'vitest'
import { startCluster } from '../servers/start-cluster.ts'
import { startServer } from '../servers/server.ts'
import { locations, newPrefix } from '../valkey/fabrics.ts'
import { levelConforms } from './level-spec.ts'
import { rollingUpgradeConforms } from './rolling-upgrade-spec.ts'

const { valkey, redis, cluster } = locations()
const servers = { valkey, redis, 'valkey cluster': cluster }

levelConforms(
  Object.entries(servers).map(([name, location]) => ({ name, newLocation: () => `${location}?prefix=${newPrefix()}` })),
)

/** On servers of their own: an older program announces itself to a server, whose stores other tests migrate. */
rollingUpgradeConforms([
  { name: 'valkey', newLocation: async () => (await whileTested(startServer({ program: 'valkey-server' }))).location },
  { name: 'redis', newLocation: async () => (await whileTested(startServer({ program: 'redis-server' }))).location },
  { name: 'valkey cluster', newLocation: async () => (await whileTested(startCluster())).location },
])

async function whileTested<S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> {
  const server = await starting
  onTestFinished(() => server.stop())
  return server
}
