import { expect, test } from 'vitest'
import { executionPartition } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/index.ts'
import { silentLog } from '../../src/runtime/index.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { until } from '../servers/until.ts'
import { Load, submitCall } from './load.ts'
import { startRelay } from './relay.ts'
import type { Cut, Relay, Request } from './relay.ts'
import { CLIENT_GONE, unexplainedLines } from './server-log.ts'
import { RECOVERY_LIMIT_MS, judge, say } from './verdict.ts'

const CUTS = 40
const CUT_LIMIT_MS = 60_000
const PARTITION = executionPartition(0)

/** The commit of a transaction that writes: one that only reads begins in the same breath. */
const commit: Request = {
  find: (bytes) => {
    const at = bytes.indexOf('commit')
    return at === -1 || bytes.includes('begin') ? undefined : at
  },
  findAnswer: (bytes) => {
    const at = bytes.indexOf('COMMIT')
    return at === -1 ? undefined : at
  },
}

async function cutOne(relay: Relay, place: Cut['place']): Promise<void> {
  const enough = relay.cutCount + 1
  relay.cutNext({ request: commit, place })
  const isCut = async (): Promise<true | undefined> => relay.cutCount >= enough || undefined
  await until('a commit is cut', CUT_LIMIT_MS, isCut)
}

test('connections are cut before and after their commits again and again, and everything is done once', async () => {
  await using server = await startPostgres()
  await using relay = await startRelay(server.address)
  await using load = await Load.start(server.location.replace(`:${server.port}`, `:${relay.port}`))

  await load.untilBusy(50)
  for (let cut = 0; cut < CUTS; cut++) await cutOne(relay, cut % 2 === 0 ? 'before' : 'after')
  const recoveryMs = await load.recoveryMs(performance.now())
  await load.untilBusy(50)

  const { lost, ...verdict } = await judge(load)
  say('commits cut', { cuts: relay.cutCount, 'recovered in ms': recoveryMs, ...verdict, lost: lost.length })
  expect(unexplainedLines(server, CLIENT_GONE)).toEqual([])
  expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS)
})

test.each([
  { place: 'before', executions: 0 },
  { place: 'after', executions: 1 },
] as const)('a client that loses its connection $place a commit may retry the call', async ({ place, executions }) => {
  await using server = await startPostgres({ fsync: false })
  await using relay = await startRelay(server.address)
  const location = server.location.replace(`:${server.port}`, `:${relay.port}`)
  await using fabric = await createFabric(location, { log: silentLog })
  const { store } = fabric
  const call = await submitCall(fabric)

  relay.cutNext({ request: commit, place })
  const unanswered = await store.run(PARTITION, [call]).catch((error: unknown) => error)
  const found = await server.query('select id from flowfabric.execution')
  const [again] = await store.run(PARTITION, [call])

  expect(unanswered).toMatchObject({ code: 'store_unavailable' })
  expect(found).toHaveLength(executions)
  expect(again).toMatchObject({ kind: 'answered', result: { kind: 'created' } })
  expect(await server.query('select id from flowfabric.execution')).toHaveLength(1)
  expect(unexplainedLines(server, CLIENT_GONE)).toEqual([])
})
