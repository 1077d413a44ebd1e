import { expect, test } from 'vitest'
import { connectTo } from './connection.ts'
import { orphanServers } from './orphan.ts'

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'servers end, and their folders go, with a process that dies of %s',
  async (signal) => {
    const servers = await orphanServers(new URL('orphan-process.ts', import.meta.url), signal)

    expect(servers).toHaveLength(3)
    for (const { port } of servers) {
      const address = { host: '127.0.0.1', port, username: undefined, password: undefined, certificate: undefined }
      await expect(connectTo(address)).rejects.toThrow()
    }
  },
)
