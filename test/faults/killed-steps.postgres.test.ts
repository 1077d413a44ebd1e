import { expect, test } from 'vitest'
import { killAtEachCall } from '../crash/kill-at-each-call.ts'
import { someKills, steppedWork } from '../crash/killed-steps.ts'
import { someUndoKills, undoneWork } from '../crash/killed-undos.ts'
import { someSpendingKills, spendingWork } from '../crash/spending-work.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { CLIENT_GONE, unexplainedLines } from './server-log.ts'

test('a worker on a postgres is killed before and after calls of its steps and waits, and no recorded step is done again', async () => {
  await using server = await startPostgres()

  await killAtEachCall(steppedWork, server.location, someKills)

  expect(unexplainedLines(server, CLIENT_GONE)).toEqual([])
})

test('a worker on a postgres is killed around a reservation and its settlement, and each report counts once', async () => {
  await using server = await startPostgres()

  await killAtEachCall(spendingWork, server.location, someSpendingKills)

  expect(unexplainedLines(server, CLIENT_GONE)).toEqual([])
})

test('a worker on a postgres is killed before and after calls of work that is undone, and each undo is recorded once', async () => {
  await using server = await startPostgres()

  for (const ending of ['failed', 'cancelled'] as const) {
    await killAtEachCall(undoneWork(ending), server.location, someUndoKills(ending))
  }

  expect(unexplainedLines(server, CLIENT_GONE)).toEqual([])
})
