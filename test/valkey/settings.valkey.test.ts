import { describe, expect, test } from 'vitest'
import { DATA_VERSION } from '../../src/kernel/index.ts'
import type { EngineError } from '../../src/kernel/engine-error.ts'
import type { Store } from '../../src/stores/store.ts'
import { LAYOUT_VERSION } from '../../src/stores/valkey/layout/stored-value.ts'
import { connectTo } from '../servers/connection.ts'
import { locations, newPrefix, open, refusalOf } from './fabrics.ts'

const RACES = 25

const targets = [
  { name: 'valkey', location: locations().valkey, partitions: 8 },
  { name: 'redis', location: locations().redis, partitions: 8 },
  { name: 'valkey cluster', location: locations().cluster, partitions: 32 },
]

type Opened = { readonly store: Store } | { readonly error: EngineError }

async function tryToOpen(location: string, indexedTags: readonly string[]): Promise<Opened> {
  return await open(location, { indexedTags }).then(
    (store) => ({ store }),
    (error: unknown) => ({ error: error as EngineError }),
  )
}

describe.each(targets)('the settings of a store on $name', ({ location, partitions }) => {
  test('are the defaults unless its first user chooses, and hold for everyone after', async () => {
    const byDefault = `${location}?prefix=${newPrefix()}`
    const chosen = `${location}?prefix=${newPrefix()}`

    expect((await open(byDefault)).settings).toEqual({
      executionPartitions: partitions,
      limitPartitions: 4,
      indexedTags: [],
    })
    const first = await open(`${chosen}&partitions=3`, { indexedTags: ['tenant', 'plan', 'plan'] })
    expect(first.settings).toEqual({ executionPartitions: 3, limitPartitions: 4, indexedTags: ['plan', 'tenant'] })
    expect((await open(chosen)).settings).toEqual(first.settings)
    expect((await open(`${chosen}&partitions=3`, { indexedTags: ['plan', 'tenant'] })).settings).toEqual(first.settings)
  })

  test('that a program asks for otherwise are refused with both values', async () => {
    const place = `${location}?prefix=${newPrefix()}`
    await open(`${place}&partitions=4`, { indexedTags: ['plan'] })

    const otherCount = await refusalOf(`${place}&partitions=16`)
    const otherTags = await refusalOf(place, { indexedTags: ['plan', 'tenant'] })

    expect([otherCount.code, otherTags.code]).toEqual(['configuration_mismatch', 'configuration_mismatch'])
    expect(otherCount.message).toContain('set up with number of execution partitions 4, this program asks for 16')
    expect(otherTags.message).toContain('set up with indexed tags ["plan"], this program asks for ["plan","tenant"]')
  })

  test('of a store that was never used are not written by a process that only reads', async () => {
    const place = `${location}?prefix=${newPrefix()}`

    const error = await refusalOf(place, { create: false })

    expect(error.code).toBe('store_not_found')
    expect(error.message).toContain('There is no store with this prefix and database')
    await open(place)
    expect((await open(place, { create: false })).settings.executionPartitions).toBe(partitions)
  })

  test('are those of one of two racing first users, and the other agrees or is refused', async () => {
    for (let race = 0; race < RACES; race++) {
      const place = `${location}?prefix=${newPrefix()}`
      const openings = [
        tryToOpen(`${place}&partitions=2`, ['plan']),
        tryToOpen(`${place}&partitions=5`, ['tenant']),
        open(place).then((store) => ({ store })),
      ]
      const [two, five, any] = await Promise.all(race % 2 === 0 ? openings : openings.reverse())

      const opened = [two, five, any].flatMap((one) => (one !== undefined && 'store' in one ? [one.store] : []))
      const refused = [two, five, any].flatMap((one) => (one !== undefined && 'error' in one ? [one.error] : []))
      const { settings } = await open(place)
      expect(opened.map((store) => store.settings)).toEqual(opened.map(() => settings))
      expect(refused.map(({ code }) => code)).toEqual(refused.map(() => 'configuration_mismatch'))
      // A user with wanted settings was first or is refused; one without is never refused.
      expect(refused.length).toBe([2, 5].includes(settings.executionPartitions) ? 1 : 2)
    }
  })
})

describe('a key that is not what the store wrote', () => {
  test.each([
    ['text', ['SET', 'no JSON at all']],
    ['other JSON', ['SET', '{"partitions":8}']],
    ['another type', ['RPUSH', 'one', 'two']],
  ])('(%s) is refused by its name and left alone', async (_, [command = '', ...values]) => {
    const { valkey } = locations()
    const { hostname, port } = new URL(valkey)
    const access = { username: undefined, password: undefined, certificate: undefined }
    const connection = await connectTo({ host: hostname, port: Number(port), ...access })
    const prefix = newPrefix()
    const key = `${prefix}:{m}:settings`
    await connection.call(command, key, ...values)

    const error = await refusalOf(`${valkey}?prefix=${prefix}`)

    expect(error.code).toBe('corruption')
    expect(error.message).toContain(key)
    expect(await connection.call('TYPE', key)).toBe(command === 'SET' ? 'string' : 'list')
    connection.disconnect()
  })

  test.each([
    ['a newer version', { dataVersion: 9_999, layoutVersion: 1 }, 'data version 9999'],
    ['a newer layout', { dataVersion: DATA_VERSION, layoutVersion: 9_999 }, 'layout version 9999'],
    ['a higher level', { dataVersion: DATA_VERSION, layoutVersion: LAYOUT_VERSION, level: 9_999 }, 'level 9999'],
  ])('but by %s is refused with both numbers', async (_, versions, part) => {
    const { valkey } = locations()
    const { hostname, port } = new URL(valkey)
    const access = { username: undefined, password: undefined, certificate: undefined }
    const connection = await connectTo({ host: hostname, port: Number(port), ...access })
    const prefix = newPrefix()
    const settings = { ...versions, executionPartitions: 8, indexedTags: [] }
    await connection.call('SET', `${prefix}:{m}:settings`, JSON.stringify(settings))
    connection.disconnect()

    const error = await refusalOf(`${valkey}?prefix=${prefix}`)

    expect(error.code).toBe('newer_schema')
    expect(error.message).toContain(part)
  })
})
