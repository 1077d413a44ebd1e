import { expect, test } from 'vitest'
import { orphanServers } from './orphan.ts'

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'servers end with all of their processes, and their folders go, with a process that dies of %s',
  async (signal) => {
    const servers = await orphanServers(new URL('postgres-orphan-process.ts', import.meta.url), signal)

    const postgres = servers.slice(0, 3)
    expect(servers).toHaveLength(4)
    for (const { pids } of postgres) expect(pids.length).toBeGreaterThan(2)
  },
)
