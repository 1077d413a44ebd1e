import { describe, expect, onTestFinished, test } from 'vitest'
import { virtualRuntime } from '../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import type { Store } from '../../src/stores/store.ts'
import { functionLibrary } from '../../src/stores/valkey/library/library.ts'
import type { ValkeyOptions } from '../../src/stores/valkey/options/valkey-options.ts'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import type { ServerProgram } from '../servers/server-process.ts'
import { startCluster } from '../servers/start-cluster.ts'
import { until } from '../servers/until.ts'
import { LogLines, countIn, newPrefix, submitInto } from './fabrics.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const REGISTER = 'flowfabric:{m}:libraries'
const SETTLE_LIMIT_MS = 60_000
const OLD = 'flowfabric_0123456789abcdef'
const FOREIGN = 'somebody_elses'

const programs: ServerProgram[] = ['valkey-server', 'redis-server']
const { name: OWN } = await functionLibrary()

async function loadLibrary(server: Server, name: string): Promise<void> {
  await server.call(
    'FUNCTION',
    'LOAD',
    `#!lua name=${name}\nredis.register_function('${name}', function() return 1 end)`,
  )
}

async function librariesOn(server: Server): Promise<string[]> {
  const libraries = (await server.call('FUNCTION', 'LIST')) as unknown[][]
  return libraries.map((library) => String(library[1])).sort()
}

/** When a library was last announced. */
async function announcedAt(server: Server, library: string): Promise<number | undefined> {
  const at = await server.call('HGET', REGISTER, library)
  return at === null ? undefined : Number(at)
}

async function untilAnnouncedAt(server: Server, library: string, at: number): Promise<void> {
  await until(`${library} is announced at ${at}`, SETTLE_LIMIT_MS, async () =>
    (await announcedAt(server, library)) === at ? true : undefined,
  )
}

/** Opens a store at a time, and waits until it has looked after the libraries. */
async function openAt(
  runtime: VirtualRuntime,
  location: string,
  server: Server,
  valkey: ValkeyOptions = {},
): Promise<Store> {
  // A library that the register names and no server has is looked at last; one that was forgotten long ago goes then.
  const mark = `flowfabric_${runtime.uuid()}`
  await server.call('HSET', REGISTER, mark, 0)
  const store = await openStore(location, { runtime, clock: 'runtime', valkey })
  onTestFinished(() => store.close())
  await untilAnnouncedAt(server, OWN, runtime.now())
  if (valkey.loadFunctions !== false) {
    await until('the store has looked after the libraries', SETTLE_LIMIT_MS, async () =>
      (await announcedAt(server, mark)) === undefined ? true : undefined,
    )
  }
  return store
}

describe.each(programs)('function libraries on a %s', (program) => {
  test('are announced when a store is opened and every few hours while it is, and not after', async () => {
    await using server = await startServer({ program })
    const runtime = virtualRuntime()
    const store = await openAt(runtime, server.location, server)

    for (let announcement = 1; announcement <= 3; announcement++) {
      await runtime.advance(4 * HOUR_MS)
      await untilAnnouncedAt(server, OWN, runtime.now())
    }
    const last = runtime.now()
    await store.close()
    await runtime.advance(DAY_MS)

    expect(runtime.nextTimerAt()).toBeUndefined()
    expect(await announcedAt(server, OWN)).toBe(last)
  })

  test('without an announcement for a day are deleted when a store is opened, others stay', async () => {
    await using server = await startServer({ program })
    const runtime = virtualRuntime()
    await loadLibrary(server, OLD)
    await loadLibrary(server, FOREIGN)

    // One that was never announced has its day from when it is first seen.
    await openAt(runtime, server.location, server)
    expect(await librariesOn(server)).toEqual([OLD, OWN, FOREIGN].sort())
    runtime.jump(DAY_MS)
    await openAt(runtime, server.location, server)
    expect(await librariesOn(server)).toEqual([OLD, OWN, FOREIGN].sort())
    runtime.jump(1)
    await openAt(runtime, server.location, server)

    expect(await librariesOn(server)).toEqual([OWN, FOREIGN].sort())
    expect(await announcedAt(server, OLD)).toBeUndefined()
  })

  test('that are in use under another prefix or in another database are left', async () => {
    await using server = await startServer({ program })
    const runtime = virtualRuntime()
    const places = [server.location, `${server.location}?prefix=${newPrefix()}`, `${server.location}/3`]

    for (const place of places) {
      await server.call('DEL', REGISTER)
      await openAt(runtime, place, server)
      // All of them speak of their library in one place.
      expect(await announcedAt(server, OWN)).toBe(runtime.now())
      runtime.jump(HOUR_MS)
    }
  })

  test('are not removed by who may not load any', async () => {
    await using server = await startServer({ program })
    const runtime = virtualRuntime()
    await openAt(runtime, server.location, server)
    await loadLibrary(server, OLD)
    await server.call('HSET', REGISTER, OLD, runtime.now())
    runtime.jump(2 * DAY_MS)

    await openAt(runtime, server.location, server, { loadFunctions: false })

    expect(await librariesOn(server)).toContain(OLD)
  })

  test('that are removed while they are in use are loaded again and announced by the next call', async () => {
    await using server = await startServer({ program })
    const runtime = virtualRuntime()
    const store = await openAt(runtime, server.location, server)
    await server.call('FUNCTION', 'DELETE', OWN)
    await server.call('DEL', REGISTER)

    await submitInto(store, 0)

    expect(await countIn(store)).toBe(1)
    expect(await librariesOn(server)).toEqual([OWN])
    await untilAnnouncedAt(server, OWN, runtime.now())
  })

  test('are looked after by the clock of the server, so that all machines agree', async () => {
    await using server = await startServer({ program })
    const store = await openStore(server.location, { runtime: virtualRuntime() })
    onTestFinished(() => store.close())

    const at = await until('the library is announced', SETTLE_LIMIT_MS, () => announcedAt(server, OWN))

    const [seconds] = (await server.call('TIME')) as string[]
    expect(Math.abs(at - Number(seconds) * 1_000)).toBeLessThan(SETTLE_LIMIT_MS)
  })

  test('do not prevent the use of a store by a user who may not delete them', async () => {
    await using server = await startServer({
      program,
      username: 'fabric',
      password: 'secret',
      rules: ['~ff:*', '&*', '+@all'],
    })
    const log = new LogLines()
    const store = await openStore(server.location, { runtime: virtualRuntime(), clock: 'runtime', log })
    onTestFinished(() => store.close())

    await submitInto(store, 0)

    expect(await countIn(store)).toBe(1)
    await until('the warning is logged', SETTLE_LIMIT_MS, async () =>
      log.at('warn').includes('could not announce the function library or delete unused ones') ? true : undefined,
    )
  })
})

test('in a cluster, an unused library is deleted from every primary', async () => {
  await using cluster = await startCluster()
  const runtime = virtualRuntime()
  const primaries = await cluster.primaries()
  for (const primary of primaries.slice(0, 2)) await loadLibrary(primary, OLD)
  const owner = await cluster.slotOwner(await cluster.slotOf(REGISTER))
  await owner.call('HSET', REGISTER, OLD, runtime.now())
  runtime.jump(DAY_MS + 1)

  await openAt(runtime, cluster.location, owner)

  for (const primary of primaries) expect(await librariesOn(primary)).toEqual([OWN])
  expect(await announcedAt(owner, OLD)).toBeUndefined()
})
