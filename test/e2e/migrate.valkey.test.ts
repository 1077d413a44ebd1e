import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DATA_VERSION } from '../../src/kernel/index.ts'
import type { Queue } from '../../src/kernel/index.ts'
import { oldRecordBytes } from '../../src/stores/valkey/migration/old-layout.fixture.ts'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { errorIn, workplace } from './workplace.ts'

const REGISTER = 'flowfabric:{m}:libraries'
const queue: Queue = {
  type: 'queue',
  id: 'main/greet',
  lane: 'main',
  class: 'greet',
  createdAt: 1,
  needs: undefined,
  keeps: undefined,
}

let server: Server

beforeAll(async () => {
  server = await startServer({})
})

afterAll(() => server.stop())

/** A store of the previous layout. */
async function oldStore(prefix: string): Promise<string> {
  const settings = { dataVersion: DATA_VERSION, layoutVersion: 3, executionPartitions: 8, indexedTags: [] }
  await server.call('SET', `${prefix}:{m}:settings`, JSON.stringify(settings))
  await server.call('SET', `${prefix}:{fp:0}:q:${queue.id}`, oldRecordBytes(queue))
  return `${server.location}?prefix=${prefix}`
}

describe('migrate on a Valkey server', () => {
  test('moves a store of the previous layout, which every other command refuses', async () => {
    const place = await workplace()
    const location = await oldStore('moved')

    const refused = await place.run(['list', '--store', location, '--json'])
    const planned = await place.run(['migrate', location, '--dry-run'])
    const done = await place.run(['migrate', location])
    const again = await place.run(['migrate', '--store', location])
    const listed = await place.run(['list', '--store', location])

    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(errorIn(refused)).toMatchObject({
      code: 'older_schema',
      message: expect.stringContaining('flowfabric migrate') as unknown,
    })
    expect(planned).toMatchObject({
      code: 0,
      stdout: 'Layout version 3 would become 5: 1 records, 0 indexes, 0 payloads and results, 0 events to move.\n',
    })
    expect(done).toMatchObject({
      code: 0,
      stdout:
        'Moved 1 records, 0 indexes, 0 payloads and results, 0 events.\nLayout version 3 has become 5.\nLevel 1 has become 2.\n',
      stderr: '',
    })
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toContain('no other migration is needed')
    expect(listed).toMatchObject({ code: 0 })
  })

  test('refuses with 1 while a program of another version may be running, unless it is forced', async () => {
    const place = await workplace()
    const location = await oldStore('forced')
    const [seconds] = (await server.call('TIME')) as string[]
    await server.call('HSET', REGISTER, 'flowfabric_0123456789abcdef', Number(seconds) * 1_000)

    const refused = await place.run(['migrate', location, '--json'])
    const forced = await place.run(['migrate', location, '--force', '--json'])

    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(errorIn(refused).code).toBe('store_in_use')
    expect(forced).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(forced.stdout)).toEqual({
      kind: 'migrated',
      from: 3,
      to: 5,
      counts: { records: 1, indexes: 0, blobs: 0, events: 0, damaged: 0 },
      steps: [],
      level: { kind: 'raised', from: 1, to: 2, heldBackBy: [] },
    })
  })
})
