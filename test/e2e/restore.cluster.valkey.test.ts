import { copyFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { onTestFinished, test } from 'vitest'
import type { Cluster } from '../servers/cluster.ts'
import { runProgram } from '../servers/run-program.ts'
import type { Server } from '../servers/server.ts'
import { startCluster } from '../servers/start-cluster.ts'
import { until } from '../servers/until.ts'
import { checkRestore } from './restored-work.ts'
import { workplace } from './workplace.ts'

const LIMIT_MS = 60_000

test('a store of a cluster that is restored from the snapshots of its primaries completes all work that it had', async () => {
  const place = await workplace()
  const settings = place.path('server.conf')
  await writeFile(settings, 'appendonly yes\n')
  const [lost, found] = await Promise.all([
    startCluster({ appendOnly: 'everysec' }),
    startCluster({ settings: { include: settings } }),
  ])
  await using _lost = lost
  await using _found = found
  const snapshots = primariesOf(lost).map((_, index) =>
    path.join('/tmp', `${path.basename(place.folder)}-${index}.rdb`),
  )
  onTestFinished(async () => {
    for (const snapshot of snapshots) await rm(snapshot, { force: true })
  })

  await checkRestore(`${lost.location}?partitions=8`, place, {
    // One after the other, so that they are of different moments.
    save: async () => {
      for (const [index, { port }] of primariesOf(lost).entries()) {
        const args = ['-h', '127.0.0.1', '-p', String(port), '--rdb', snapshots[index]!]
        await runProgram('valkey-cli', args, { folder: '/' })
      }
    },
    restore: async () => {
      await Promise.all(lost.nodes.map((node) => node.kill()))
      await putBack(found, settings, snapshots)
      return `${found.location}?partitions=8`
    },
  })
})

/** The first of them has the first third of the slots in every cluster of the tests, and so on. */
function primariesOf(cluster: Cluster): readonly Server[] {
  return cluster.nodes.slice(0, cluster.nodes.length / 2)
}

async function putBack(cluster: Cluster, settings: string, snapshots: readonly string[]): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.kill()))
  for (const { folder } of cluster.nodes) await rm(path.join(folder, 'appendonlydir'), { recursive: true })
  for (const [index, { folder }] of primariesOf(cluster).entries())
    await copyFile(snapshots[index]!, path.join(folder, 'dump.rdb'))
  await writeFile(settings, 'appendonly no\n')
  await startAgain(cluster)
  await Promise.all(cluster.nodes.map(writeAppendOnlyFile))
  await writeFile(settings, 'appendonly yes\n')
  // Loses the store if the append-only files do not have it.
  await Promise.all(cluster.nodes.map((node) => node.kill()))
  for (const { folder } of cluster.nodes) await rm(path.join(folder, 'dump.rdb'), { force: true })
  await startAgain(cluster)
}

/** Starts the primaries before their replicas, which copy them. */
async function startAgain(cluster: Cluster): Promise<void> {
  const primaries = primariesOf(cluster)
  const replicas = cluster.nodes.slice(primaries.length)
  for (const nodes of [primaries, replicas]) await Promise.all(nodes.map((node) => node.restart()))
  await cluster.untilSettled()
}

async function writeAppendOnlyFile(server: Server): Promise<void> {
  await server.call('CONFIG', 'SET', 'appendonly', 'yes')
  await until('the append-only file is written', LIMIT_MS, async () => {
    const info = String(await server.call('INFO', 'persistence'))
    return /aof_enabled:1/.test(info) && /aof_rewrite_in_progress:0/.test(info) ? true : undefined
  })
}
