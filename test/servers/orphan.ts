/** Kills a process that has started servers, and sees what becomes of them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { stateOf } from './process-tree.ts'
import { until } from './until.ts'

const END_LIMIT_MS = 30_000

/** What the process prints about its servers: a line of JSON. */
const toldSchema = z.array(z.object({ port: z.number(), folder: z.string(), pids: z.array(z.number()) }))

export type ToldServer = z.infer<typeof toldSchema>[number]

async function isFolderGone(folder: string): Promise<true | undefined> {
  return access(folder).then(
    () => undefined,
    () => true,
  )
}

async function hasEnded(pid: number): Promise<true | undefined> {
  const state = await stateOf(pid)
  return state === undefined || state.startsWith('Z') || undefined
}

/** Resolves, with what there was, when the servers and their folders are gone; throws if they stay. */
export async function orphanServers(program: URL, signal: NodeJS.Signals): Promise<ToldServer[]> {
  const parent = spawn(process.execPath, [fileURLToPath(program)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(parent, 'exit')
  const [line] = (await once(createInterface(parent.stdout), 'line')) as [string]
  const servers = toldSchema.parse(JSON.parse(line))
  parent.kill(signal)
  await exited
  for (const { folder, pids } of servers) {
    await until(`${folder} is removed`, END_LIMIT_MS, () => isFolderGone(folder))
    for (const pid of pids) await until(`process ${pid} ends`, END_LIMIT_MS, () => hasEnded(pid))
  }
  return servers
}
