import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { executionPartition } from '../../src/stores/store.ts'
import { startServer } from '../servers/server.ts'
import { Load, SHORT_LEASE_MS, submitCall } from './load.ts'
import { startRelay } from './relay.ts'
import { RECOVERY_LIMIT_MS, judge, say } from './verdict.ts'

/** Short, so that calls run out of time again and again while the server does not answer. */
const REQUEST_TIMEOUT_MS = 500
/** Longer than a lease, and than several calls. */
const HALT_MS = SHORT_LEASE_MS + 1_000
const PARTITION = executionPartition(0)

test('a server that halts for longer than a call takes does everything once when it resumes', async () => {
  await using server = await startServer({ appendOnly: 'everysec' })
  await using load = await Load.start(server.location, { fabric: { valkey: { requestTimeoutMs: REQUEST_TIMEOUT_MS } } })
  const { store } = load.fabric
  const call = await submitCall(load.fabric)

  await load.untilBusy(150)
  server.pause()
  const [unanswered] = await Promise.all([
    store.run(PARTITION, [call]).catch((error: unknown) => error),
    sleep(HALT_MS),
  ])
  server.resume()
  const recoveryMs = await load.recoveryMs(performance.now())
  const [again] = await store.run(PARTITION, [call])
  await load.untilBusy(50)

  const { lost, ...verdict } = await judge(load)
  say('server halted', { 'for ms': HALT_MS, 'recovered in ms': recoveryMs, ...verdict, lost: lost.length })
  expect(unanswered).toMatchObject({ code: 'store_unavailable' })
  expect(again).toMatchObject({ kind: 'answered', result: { kind: 'created' } })
  expect(verdict.reclaimed).toBeGreaterThan(0)
  expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS)
})

test('connections that have gone silent without an end are made anew', async () => {
  await using server = await startServer({ appendOnly: 'everysec' })
  await using relay = await startRelay(server.address)
  const location = server.location.replace(`:${server.port}`, `:${relay.port}`)
  await using load = await Load.start(location, { fabric: { valkey: { requestTimeoutMs: REQUEST_TIMEOUT_MS } } })

  await load.untilBusy(150)
  const silenced = relay.silence()
  const recoveryMs = await load.recoveryMs(performance.now())
  await load.untilBusy(50)

  const { lost, ...verdict } = await judge(load)
  say('connections gone silent', { silenced, 'recovered in ms': recoveryMs, ...verdict, lost: lost.length })
  expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS)
})
