import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { connectTo } from './connection.ts'
import { until } from './until.ts'

const REMOVAL_LIMIT_MS = 10_000

const toldSchema = z.array(z.object({ port: z.number(), folder: z.string() }))

async function isGone(folder: string): Promise<true | undefined> {
  return access(folder).then(
    () => undefined,
    () => true,
  )
}

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'servers end, and their folders go, with a process that dies of %s',
  async (signal) => {
    const program = fileURLToPath(new URL('orphan-process.ts', import.meta.url))
    const parent = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(parent, 'exit')
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string]
    const servers = toldSchema.parse(JSON.parse(line))

    parent.kill(signal)
    await exited

    expect(servers).toHaveLength(3)
    for (const { port, folder } of servers) {
      await until(`${folder} is removed`, REMOVAL_LIMIT_MS, () => isGone(folder))
      const address = { host: '127.0.0.1', port, username: undefined, password: undefined, certificate: undefined }
      await expect(connectTo(address)).rejects.toThrow()
    }
  },
)
