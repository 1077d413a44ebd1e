import { readdir, stat, truncate } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'vitest'
import { startServer } from '../servers/server.ts'
import type { ServerProgram } from '../servers/server-process.ts'
import { checkRestoredLog } from './restored-log.ts'

const programs: ServerProgram[] = ['valkey-server', 'redis-server']

test.each([
  [programs[0], 1],
  [programs[0], 9],
  [programs[1], 9],
] as const)(
  'a %s that lost the end of its append-only file, with %i executions since, is noticed',
  async (program, regrowth) => {
    await using server = await startServer({ program: program!, appendOnly: 'always' })
    const [, folder] = (await server.call('CONFIG', 'GET', 'dir')) as [string, string]
    const file = async () => {
      const names = await readdir(path.join(folder, 'appendonlydir'))
      return path.join(
        folder,
        'appendonlydir',
        names.find((name) => name.endsWith('.incr.aof'))!,
      )
    }
    let size = 0
    await checkRestoredLog(`${server.location}?partitions=1`, regrowth, {
      async save() {
        ;({ size } = await stat(await file()))
      },
      async restore() {
        await server.kill()
        await truncate(await file(), size)
        await server.restart()
      },
    })
  },
)
