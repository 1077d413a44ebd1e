/** One run of a PostgreSQL server, from its start until its end. */
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { RunningProcess, StartResult } from './local-server.ts'
import { killTree, pauseTree, resumeTree } from './process-tree.ts'
import { unprivilegedUser } from './system-user.ts'
import { until } from './until.ts'

/** What there is to start. */
export interface PostgresLaunch {
  readonly program: string
  readonly args: readonly string[]
  readonly dataFolder: string
  /** The output of the server and its processes is appended here. */
  readonly logFile: string
}

/** Long enough for a server that was killed to do again what it had not written to its tables yet. */
const START_LIMIT_MS = 60_000
const SHUT_DOWN_LIMIT_MS = 60_000
const RELEASE_LIMIT_MS = 30_000

const READY = 'ready'
const PORT_TAKEN = 'Address already in use'

/** What the server writes about itself in its folder: the process, and further down its shared memory and how far it is. */
interface LockFile {
  readonly pid: number
  readonly sharedMemoryId: string | undefined
  readonly status: string
}

async function readLockFile(dataFolder: string): Promise<LockFile | undefined> {
  const text = await readFile(path.join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const [pid, , , , , , sharedMemory = '', status = ''] = text.split('\n')
  return { pid: Number(pid), sharedMemoryId: sharedMemory.trim().split(/\s+/)[1], status: status.trim() }
}

export class PostgresProcess implements RunningProcess {
  readonly pid: number
  readonly #launch: PostgresLaunch
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(launch: PostgresLaunch, child: ChildProcess, pid: number) {
    this.pid = pid
    this.#launch = launch
    this.#child = child
    // All processes of the server have its output open, though they write nothing to it: it closes after the last of them.
    this.#ended = once(child, 'close')
    child.stdout?.resume()
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Resolves when the server and all of its processes have ended. */
  async untilEnded(): Promise<void> {
    await this.#ended
  }

  pause(): void {
    if (!this.hasEnded) pauseTree(this.pid)
  }

  resume(): void {
    if (!this.hasEnded) resumeTree(this.pid)
  }

  async kill(): Promise<void> {
    if (!this.hasEnded) killTree(this.pid)
    await this.#ended
    await this.#releaseSharedMemory()
  }

  /** A server that was killed leaves a block of shared memory behind, which would stay until the machine is started anew. */
  async #releaseSharedMemory(): Promise<void> {
    const lock = await readLockFile(this.#launch.dataFolder)
    if (lock?.pid !== this.pid || lock.sharedMemoryId === undefined) return
    // If it cannot be removed it only takes up a little room.
    await promisify(execFile)('ipcrm', ['-m', lock.sharedMemoryId], { timeout: RELEASE_LIMIT_MS }).catch(
      () => undefined,
    )
  }

  /** Does not wait for its clients. Of one that has ended, what it has forked may still have to end. */
  async shutDown(): Promise<void> {
    if (!this.hasEnded) process.kill(this.pid, 'SIGINT')
    const hasEnded = async (): Promise<true | undefined> => this.hasEnded || undefined
    await until('the server shuts down', SHUT_DOWN_LIMIT_MS, hasEnded)
    await this.#ended
  }

  /** Answers whether it accepts connections; false if it ended before. Throws if it does neither in time. */
  untilReady(): Promise<boolean> {
    return until(`${this.#launch.program} starts`, START_LIMIT_MS, async () => {
      if (this.hasEnded) return false
      const lock = await readLockFile(this.#launch.dataFolder)
      return (lock?.pid === this.pid && lock.status === READY) || undefined
    })
  }
}

async function spawnPostgres(launch: PostgresLaunch, log: number): Promise<PostgresProcess> {
  const child = spawn(launch.program, ['-D', launch.dataFolder, ...launch.args], {
    cwd: launch.dataFolder,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', log],
    detached: true,
    ...(await unprivilegedUser()),
  })
  await once(child, 'spawn')
  if (child.pid === undefined) throw new Error(`${launch.program} was started and has no process id.`)
  return new PostgresProcess(launch, child, child.pid)
}

/**
 * Starts a server and waits until it accepts connections; throws its output if it does not. `occupy` is called with
 * the id of the process once there is one, and with undefined when it has ended.
 */
export async function startPostgresProcess(
  launch: PostgresLaunch,
  occupy: (pid: number | undefined) => void,
): Promise<StartResult<PostgresProcess>> {
  await using log = await open(launch.logFile, 'a')
  const { size: logged } = await log.stat()
  const process = await spawnPostgres(launch, log.fd)
  occupy(process.pid)
  void process.untilEnded().then(() => occupy(undefined))
  const readLog = async (): Promise<string> => (await readFile(launch.logFile)).subarray(logged).toString()
  try {
    if (await process.untilReady()) return { kind: 'ready', process }
  } catch (error) {
    await process.kill()
    throw new Error(`${launch.program} did not start:\n${await readLog()}`, { cause: error })
  }
  await process.untilEnded()
  const said = await readLog()
  if (said.includes(PORT_TAKEN)) return { kind: 'port_taken' }
  throw new Error(`${launch.program} ended at once:\n${said}`)
}
