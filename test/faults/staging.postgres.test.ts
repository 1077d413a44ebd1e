import { expect, test } from 'vitest'
import { silentLog } from '../../src/runtime/index.ts'
import { createFabric } from '../../src/fabric/index.ts'
import { executionsOf } from '../crash/history.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { until } from '../servers/until.ts'
import { LEASE_MS, judgeSite, newFleet, untilAcknowledged } from './killed-processes.ts'
import { ALREADY_ENDED, CLIENT_GONE, ENDED, unexplainedLines } from './server-log.ts'
import { ServerSite } from './server-site.ts'
import { dumpsOf, mergedDump, say } from './verdict.ts'

const BLOWS = 12
/** What is committed between two blows, at least. */
const BETWEEN_BLOWS = 40
const TAKEN_LIMIT_MS = 60_000

test('whatever is killed, each submit in a transaction that was committed is run, and none that was taken back', async () => {
  await using server = await startPostgres()
  await server.query('create table shop_order (key text primary key)')
  using site = new ServerSite(server.location)
  await using fleet = newFleet()

  fleet.start(site.engine('engine-1'))
  for (const number of [1, 2]) fleet.start(site.worker(`worker-${number}`, LEASE_MS))
  for (const number of [1, 2]) fleet.start(site.stager(`submitter-${number}`))
  for (let blow = 0; blow < BLOWS; blow++) {
    await untilAcknowledged(site, BETWEEN_BLOWS)
    if (blow % 3 === 0) {
      // A process that loses its connection while it opens its store ends, as it should.
      await fleet.untilReady()
      await server.terminateBackends()
    } else await fleet.killAny()
  }
  await fleet.stop('submitter')
  await until('everything staged is taken', TAKEN_LIMIT_MS, async () => {
    return (await server.query('select id from flowfabric.inbox limit 1')).length === 0 || undefined
  })
  const verdict = await judgeSite(site, fleet)

  const orders = (await server.query('select key from shop_order')).map(({ key }) => String(key))
  await using fabric = await createFabric(site.location, { log: silentLog })
  const keys = executionsOf(mergedDump(await dumpsOf(fabric))).map(({ key }) => key ?? '')
  say('submits staged under kills', { kills: fleet.killCount, ...verdict, committed: orders.length })
  expect(keys.filter((key) => key.startsWith('submitter')).sort()).toEqual(orders.sort())
  expect(unexplainedLines(server, ENDED, ALREADY_ENDED, CLIENT_GONE)).toEqual([])
})
