/** A Valkey server for one test file: on a free loopback port, in a folder of its own, keeping nothing. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface ValkeyServer {
  readonly port: number
  stop(): Promise<void>
}

const PROGRAM = 'valkey-server'
const START_LIMIT_MS = 10_000
const STOP_LIMIT_MS = 5_000
const READY = 'Ready to accept connections'

const howToGetIt = `${PROGRAM} is not on the PATH, and this test needs it. "node scripts/ensure-valkey.ts" installs it on Debian and says elsewhere how to get it.`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Waits until the server says that it is ready; throws what it said instead. */
function untilReady(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  let output = ''
  const limit = setTimeout(() => reject(new Error(`${PROGRAM} did not start in time:\n${output}`)), START_LIMIT_MS)
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    if (output.includes(READY)) resolve(undefined)
  })
  child.once('error', (error: NodeJS.ErrnoException) => {
    reject(error.code === 'ENOENT' ? new Error(howToGetIt, { cause: error }) : error)
  })
  child.once('exit', () => reject(new Error(`${PROGRAM} ended at once:\n${output}`)))
  return promise.finally(() => clearTimeout(limit))
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const limit = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
  await ended
  clearTimeout(limit)
}

export async function startValkey(): Promise<ValkeyServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-valkey-'))
  const port = await freePort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const child = spawn(PROGRAM, settings, { stdio: ['ignore', 'pipe', 'ignore'] })
  const stop = async (): Promise<void> => {
    await end(child)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await untilReady(child)
  } catch (error) {
    await stop()
    throw error
  }
  return { port, stop }
}
