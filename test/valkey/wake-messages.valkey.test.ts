import { expect, test } from 'vitest'
import { systemRuntime } from '../../src/runtime/index.ts'
import { parseLocation } from '../../src/stores/location.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Store, Wake } from '../../src/stores/store.ts'
import { Connection } from '../../src/stores/valkey/connection.ts'
import { Keys } from '../../src/stores/valkey/keys.ts'
import { locations, newPrefix, open } from './fabrics.ts'

/** What the store hears of its only partition, the next time that it hears anything. */
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

test.each(['', 'x', 'nobody speaks like this', '\u00ff'.repeat(100)])(
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
