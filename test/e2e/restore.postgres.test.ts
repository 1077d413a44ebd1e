import path from 'node:path'
import { onTestFinished, test } from 'vitest'
import { rm } from 'node:fs/promises'
import { postgresFolder } from '../servers/postgres-programs.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { runProgram } from '../servers/run-program.ts'
import { checkRestore } from './restored-work.ts'
import { workplace } from './workplace.ts'

test('a Postgres store that is restored from a dump, on another server, completes all work that it had', async () => {
  const place = await workplace()
  const programs = await postgresFolder('installed')
  // The user of the servers cannot write into the folder of the test.
  const dump = `/tmp/${path.basename(place.folder)}.dump`
  onTestFinished(() => rm(dump, { force: true }))
  await using lost = await startPostgres({ fsync: false })
  await using found = await startPostgres({ fsync: false })
  const run = (program: string, ...args: string[]) => runProgram(path.join(programs, program), args, { folder: '/' })
  await checkRestore(`${lost.location}?partitions=4`, place, {
    save: () => run('pg_dump', '--format=custom', '--schema=flowfabric', `--file=${dump}`, lost.location),
    restore: async () => {
      await lost.kill()
      await run('pg_restore', '--exit-on-error', `--dbname=${found.location}`, dump)
      return `${found.location}?partitions=4`
    },
  })
})
