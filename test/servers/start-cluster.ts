/** Starts the members of a cluster and joins them, without the tools that a server's package may or may not bring. */
import { CALM_NODE_TIMEOUT_MS, Cluster, NO_FAILOVER } from './cluster.ts'
import { viewFrom } from './cluster-view.ts'
import type { Server } from './server.ts'
import { startServerIn } from './server.ts'
import type { ServerOptions } from './server-settings.ts'
import { until } from './until.ts'

/** The settings of every member. */
export type ClusterOptions = Pick<ServerOptions, 'program' | 'appendOnly' | 'settings'>

/** The smallest number of primaries of which two can declare the third dead. Each has one replica. */
const PRIMARIES = 3
const SLOTS = 16_384
const JOIN_LIMIT_MS = 60_000

function startMember({ settings, ...others }: ClusterOptions): Promise<Server> {
  return startServerIn((place) => ({
    ...others,
    settings: {
      'cluster-enabled': 'yes',
      'cluster-port': String(place.busPort),
      'cluster-announce-ip': '127.0.0.1',
      'cluster-node-timeout': String(CALM_NODE_TIMEOUT_MS),
      [NO_FAILOVER]: 'yes',
      // A replica stays with its primary, and takes over however long they were disconnected.
      'cluster-allow-replica-migration': 'no',
      'cluster-replica-validity-factor': '0',
      'repl-diskless-sync-delay': '0',
      ...settings,
    },
  }))
}

/** Starts all or none. */
async function startMembers(options: ClusterOptions): Promise<Server[]> {
  const starting = Array.from({ length: 2 * PRIMARIES }, () => startMember(options))
  const members = await Promise.allSettled(starting)
  const started = members.flatMap((member) => (member.status === 'fulfilled' ? [member.value] : []))
  const failure = members.find((member) => member.status === 'rejected')
  if (failure === undefined) return started
  await Promise.all(started.map((server) => server.stop()))
  throw failure.reason
}

function firstSlotOf(primary: number): number {
  return Math.floor((primary * SLOTS) / PRIMARIES)
}

/** Every member begins with an epoch of its own; otherwise they would first have to settle who is the older. */
async function giveSlots(nodes: readonly Server[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    await node.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    if (index >= PRIMARIES) continue
    await node.call('CLUSTER', 'ADDSLOTSRANGE', firstSlotOf(index), firstSlotOf(index + 1) - 1)
  }
}

/** A member that does not know the primary yet refuses to follow it, so the call is retried until it does. */
async function follow(replica: Server, primary: Server): Promise<void> {
  const primaryId = String(await primary.call('CLUSTER', 'MYID'))
  const hasHeardOfIt = async (): Promise<true | undefined> =>
    String(await replica.call('CLUSTER', 'NODES')).includes(primaryId) || undefined
  await until(`the member at ${replica.port} knows its primary`, JOIN_LIMIT_MS, hasHeardOfIt)
  await replica.call('CLUSTER', 'REPLICATE', primaryId)
}

/** A member that is short of a core misses its introduction, which expires after a node timeout and is then made again. */
async function introduce(first: Server, others: readonly Server[]): Promise<void> {
  await until('the members know each other', JOIN_LIMIT_MS, async () => {
    const view = await viewFrom(first)
    const known = new Set(view.map(({ port }) => port))
    for (const { address, port, busPort } of others) {
      if (!known.has(port)) await first.call('CLUSTER', 'MEET', address.host, port, busPort)
    }
    return (view.length === 1 + others.length && view.every(({ isSound }) => isSound)) || undefined
  })
}

async function join(nodes: readonly Server[]): Promise<void> {
  const [first, ...others] = nodes
  if (first === undefined) return
  await giveSlots(nodes)
  await introduce(first, others)
  const replicas = nodes.slice(PRIMARIES)
  await Promise.all(replicas.map((replica, index) => follow(replica, nodes[index]!)))
}

/** Starts three primaries with a replica each and waits until they serve clients. Who starts the cluster stops it. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const nodes = await startMembers(options)
  const cluster = new Cluster(nodes)
  try {
    await cluster.start(() => join(nodes))
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}
