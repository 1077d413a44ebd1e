import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileLua } from '../../scripts/compile-lua.ts'
import { operations } from '../../src/kernel/index.ts'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { rulesText } from './dialect/rules.ts'
import { rowText, trialName, trials } from './dialect/table.ts'
import { walkText } from './dialect/walk.ts'
import { functionLibrary } from './function-library.ts'
import { nodePlatform } from './node-platform.ts'

const WALK_SEEDS = [1, 2, 3, 4, 5]
const WALK_STEPS = 400

let server: Server | undefined

function call(command: string, ...parts: string[]): Promise<unknown> {
  if (server === undefined) throw new Error('There is no server.')
  return server.call(command, ...parts)
}

beforeAll(async () => {
  server = await startServer()
})

afterAll(() => server?.stop())

describe('the kernel inside valkey-server', () => {
  test('loads as a whole and knows every operation', async () => {
    const names = Object.keys(operations)
    const known = names.map((name) => `exports.operations.${name} ~= nil`).join(' and ')
    const library = functionLibrary('kernel', compileLua('src/kernel/index.ts'), [
      { name: 'kernel_is_whole', answer: `(${known}) and 'whole' or 'incomplete'` },
    ])

    expect(await call('FUNCTION', 'LOAD', library)).toBe('kernel')
    expect(await call('FCALL', 'kernel_is_whole', '0')).toBe('whole')
  })

  describe('comes to what it comes to in Node, to the last field:', () => {
    beforeAll(async () => {
      const library = functionLibrary('table_test', compileLua('test/table/lua-entry.ts'), [
        { name: 'table_row_count', answer: 'exports.rowCount()' },
        { name: 'table_row', answer: 'exports.row(tonumber(args[1]))' },
        { name: 'table_rules', answer: 'exports.rules()' },
        { name: 'table_walk', answer: 'exports.walk(tonumber(args[1]), tonumber(args[2]))' },
      ])
      await call('FUNCTION', 'LOAD', library)
    })

    test('the table has as many rows', async () => {
      expect(await call('FCALL', 'table_row_count', '0')).toBe(trials.length)
    })

    test('the rules of arithmetic and order', async () => {
      expect(await call('FCALL', 'table_rules', '0')).toBe(rulesText(nodePlatform))
    })

    test.each(WALK_SEEDS)('the random walk of seed %i', async (seed) => {
      const walked = await call('FCALL', 'table_walk', '0', String(seed), String(WALK_STEPS))

      expect(walked).toBe(walkText(nodePlatform, seed, WALK_STEPS))
    })

    test.each(trials.map((trial, number) => ({ name: trialName(trial), trial, number })))(
      '$name',
      async ({ trial, number }) => {
        expect(await call('FCALL', 'table_row', '0', String(number))).toBe(rowText(nodePlatform, trial))
      },
    )
  })
})
