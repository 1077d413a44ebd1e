import { expect, test } from 'vitest'
import { virtualRuntime } from '../../runtime/index.ts'
import type { Partition } from '../../stores/store.ts'
import { PARTITIONS_AT_ONCE, Visits } from './visits.ts'

const down = Array.from({ length: 2 * PARTITIONS_AT_ONCE }, (_, number): Partition => `fp:${number}`)
const sound: readonly Partition[] = ['q:0', 'q:1']

/** Visits that a test ends one by one. */
function held(hasFailed: (partition: Partition) => boolean) {
  const begun: Partition[] = []
  const ends = new Map<Partition, () => void>()
  const visits = new Visits({
    visit: (partition) => {
      begun.push(partition)
      return new Promise((resolve) => ends.set(partition, resolve))
    },
    hasFailed,
    onEnd: () => undefined,
  })
  const runtime = virtualRuntime()
  const turn = () => runtime.advance(0)
  const end = async (partition: Partition) => {
    ends.get(partition)?.()
    await turn()
  }
  return { visits, begun, turn, end }
}

test('partitions that have failed leave places to the others, however many they are', async () => {
  const { visits, begun, turn, end } = held((partition) => down.includes(partition))

  const all = visits.all([...down, ...sound])
  await turn()
  expect(begun).toEqual([...down.slice(0, PARTITIONS_AT_ONCE / 2), ...sound])

  // A place of one that had failed is for the next of them, and each is visited in its turn.
  for (const partition of [...down, ...sound]) await end(partition)
  await all
  expect(begun.toSorted()).toEqual([...down, ...sound].toSorted())
})

test('a place is for the first that may have it', async () => {
  const { visits, begun, turn, end } = held((partition) => sound.includes(partition))
  const all = visits.all([...down.slice(0, PARTITIONS_AT_ONCE), ...sound, 'm:0'])
  await turn()
  await end('fp:0')
  await end('fp:1')
  expect(begun.slice(PARTITIONS_AT_ONCE)).toEqual(['q:0', 'q:1'])

  const ended = visits.end()
  for (const partition of begun) await end(partition)
  await Promise.all([all, ended])
  expect(begun).not.toContain('m:0')
})
