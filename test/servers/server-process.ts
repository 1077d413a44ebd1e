/** One run of a server program, from its start until its end. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { findProgram } from './find-program.ts'
import type { RunningProcess, StartResult } from './local-server.ts'
import type { SystemUser } from './system-user.ts'
import { until } from './until.ts'

export type ServerProgram = 'valkey-server' | 'redis-server'

/** What there is to start. */
export interface Launch {
  readonly program: ServerProgram | 'pgbouncer'
  readonly args: readonly string[]
  /** What it writes when it accepts connections. */
  readonly readyText: string
  /** Whose process it is to be, if not ours. */
  readonly user?: SystemUser | undefined
}

const START_LIMIT_MS = 60_000
const SHUT_DOWN_LIMIT_MS = 60_000
const PORT_TAKEN = 'Address already in use'

/** The last output of a server is enough for a diagnosis. */
const LOG_TAIL_LENGTH = 8_192

function howToGet({ program }: Launch): string {
  return `${program} is not on the PATH, and this needs it. "node scripts/ensure-servers.ts" installs it on Debian and says elsewhere how to get it.`
}

export class ServerProcess implements RunningProcess {
  readonly pid: number
  readonly #launch: Launch
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #log = ''

  constructor(launch: Launch, child: ChildProcess, pid: number) {
    this.pid = pid
    this.#launch = launch
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
  #signal(signal: NodeJS.Signals): void {
    if (!this.hasEnded) process.kill(-this.pid, signal)
  }

  pause(): void {
    this.#signal('SIGSTOP')
  }

  resume(): void {
    this.#signal('SIGCONT')
  }

  async kill(): Promise<void> {
    this.#signal('SIGKILL')
    await this.#ended
  }

  async shutDown(): Promise<void> {
    this.#signal('SIGTERM')
    const hasEnded = async (): Promise<true | undefined> => this.hasEnded || undefined
    await until('the server shuts down', SHUT_DOWN_LIMIT_MS, hasEnded)
    await this.#ended
  }

  /** Answers whether it accepts connections; false if it ended before. Throws if it does neither in time. */
  async untilReady(): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const { program, readyText } = this.#launch
    const limit = setTimeout(
      () => reject(new Error(`${program} did not start within ${START_LIMIT_MS} ms:\n${this.#log}`)),
      START_LIMIT_MS,
    )
    const look = (): void => {
      if (this.#log.includes(readyText)) resolve(true)
    }
    this.#child.stdout?.on('data', look)
    this.#child.stderr?.on('data', look)
    void this.#ended.then(() => resolve(false))
    try {
      return await promise
    } finally {
      clearTimeout(limit)
      this.#child.stdout?.off('data', look)
      this.#child.stderr?.off('data', look)
    }
  }
}

async function spawnProcess(launch: Launch): Promise<ServerProcess> {
  const { program, args, user } = launch
  const file = (await findProgram(program)) ?? program
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...user })
  try {
    await once(child, 'spawn')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw isMissing ? new Error(howToGet(launch), { cause: error }) : error
  }
  if (child.pid === undefined) throw new Error(`${program} was started and has no process id.`)
  return new ServerProcess(launch, child, child.pid)
}

/**
 * Starts a server and waits until it accepts connections; throws its output if it does not. `occupy` is called with
 * the id of the process once there is one, and with undefined when it has ended.
 */
export async function startProcess(
  launch: Launch,
  occupy: (pid: number | undefined) => void,
): Promise<StartResult<ServerProcess>> {
  const process = await spawnProcess(launch)
  occupy(process.pid)
  void process.untilEnded().then(() => occupy(undefined))
  try {
    if (await process.untilReady()) return { kind: 'ready', process }
  } catch (error) {
    await process.kill()
    throw error
  }
  if (process.log.includes(PORT_TAKEN)) return { kind: 'port_taken' }
  throw new Error(`${launch.program} ended at once:\n${process.log}`)
}
