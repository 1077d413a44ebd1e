import { copyFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'vitest'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { runProgram } from '../servers/run-program.ts'
import { until } from '../servers/until.ts'
import { checkRestore } from './restored-work.ts'
import { workplace } from './workplace.ts'

const LIMIT_MS = 20_000

/** Starts a server whose durability is a setting of its file, as on a machine that an operator manages. */
async function serverWithFile(program: 'valkey-server' | 'redis-server', file: string): Promise<Server> {
  await writeFile(file, 'appendonly yes\n')
  return await startServer({ program, settings: { include: file } })
}

test.each([
  ['valkey-server', 'valkey-cli'],
  ['redis-server', 'redis-cli'],
] as const)(
  'a store of a %s that is restored from a snapshot completes all work that it had',
  async (program, client) => {
    const place = await workplace()
    const snapshot = path.join('/tmp', `${path.basename(place.folder)}.rdb`)
    const settings = place.path('server.conf')
    await using lost = await startServer({ program, appendOnly: 'everysec' })
    await using found = await serverWithFile(program, settings)
    try {
      await checkRestore(`${lost.location}?partitions=4`, place, {
        save: () =>
          runProgram(client, ['-h', '127.0.0.1', '-p', String(lost.port), '--rdb', snapshot], { folder: '/' }),
        restore: async () => {
          await lost.kill()
          await putBack(found, snapshot, settings)
          return `${found.location}?partitions=4`
        },
      })
    } finally {
      await rm(snapshot, { force: true })
    }
  },
)

async function putBack(server: Server, snapshot: string, settings: string): Promise<void> {
  await server.kill()
  await rm(path.join(server.folder, 'appendonlydir'), { recursive: true })
  await copyFile(snapshot, path.join(server.folder, 'dump.rdb'))
  await writeFile(settings, 'appendonly no\n')
  await server.restart()
  await server.call('CONFIG', 'SET', 'appendonly', 'yes')
  await until('the append-only file is written', LIMIT_MS, async () => {
    const info = String(await server.call('INFO', 'persistence'))
    return /aof_enabled:1/.test(info) && /aof_rewrite_in_progress:0/.test(info) ? true : undefined
  })
  await writeFile(settings, 'appendonly yes\n')
  // Loses the store if the append-only file does not have it.
  await rm(path.join(server.folder, 'dump.rdb'))
  await server.kill()
  await server.restart()
}
