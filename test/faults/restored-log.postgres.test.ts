import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished, test } from 'vitest'
import { postgresFolder } from '../servers/postgres-programs.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { runProgram } from '../servers/run-program.ts'
import { checkRestoredLog } from './restored-log.ts'

test('a PostgreSQL database that is restored from a dump is noticed by the readers of its logs', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-dump-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const programs = await postgresFolder('installed')
  await using server = await startPostgres()
  for (const regrowth of [1, 9]) {
    const schema = `restored_${regrowth}`
    const dump = path.join('/tmp', `${path.basename(folder)}-${regrowth}.sql`)
    onTestFinished(() => rm(dump, { force: true }))
    await checkRestoredLog(`${server.location}?schema=${schema}&partitions=1`, regrowth, {
      save: () =>
        runProgram(path.join(programs, 'pg_dump'), ['-n', schema, '-f', dump, server.location], { folder: '/' }),
      restore: () =>
        runProgram(
          path.join(programs, 'psql'),
          ['-q', '-v', 'ON_ERROR_STOP=1', '-c', `drop schema ${schema} cascade`, '-f', dump, server.location],
          { folder: '/' },
        ),
    })
  }
})
