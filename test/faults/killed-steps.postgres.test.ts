import { expect, test } from 'vitest'
import { killAtEachCall, someKills } from '../crash/killed-steps.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { CLIENT_GONE, unexplainedLines } from './server-log.ts'

test('a worker on a postgres is killed before and after calls of its steps and waits, and no recorded step is done again', async () => {
  await using server = await startPostgres()

  await killAtEachCall(server.location, someKills)

  expect(unexplainedLines(server, CLIENT_GONE)).toEqual([])
})
