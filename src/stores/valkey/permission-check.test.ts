import { readFile, readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Keys } from './keys.ts'
import { commandLines } from './permission-check.ts'

const SHELL = new URL('library/shell/', import.meta.url)

test('every command that the library runs is among those that the user must be allowed', async () => {
  const parts = await Promise.all((await readdir(SHELL)).map((name) => readFile(new URL(name, SHELL), 'utf8')))
  const shell = parts.join('\n')
  // A command stands in front of the first comma; there may be a choice between two.
  const calls = [...shell.matchAll(/(?:redisCall|redis\.call)\(([^,)]*)/g)].map(([, first = '']) => first)
  const used = new Set(calls.flatMap((first) => [...first.matchAll(/'([A-Z]+)'/g)].map(([, command]) => command)))
  const checked = new Set(commandLines(new Keys('ff', 0)).map(([command]) => command))

  expect(used.size).toBeGreaterThan(10)
  expect([...used].filter((command) => !checked.has(command))).toEqual([])
})

test('all of it is on keys and channels that begin with the prefix', () => {
  for (const line of commandLines(new Keys('shop', 3)).filter(([command]) => command !== 'TIME')) {
    expect(line.filter((word) => word.startsWith('shop:'))).toHaveLength(1)
  }
})
