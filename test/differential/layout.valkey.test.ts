/** The layout as the server's generated code writes and reads it, against the layout as the store does. */
import { decode, encode } from '@msgpack/msgpack'
import fc from 'fast-check'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { luaLayout } from '../../scripts/lua-layout.ts'
import { eventOf, eventTypes, fieldsOf, recordTypes } from '../../src/kernel/index.ts'
import type { EventDetail, EventSubject, EventType, Field } from '../../src/kernel/index.ts'
import { LayoutReader, LayoutWriter } from '../../src/stores/valkey/layout.ts'
import { eventFieldsByType, inputLayouts, resultLayouts, wakeFields } from '../../src/stores/valkey/wire.ts'
import { runs } from '../properties/random-runs.ts'
import { connectTo } from '../servers/connection.ts'
import { serverLocations } from '../servers/server-locations.ts'
import { functionLibrary } from '../table/function-library.ts'
import { anyObject, anyText } from './any-values.ts'
import type { Values } from './any-values.ts'

const RUNS = 200

const TOLD = ['at', 'executionId', 'namespace', 'task', 'lane', 'tags', 'flowId']
const instant = fc.nat()

const { valkey, redis } = serverLocations()!
const servers = [
  { name: 'valkey', location: valkey },
  { name: 'redis', location: redis },
]

/** What the generated code is used through. Values travel with names, which needs no layout. */
const library = functionLibrary(
  'layout_test',
  `local pack, unpack, join = struct.pack, struct.unpack, table.concat\n${luaLayout()}`,
  [
    { name: 'layout_write', answer: 'exports.pack[args[1]](cmsgpack.unpack(args[2]))' },
    { name: 'layout_read', answer: 'cmsgpack.pack(exports.unpack[args[1]](args[2]))' },
    { name: 'layout_rewrite', answer: 'exports.pack[args[1]](exports.unpack[args[1]](args[2]))' },
    { name: 'layout_write_event', answer: 'exports.packEvents[args[1]](unpack(cmsgpack.unpack(args[2])))' },
    { name: 'layout_write_wake', answer: 'exports.packWake(cmsgpack.unpack(args[1]))' },
    { name: 'layout_read_input', answer: 'cmsgpack.pack((exports.inputs[args[1]](args[2], 1)))' },
    { name: 'layout_write_result', answer: 'exports.results[args[1]].pack(cmsgpack.unpack(args[2]))' },
  ],
)

/** What an event tells of every execution and of every flow. */
const anySubject = fc.record(
  {
    id: anyText,
    namespace: anyText,
    task: anyText,
    lane: anyText,
    tags: fc.array(fc.record({ name: anyText, value: anyText, indexed: fc.boolean() }), { maxLength: 3 }),
    member: fc.record({ flowId: anyText }),
  },
  { requiredKeys: ['id', 'namespace', 'task', 'lane', 'tags'] },
) as unknown as fc.Arbitrary<EventSubject>

/** What an event of a type can tell besides. */
function anyDetail(type: EventType): fc.Arbitrary<EventDetail> {
  const [event] = eventFieldsByType
  const variant = event?.of.kind === 'union' ? event.of.variants.find(({ word }) => word === type) : undefined
  const fields = variant?.fields.filter(({ name }) => !TOLD.includes(name)) ?? []
  return anyObject(fields)
}

function written(fields: readonly Field[], values: Values): Buffer {
  const writer = new LayoutWriter()
  writer.fields(fields, values)
  return writer.take()
}

function read(fields: readonly Field[], bytes: Buffer): Values {
  return new LayoutReader(bytes).fields(fields)
}

describe.each(servers)('the layout inside $name', ({ location }) => {
  let server: Redis

  beforeAll(async () => {
    const { hostname, port } = new URL(location)
    const access = { username: undefined, password: undefined, certificate: undefined }
    server = await connectTo({ host: hostname, port: Number(port), ...access })
    await server.call('FUNCTION', 'LOAD', 'REPLACE', library)
  })
  afterAll(() => server.disconnect())

  async function ask(name: string, ...args: (string | Uint8Array)[]): Promise<Buffer> {
    const values = args.map((argument) => (typeof argument === 'string' ? argument : Buffer.from(argument)))
    return (await server.callBuffer('FCALL', name, 0, ...values)) as Buffer
  }

  describe.each(recordTypes)('of a record of type %s', (type) => {
    const fields = fieldsOf(type)
    const anyRecord = anyObject(fields, { type: fc.constant(type) })

    test('what the server writes, the store reads', async () => {
      await fc.assert(
        fc.asyncProperty(anyRecord, async (record) => {
          expect({ type, ...read(fields, await ask('layout_write', type, encode(record))) }).toEqual(record)
        }),
        runs(RUNS),
      )
    })

    test('what the store writes, the server reads', async () => {
      await fc.assert(
        fc.asyncProperty(anyRecord, async (record) => {
          expect(decode(await ask('layout_read', type, written(fields, record)))).toEqual(record)
        }),
        runs(RUNS),
      )
    })

    test('what the server reads and writes again is the same record', async () => {
      await fc.assert(
        fc.asyncProperty(anyRecord, async (record) => {
          const reader = new LayoutReader(await ask('layout_rewrite', type, written(fields, record)))

          expect(reader.fields(fields, { type })).toEqual(record)
        }),
        runs(RUNS),
      )
    })
  })

  test.each(eventTypes)('of an event of type %s: what the server writes, the store reads', async (type) => {
    await fc.assert(
      fc.asyncProperty(anySubject, anyDetail(type), instant, async (subject, detail, at) => {
        const bytes = await ask('layout_write_event', type, encode([subject, detail, at]))

        expect(read(eventFieldsByType, bytes)).toEqual({ event: eventOf(type, subject, detail, at) })
      }),
      runs(RUNS / 4),
    )
  })

  test('of a wake-up: what the server writes, the store reads', async () => {
    await fc.assert(
      fc.asyncProperty(anyObject(wakeFields), async (wake) => {
        expect(read(wakeFields, await ask('layout_write_wake', encode(wake)))).toEqual(wake)
      }),
      runs(RUNS),
    )
  })

  test.each(Object.entries(inputLayouts))(
    'of the input of %s: what the store writes, the server reads',
    async (name, fields) => {
      await fc.assert(
        fc.asyncProperty(anyObject(fields), async (input) => {
          expect(decode(await ask('layout_read_input', name, written(fields, input)))).toEqual(input)
        }),
        runs(RUNS),
      )
    },
  )

  test.each(Object.entries(resultLayouts))(
    'of the result of %s: what the server writes, the store reads',
    async (name, { fields }) => {
      await fc.assert(
        fc.asyncProperty(anyObject(fields), async (result) => {
          expect(read(fields, await ask('layout_write_result', name, encode(result)))).toEqual(result)
        }),
        runs(RUNS),
      )
    },
  )
})
