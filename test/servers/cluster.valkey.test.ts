import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from './cluster.ts'
import type { Server } from './server.ts'
import { startCluster } from './start-cluster.ts'

const SLOTS = 16_384
const KEYS = 50
const REPLICATION_LIMIT_MS = 25_000

let cluster: Cluster

beforeAll(async () => {
  cluster = await startCluster()
})

afterAll(() => cluster.stop())

/** Writes keys of one slot, one of them not a text, and waits until the replica has them. */
async function fill(tag: string): Promise<{ slot: number; owner: Server; keys: Buffer[] }> {
  const slot = await cluster.slotOf(`{${tag}}`)
  const owner = await cluster.slotOwner(slot)
  const keys = Array.from({ length: KEYS }, (_, i) => Buffer.concat([Buffer.from(`{${tag}}`), Buffer.from([i, 0xff])]))
  for (const key of keys) await owner.call('SET', key, tag)
  expect(await owner.call('WAIT', 1, REPLICATION_LIMIT_MS)).toBe(1)
  return { slot, owner, keys }
}

async function countIn(slot: number, node: Server): Promise<unknown> {
  return node.call('CLUSTER', 'COUNTKEYSINSLOT', slot)
}

async function otherPrimary(node: Server): Promise<Server> {
  const other = (await cluster.primaries()).find((primary) => primary !== node)
  if (other === undefined) throw new Error('There is only one primary.')
  return other
}

describe('a cluster', () => {
  test('has three primaries with a replica each, and all slots have an owner', async () => {
    const primaries = await cluster.primaries()
    const replicas = await Promise.all(primaries.map((primary) => cluster.replicasOf(primary)))

    expect(new Set([...primaries, ...replicas.flat()])).toEqual(new Set(cluster.nodes))
    expect(replicas.map((of) => of.length)).toEqual([1, 1, 1])
    expect(await Promise.all(cluster.nodes.map((node) => cluster.roleOf(node)))).toEqual([
      ...Array.from({ length: 3 }, () => 'primary'),
      ...Array.from({ length: 3 }, () => 'replica'),
    ])
    expect(await cluster.slotOwner(0)).toBe(cluster.nodes[0])
    expect(await cluster.slotOwner(SLOTS - 1)).toBe(cluster.nodes[2])
    const addresses = cluster.nodes.slice(0, 3).map(({ port }) => `127.0.0.1:${port}`)
    expect(cluster.location).toBe(`valkey-cluster://${addresses.join(',')}`)
  })

  test('moves a slot with its keys, which are in both places half-way', async () => {
    const { slot, owner, keys } = await fill('moved')
    const target = await otherPrimary(owner)
    let counts: unknown[] = []
    const halfway = async (): Promise<void> => {
      counts = [await countIn(slot, owner), await countIn(slot, target)]
      await expect(owner.call('GET', '{moved}absent')).rejects.toThrow(`ASK ${slot}`)
      expect(await cluster.slotOwner(slot)).toBe(owner)
    }

    await cluster.moveSlot(slot, target, { halfway })

    expect(counts).toEqual([KEYS / 2, KEYS / 2])
    expect(await cluster.slotOwner(slot)).toBe(target)
    expect([await countIn(slot, owner), await countIn(slot, target)]).toEqual([0, KEYS])
    for (const key of keys) expect(await target.call('GET', key)).toBe('moved')
    await expect(owner.call('GET', '{moved}absent')).rejects.toThrow(`MOVED ${slot}`)
  })

  test('does not move a slot to a replica, nor to where it is', async () => {
    const { slot, owner } = await fill('stays')
    const [replica] = await cluster.replicasOf(owner)

    await expect(cluster.moveSlot(slot, replica!)).rejects.toThrow('Only a primary can own a slot.')
    await cluster.moveSlot(slot, owner, { halfway: () => Promise.reject(new Error('There is nothing to move.')) })
    expect(await cluster.slotOwner(slot)).toBe(owner)
  })

  test('hands a primary’s work over to its replica with all that it knows', async () => {
    const { slot, owner, keys } = await fill('handed')
    const [replica] = await cluster.replicasOf(owner)

    const successor = await cluster.handOver(owner)

    expect(successor).toBe(replica)
    expect(await cluster.slotOwner(slot)).toBe(successor)
    expect(await cluster.replicasOf(successor)).toEqual([owner])
    expect(await countIn(slot, successor)).toBe(keys.length)
  })

  test('replaces a primary that was killed, which comes back as a replica', async () => {
    const { slot, owner, keys } = await fill('killed')
    const [replica] = await cluster.replicasOf(owner)

    const successor = await cluster.failOver(owner)
    expect(successor).toBe(replica)
    expect(await cluster.slotOwner(slot)).toBe(successor)
    expect(await countIn(slot, successor)).toBe(keys.length)
    await expect(cluster.failOver(successor)).rejects.toThrow(
      `No replica of the server at ${successor.port} is running.`,
    )

    await owner.restart()
    expect(await cluster.roleOf(owner)).toBe('replica')
    expect(await cluster.replicasOf(successor)).toEqual([owner])
    expect(await countIn(slot, owner)).toBe(keys.length)
  })

  test('a replica starts again with a file that was written before the members had exchanged their shards', async () => {
    const replica = cluster.nodes.at(-1)!
    await replica.kill()
    const file = path.join(replica.folder, 'nodes.conf')
    const early = (await readFile(file, 'utf8')).replace(
      /(shard-id=)[0-9a-f]+(?= [a-z,]*slave)/g,
      `$1${'0'.repeat(40)}`,
    )
    await writeFile(file, early)

    await replica.restart()
    await cluster.untilSettled()

    expect(early).toContain('0'.repeat(40))
    expect(await cluster.roleOf(replica)).toBe('replica')
  })
})
