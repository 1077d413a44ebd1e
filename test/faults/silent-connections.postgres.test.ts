import { expect, test } from 'vitest'
import { silentLog } from '../../src/runtime/index.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/index.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { until } from '../servers/until.ts'
import { Load, submitCall } from './load.ts'
import { startRelay } from './relay.ts'
import { CLIENT_GONE, IDLE, LOCK_WAITED, unexplainedLines } from './server-log.ts'
import { RECOVERY_LIMIT_MS, judge, say } from './verdict.ts'

/** Short, so that calls run out of time again and again while what fell silent holds its locks. */
const REQUEST_TIMEOUT_MS = 1_000
/** Less than the ten seconds that a statement waits for a lock if the time of its client is not given to the server. */
const GIVEN_UP_LIMIT_MS = 5_000
const PARTITION = executionPartition(0)

test('connections that have gone silent without an end are made anew, and what they had locked is free after a while', async () => {
  await using server = await startPostgres()
  await using relay = await startRelay(server.address)
  const location = server.location.replace(`:${server.port}`, `:${relay.port}`)
  await using load = await Load.start(location, {
    fabric: { postgres: { requestTimeoutMs: REQUEST_TIMEOUT_MS } },
    expected: ['store_unavailable', 'store_busy'],
  })

  await load.untilBusy(100)
  const silenced = relay.silence()
  const recoveryMs = await load.recoveryMs(performance.now())
  await load.untilBusy(50)

  const { lost, ...verdict } = await judge(load)
  say('connections to a postgres gone silent', {
    silenced,
    'recovered in ms': recoveryMs,
    ...verdict,
    lost: lost.length,
  })
  expect(unexplainedLines(server, IDLE, LOCK_WAITED, CLIENT_GONE)).toEqual([])
  expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS)
})

test('a client that gives up on a held lock leaves no waiting statement behind', async () => {
  const [waitMs, tries] = [250, 6]
  await using server = await startPostgres({ fsync: false })
  await using fabric = await createFabric(server.location, {
    log: silentLog,
    postgres: { requestTimeoutMs: waitMs },
  })
  const call = await submitCall(fabric)
  await server.query(`select pg_advisory_lock(value::integer, 0) from flowfabric.meta where name = 'lock_space'`)

  for (let i = 0; i < tries; i++) {
    await expect(fabric.store.run(PARTITION, [call])).rejects.toBeInstanceOf(EngineError)
  }
  await until('no statement waits', GIVEN_UP_LIMIT_MS, async () => {
    const waiting = await server.query("select pid from pg_locks where locktype = 'advisory' and not granted")
    return waiting.length === 0 || undefined
  })
  await server.query('select pg_advisory_unlock_all()')

  expect(await fabric.store.run(PARTITION, [call])).toMatchObject([{ result: { kind: 'created' } }])
})
