import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Keys } from '../layout/keys.ts'
import { commandLines } from './permission-check.ts'

const LIBRARY = new URL('../library/library.lua', import.meta.url)

/** Commands that the store sends outside of the library. */
const SENT_DIRECTLY = ['MGET', 'SET', 'SSUBSCRIBE', 'SUNSUBSCRIBE']

test('the user must be allowed every command that the store runs, and no other', async () => {
  const library = await readFile(LIBRARY, 'utf8')
  // A command stands in front of the first comma; there may be a choice between two.
  const calls = [...library.matchAll(/\b(?:call|onEach|write)\(([^,)]*)/g)].map(([, first = '']) => first)
  const used = calls.flatMap((first) => [...first.matchAll(/'([A-Z]+)'/g)].map(([, command = '']) => command))
  const checked = commandLines(new Keys('ff', 0)).map(([command]) => command)

  expect(checked.sort()).toEqual([...new Set([...used, ...SENT_DIRECTLY])].sort())
})

test('the documentation lists the same commands', async () => {
  const text = await readFile(new URL('../../../../docs/valkey.md', import.meta.url), 'utf8')
  const [, listed = ''] = /run on keys and channels: ([^.]*)\./.exec(text) ?? []
  const documented = [...listed.matchAll(/`([A-Z]+)`/g)].map(([, command = '']) => command)

  expect(documented).toEqual(commandLines(new Keys('ff', 0)).map(([command]) => command))
})

test('all of it is on keys and channels that begin with the prefix', () => {
  for (const line of commandLines(new Keys('shop', 3)).filter(([command]) => command !== 'TIME')) {
    expect(line.filter((word) => word.startsWith('shop:'))).toHaveLength(1)
  }
})
