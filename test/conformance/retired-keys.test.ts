import { expect, test } from 'vitest'
import { KeyRing, mintKey } from '../../src/client/index.ts'
import { RetiredKeys } from '../../src/client/tokens/retired-keys.ts'
import { conformsOnServers } from './harness.ts'

const HOUR_MS = 3_600_000

conformsOnServers('facts of a store', ({ fabric }) => {
  test('are found again, each once, and nothing else is', async () => {
    await fabric.store.recordFacts('retired_key', ['a', 'b'])
    await fabric.store.recordFacts('retired_key', ['b', 'c'])

    const found = await fabric.store.findFacts('retired_key', ['a', 'b', 'c', 'd', 'A', ''])

    expect(found.toSorted()).toEqual(['a', 'b', 'c'])
    expect(await fabric.store.findFacts('retired_key', [])).toEqual([])
  })

  test('are recorded and found in any number', async () => {
    const names = Array.from({ length: 1_201 }, (_, i) => `k${i}`)

    await fabric.store.recordFacts('retired_key', names)

    expect((await fabric.store.findFacts('retired_key', [...names, 'other'])).toSorted()).toEqual(names.toSorted())
  })

  test('are recorded by many at the same time', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `k${i}`)

    await Promise.all([names, names.toReversed(), names].map((some) => fabric.store.recordFacts('retired_key', some)))

    expect(await fabric.store.findFacts('retired_key', names)).toHaveLength(20)
  })
})

conformsOnServers('retired keys', ({ fabric }) => {
  /** A ring, and the one after the first key was retired. */
  function rings() {
    const first = KeyRing.begin(0)
    const second = first.rotate(mintKey(1), HOUR_MS, 1)
    return { first, second, retired: second.retire(first.current.id) }
  }

  test('are refused in a ring of a fresh process once any process has seen them retired', async () => {
    const { first, second, retired } = rings()
    for (const ring of [first, second, retired]) await new RetiredKeys(fabric.store).compare(ring)

    for (const old of [first, second]) {
      await expect(new RetiredKeys(fabric.store).compare(old)).rejects.toMatchObject({
        code: 'invalid_keys',
        detail: { field: 'keys' },
        message: expect.stringContaining(first.current.id) as string,
      })
    }
    await new RetiredKeys(fabric.store).compare(retired)
  })

  test('leave their ids in the store, and no secret', async () => {
    const recorded: (readonly string[])[] = []
    const spy = {
      findFacts: (kind: 'retired_key', names: readonly string[]) => fabric.store.findFacts(kind, names),
      recordFacts: (kind: 'retired_key', names: readonly string[]) => {
        recorded.push(names)
        return fabric.store.recordFacts(kind, names)
      },
    }
    const { first, retired } = rings()

    await new RetiredKeys(spy).compare(retired)
    await new RetiredKeys(spy).compare(retired)

    expect(recorded).toEqual([[first.current.id]])
  })
})
