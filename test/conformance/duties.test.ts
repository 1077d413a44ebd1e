/** The shares of engines: which of them examines which partition. */
import { expect, test } from 'vitest'
import { allPartitions, STORE_PARTITION } from '../../src/stores/partitions.ts'
import { conforms } from './harness.ts'

const TTL_MS = 30_000
const TEN: readonly string[] = Array.from({ length: 10 }, (_, i) => `fp:${i}`)

conforms('renewDuties and leaveDuties', ({ fabric, clock }) => {
  async function renew(engineId: string, partitions = TEN): Promise<readonly string[]> {
    const renewed = await fabric.runIn(STORE_PARTITION, 'renewDuties', { engineId, ttlMs: TTL_MS, partitions })
    return renewed.partitions
  }

  async function leave(engineId: string): Promise<string> {
    return (await fabric.runIn(STORE_PARTITION, 'leaveDuties', { engineId })).kind
  }

  const engines = async () => {
    const [record] = (await fabric.dump(STORE_PARTITION)).records
    if (record === undefined) return []
    if (record.type !== 'duties') throw new Error('another record')
    return record.engines
  }

  test('an engine alone examines every partition, and keeps its share with every renewal', async () => {
    const all = allPartitions(fabric.store.settings)

    const first = await renew('one', all)
    clock.advance(TTL_MS - 1)
    const again = await renew('one', all)

    expect([first, again]).toEqual([all, all])
    expect(await engines()).toEqual([{ id: 'one', expiresAt: clock.now() + TTL_MS, partitions: all }])
    expect((await fabric.dump(STORE_PARTITION)).events).toEqual([])
  })

  test('engines get fair shares, and a partition moves only to an engine that joins', async () => {
    const alone = await renew('one')
    const second = await renew('two')
    const third = await renew('three')
    const shares = [await renew('one'), await renew('two'), third]

    expect([alone.length, second.length]).toEqual([10, 5])
    expect(shares.map((share) => share.length).sort()).toEqual([3, 3, 4])
    expect(shares.flat().sort()).toEqual([...TEN].sort())
    expect(shares[0]!.every((partition) => !second.includes(partition))).toBe(true)
    expect(shares[1]!.every((partition) => second.includes(partition))).toBe(true)
    expect([await renew('one'), await renew('two'), await renew('three')]).toEqual(shares)
  })

  test('the share of an engine that does not renew goes to the others once it has expired, not before', async () => {
    await renew('one')
    const share = await renew('two')
    clock.advance(TTL_MS - 1)
    expect(await renew('two')).toEqual(share)

    clock.advance(1)

    expect([...(await renew('two'))].sort()).toEqual([...TEN].sort())
    expect((await engines()).map(({ id }) => id)).toEqual(['two'])
  })

  test('an engine that was paused for longer than its share comes back as a new one', async () => {
    await renew('paused')
    clock.advance(TTL_MS)
    await renew('other')

    const back = await renew('paused')
    const rest = await renew('other')

    expect([back.length, rest.length]).toEqual([5, 5])
    expect([...back, ...rest].sort()).toEqual([...TEN].sort())
  })

  test('an engine that leaves gives its share back at once; leaving twice changes nothing', async () => {
    await renew('one')
    await renew('two')

    expect([await leave('one'), await leave('one'), await leave('stranger')]).toEqual([
      'duties_left',
      'already_left',
      'already_left',
    ])
    expect([...(await renew('two'))].sort()).toEqual([...TEN].sort())

    expect([await leave('two'), await leave('two')]).toEqual(['duties_left', 'already_left'])
    expect(await fabric.dump(STORE_PARTITION)).toEqual({ records: [], entries: [], blobKeys: [], events: [] })
  })

  test('engines that renew at the same time divide the partitions without a gap', async () => {
    const names = ['one', 'two', 'three', 'four']

    await Promise.all(names.map((name) => renew(name)))
    const shares = await Promise.all(names.map((name) => renew(name)))

    expect(shares.map((share) => share.length).sort()).toEqual([2, 2, 3, 3])
    expect(shares.flat().sort()).toEqual([...TEN].sort())
  })

  test('an engine beyond the number of partitions waits for one to leave, and writes nothing', async () => {
    const two = ['fp:0', 'm:0']
    await renew('one', two)
    await renew('two', two)
    const before = await engines()
    clock.advance(1)

    expect(await renew('three', two)).toEqual([])
    expect(await engines()).toEqual(before)

    await leave('one')
    expect(await renew('three', two)).toHaveLength(1)
  })
})
