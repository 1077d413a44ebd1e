import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { executionPartition } from '../../store.ts'
import { Keys, LIBRARIES_KEY, keyKinds } from './keys.ts'

/** The first two columns of a table of keys: which there are, and of which type. */
async function keysIn(file: string): Promise<string[]> {
  const text = await readFile(new URL(file, import.meta.url), 'utf8')
  return [...text.matchAll(/\| `((?:<prefix>|flowfabric):\S+)` +\| ([a-z ]+?) +\|/g)].map(
    ([, key = '', type = '']) => `${key} ${type}`,
  )
}

test('the documentation lists the keys that there are', async () => {
  const documented = await keysIn('../../../../docs/valkey.md')

  expect(documented.length).toBeGreaterThan(5)
  expect(documented).toEqual(await keysIn('keys.ts'))
  expect(documented).toContain(`${LIBRARIES_KEY} hash`)
  for (const kind of Object.values(keyKinds)) {
    expect(documented.filter((key) => key.includes(`}:${kind}<`))).toHaveLength(1)
  }
})

test('keys and channels of a partition share its hash tag; channels carry the database, which they do not know', () => {
  const keys = new Keys('shop', 3)
  const partition = executionPartition(7)

  expect(keys.partition(partition)).toBe('shop:{fp:7}:')
  expect([keys.wakeChannel(partition), keys.eventsChannel(partition)]).toEqual([
    'shop:{fp:7}:3:wake',
    'shop:{fp:7}:3:events',
  ])
  expect(keys.settings).toBe('shop:{m}:settings')
})
