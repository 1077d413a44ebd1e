import { expect, test } from 'vitest'
import { systemRuntime } from '../../src/runtime/index.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Store, Wake } from '../../src/stores/store.ts'
import { Connection } from '../../src/stores/valkey/connection/connection.ts'
import { Keys } from '../../src/stores/valkey/layout/keys.ts'
import { until } from '../servers/until.ts'
import { locations, newPrefix, open, submitInto } from './fabrics.ts'

const HEARD_WITHIN_MS = 5_000

/** The next wake-up of the only partition of the store. */
async function nextWake(store: Store): Promise<Wake> {
  const { promise, resolve } = Promise.withResolvers<Wake>()
  const stop = store.onWake(resolve)
  const wake = await promise
  stop()
  return wake
}

async function connect(place: string): Promise<Connection> {
  const location = parseLocation(place)
  if (location.kind !== 'valkey') throw new Error(`${place} is not the location of a server.`)
  return Connection.open(location, {}, systemRuntime())
}

test.each(['', 'x', 'not a wake-up message', '\u00ff'.repeat(100)])(
  'a wake-up that cannot be read makes its listeners look everywhere: %j',
  async (message) => {
    const { valkey } = locations()
    const prefix = newPrefix()
    const store = await open(`${valkey}?prefix=${prefix}&partitions=1`)
    await nextWake(store)
    const connection = await connect(valkey)

    const hearing = nextWake(store)
    await connection.send('SPUBLISH', new Keys(prefix, 0).wakeChannel(executionPartition(0)), message)
    connection.close()

    expect(await hearing).toEqual({ partition: executionPartition(0), hasEvents: false })
  },
)

test('another process receives the growth of a log, so that it need not read it', async () => {
  const place = `${locations().valkey}?prefix=${newPrefix()}&partitions=1`
  const [writer, listener] = [await open(place), await open(place)]
  const wakes: Wake[] = []
  listener.onWake((wake) => wakes.push(wake), { eventsOf: executionPartition(0) })
  await until('the log is listened to', HEARD_WITHIN_MS, async () => wakes[0])

  await submitInto(writer, 0)
  await submitInto(writer, 0)

  await until('both wake-ups arrive', HEARD_WITHIN_MS, async () => wakes[2])
  expect(wakes.slice(1)).toMatchObject([
    { hasEvents: true, growth: { first: 1, last: 1, ended: [] } },
    { hasEvents: true, growth: { first: 2, last: 2, ended: [] } },
  ])
})
