/** One run of a server program, from its start until its end. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export type ServerProgram = 'valkey-server' | 'redis-server'

export type StartResult = { readonly kind: 'ready'; readonly process: ServerProcess } | { readonly kind: 'port_taken' }

const START_LIMIT_MS = 20_000
const READY = 'Ready to accept connections'
const PORT_TAKEN = 'Address already in use'

/** What a server said last is enough to see what is wrong with it. */
const LOG_TAIL_LENGTH = 8_192

function howToGet(program: ServerProgram): string {
  return `${program} is not on the PATH, and this needs it. "node scripts/ensure-servers.ts" installs it on Debian and says elsewhere how to get it.`
}

export class ServerProcess {
  readonly program: ServerProgram
  readonly pid: number
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #log = ''

  constructor(program: ServerProgram, child: ChildProcess, pid: number) {
    this.program = program
    this.pid = pid
    this.#child = child
    this.#ended = once(child, 'close')
    const keep = (text: string): void => {
      this.#log = (this.#log + text).slice(-LOG_TAIL_LENGTH)
    }
    child.stdout?.setEncoding('utf8').on('data', keep)
    child.stderr?.setEncoding('utf8').on('data', keep)
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** The last lines that it wrote. */
  get log(): string {
    return this.#log
  }

  /** Resolves when the process has ended and all that it wrote was read. */
  async untilEnded(): Promise<void> {
    await this.#ended
  }

  /** Reaches the processes that it has forked as well. */
  signal(signal: NodeJS.Signals): void {
    if (!this.hasEnded) process.kill(-this.pid, signal)
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#ended
  }

  /** Answers whether it accepts connections; false if it ended before. Throws if it does neither in time. */
  async untilReady(): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const limit = setTimeout(
      () => reject(new Error(`${this.program} did not start within ${START_LIMIT_MS} ms:\n${this.#log}`)),
      START_LIMIT_MS,
    )
    const look = (): void => {
      if (this.#log.includes(READY)) resolve(true)
    }
    this.#child.stdout?.on('data', look)
    void this.#ended.then(() => resolve(false))
    try {
      return await promise
    } finally {
      clearTimeout(limit)
      this.#child.stdout?.off('data', look)
    }
  }
}

async function spawnProcess(program: ServerProgram, args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  try {
    await once(child, 'spawn')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw isMissing ? new Error(howToGet(program), { cause: error }) : error
  }
  if (child.pid === undefined) throw new Error(`${program} was started and has no process id.`)
  return new ServerProcess(program, child, child.pid)
}

/**
 * Starts a server and waits until it accepts connections; throws what it said if it does not come to that. `occupy` is told
 * the id of the process when there is one, and that there is none any more when it has ended.
 */
export async function startProcess(
  program: ServerProgram,
  args: readonly string[],
  occupy: (pid: number | undefined) => void,
): Promise<StartResult> {
  const process = await spawnProcess(program, args)
  occupy(process.pid)
  void process.untilEnded().then(() => occupy(undefined))
  try {
    if (await process.untilReady()) return { kind: 'ready', process }
  } catch (error) {
    await process.kill()
    throw error
  }
  if (process.log.includes(PORT_TAKEN)) return { kind: 'port_taken' }
  throw new Error(`${program} ended at once:\n${process.log}`)
}
