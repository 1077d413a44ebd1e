/** Two programs whose connections go through a pooler that gives a connection of the server away after each transaction. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import type { FabricOptions } from '../../src/fabric/fabric.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { compareTables } from '../../src/stores/open/compare-tables.ts'
import { migrateStore } from '../../src/stores/open/migrate-store.ts'
import { findPoolerOf } from '../../src/stores/open/find-pooler.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { startPgbouncer } from '../servers/pgbouncer.ts'
import type { Pgbouncer } from '../servers/pgbouncer.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import type { PostgresServer } from '../servers/postgres-server.ts'
import { LIMIT_MS } from './store-place.ts'

/** Fewer than the programs use, so that they get each other's. */
const POOL_SIZE = 3

const greet = task<string, string>('greet')
const greetHandler = greet.handle(async (name, context) => {
  await context.progress(50, 'half')
  if (name === 'unknown') throw new Error('The name is unknown.')
  return `Hello, ${name}`
})

async function openFabric(location: string, options: FabricOptions) {
  const fabric = await createFabric(location, { log: 'error', ...options })
  onTestFinished(() => fabric.close({ drain: 0 }))
  return fabric
}

describe('two programs behind a pooler', () => {
  let server: PostgresServer
  let pooler: Pgbouncer

  beforeAll(async () => {
    server = await startPostgres({ fsync: false })
    pooler = await startPgbouncer(server, { poolSize: POOL_SIZE })
  })

  afterAll(async () => {
    await pooler.stop()
    await server.stop()
  })

  test.each([
    ['listen past it', 'direct', () => server.location],
    ['look for themselves', 'silent', () => false as const],
  ])('that %s submit, work, follow and wait', async (_, schema, listen) => {
    const location = `${pooler.location}?prepare=false&schema=${schema}`
    const options = { postgres: { listen: listen() } }
    const signal = AbortSignal.timeout(LIMIT_MS)
    const working = await openFabric(location, options)
    const asking = await openFabric(location, options)
    await working.work([greetHandler], { concurrency: 8 })
    const following = asking.subscribe({ fromStart: true, types: ['execution_ended'], signal })

    const names = Array.from({ length: 40 }, (_, i) => `Ada ${i}`)
    const executions = await Promise.all(names.map((name) => asking.submit(greet, name)))
    const failing = await asking.submit(greet, 'unknown', { retry: { attempts: 1 } })
    const delayed = await asking.submit(greet, 'later', { delay: '1h' })
    await delayed.cancel('no')

    expect(await Promise.all(executions.map((execution) => execution.result({ signal })))).toEqual(
      names.map((name) => `Hello, ${name}`),
    )
    await expect(failing.result({ signal })).rejects.toThrow('The name is unknown.')
    const ended = new Set<string>()
    for await (const item of following) {
      if (item.kind === 'event') ended.add(item.event.executionId)
      if (ended.size === names.length + 2) break
    }
    expect(ended).toEqual(new Set([...executions, failing, delayed].map(({ id }) => id)))
    expect(server.logLines(/ERROR|FATAL|deadlock/)).toEqual([])
  })

  test('get a report that it shares connections, with the settings that matter to it', async () => {
    const report = (location: string, postgres = {}) => findPoolerOf(parseLocation(location), postgres)

    expect(await report(server.location)).toMatchObject({ kind: 'none' })
    expect(await report(pooler.location)).toEqual({ kind: 'shared', isPrepared: true, listensThere: true })
    expect(await report(`${pooler.location}?prepare=false`, { listen: server.location })).toEqual({
      kind: 'shared',
      isPrepared: false,
      listensThere: false,
    })
    expect(await report(pooler.location, { listen: false })).toMatchObject({ kind: 'shared', listensThere: false })
  })

  test('have their tables compared through it', async () => {
    const location = `${pooler.location}?prepare=false&schema=compared`
    await migrateStore(location)

    expect(await compareTables(parseLocation(location), { runtime: systemRuntime() })).toMatchObject({ kind: 'same' })
  })
})
