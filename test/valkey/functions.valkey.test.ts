import { describe, expect, test } from 'vitest'
import { DATA_VERSION } from '../../src/kernel/index.ts'
import { functionLibrary } from '../../src/stores/valkey/library/library.ts'
import { LAYOUT_VERSION } from '../../src/stores/valkey/layout/stored-value.ts'
import { startServer } from '../servers/server.ts'
import type { ServerProgram } from '../servers/server-process.ts'
import { startCluster } from '../servers/start-cluster.ts'
import { countIn, lifeOn, newPrefix, open, refusalOf, submitInto } from './fabrics.ts'

const programs: ServerProgram[] = ['valkey-server', 'redis-server']

describe.each(programs)('on a %s, a program', (program) => {
  test('that may not load functions is refused while they are missing, and works once they are loaded', async () => {
    await using server = await startServer({ program })
    const options = { valkey: { loadFunctions: false } }
    const { name } = await functionLibrary()

    const refused = await refusalOf(server.location, options)

    expect([refused.code, refused.detail.field]).toEqual(['invalid_configuration', 'loadFunctions'])
    expect(refused.message).toContain(name)
    expect(refused.message).toContain('flowfabric doctor')
    expect(await server.call('DBSIZE')).toBe(0)
    await open(server.location)
    expect(await lifeOn(server.location, options)).toBe('Hello, Ada')

    await server.call('FUNCTION', 'FLUSH')
    const store = await open(`${server.location}?prefix=${newPrefix()}`)
    const careful = await open(server.location, options)
    await server.call('FUNCTION', 'FLUSH')
    await expect(submitInto(careful, 0)).rejects.toMatchObject({ code: 'invalid_configuration' })
    await submitInto(store, 0)
    await submitInto(careful, 0)
  })

  test('keeps working when all functions are deleted between its calls', async () => {
    await using server = await startServer({ program })
    const store = await open(server.location)
    for (let number = 0; number < 5; number++) {
      await server.call('FUNCTION', 'FLUSH')
      await Promise.all([submitInto(store, number), submitInto(store, 7), countIn(store)])
    }

    expect(await countIn(store)).toBe(10)
  })

  test('keeps its settings when its server restarts empty', async () => {
    await using server = await startServer({ program })
    const store = await open(`${server.location}?partitions=3`, { indexedTags: ['plan'] })
    await submitInto(store, 0)

    await server.restart()
    await submitInto(store, 2)

    expect(await countIn(store)).toBe(1)
    expect((await open(server.location)).settings).toMatchObject({ executionPartitions: 3, indexedTags: ['plan'] })
  })

  test('refuses other settings on a server that restarted empty', async () => {
    await using server = await startServer({ program })
    const store = await open(`${server.location}?partitions=3`)
    await server.restart()
    const versions = { dataVersion: DATA_VERSION, layoutVersion: LAYOUT_VERSION }
    await server.call(
      'SET',
      'ff:{m}:settings',
      JSON.stringify({ ...versions, executionPartitions: 4, indexedTags: [] }),
    )

    await expect(submitInto(store, 0)).rejects.toMatchObject({
      code: 'configuration_mismatch',
      message: expect.stringContaining('partitions 4, this program asks for 3') as unknown,
    })
  })
})

test('in a cluster, functions that are removed from one server are loaded again where they are missing', async () => {
  await using cluster = await startCluster()
  const store = await open(cluster.location)
  for (const primary of await cluster.primaries()) {
    await primary.call('FUNCTION', 'FLUSH')
    for (let number = 0; number < store.settings.executionPartitions; number++) await submitInto(store, number)
  }

  expect(await countIn(store)).toBe(3 * store.settings.executionPartitions)
})
