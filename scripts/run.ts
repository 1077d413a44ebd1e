/** Runs the programs of the tool chain from the root of the repository. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export const root = path.join(import.meta.dirname, '..')

export interface RunOptions {
  readonly env?: Record<string, string>
  /** The program is ended when it has run this long. */
  readonly limitMs?: number
}

export interface Ended {
  /** The exit code; undefined if the program was ended by a signal or could not be started. */
  readonly code: number | undefined
  /** The captured output; otherwise empty. */
  readonly output: string
}

/** Runs a program with its output on the terminal. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  try {
    return { code: await start(command, args, options, 'inherit'), output: '' }
  } catch (error) {
    return { code: undefined, output: String(error) }
  }
}

/**
 * Runs a program and captures its standard output and standard error. Uses a file instead of a pipe, because a process that
 * the program leaves behind would keep a pipe open.
 */
export async function capture(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-output-'))
  const file = path.join(folder, 'output.txt')
  try {
    await using handle = await open(file, 'a')
    const code = await start(command, args, options, handle.fd)
    return { code, output: await readFile(file, 'utf8') }
  } catch (error) {
    return { code: undefined, output: String(error) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const running = new Set<ChildProcess>()

/** Kills the process group of a program. Each program has its own group. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

function killAll(): void {
  for (const child of running) killGroup(child)
  running.clear()
}

let isGuarding = false

/** Ends all programs when this process ends, except by SIGKILL. */
function guardPrograms(): void {
  if (isGuarding) return
  isGuarding = true
  process.once('exit', killAll)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      killAll()
      process.kill(process.pid, signal)
    })
  }
}

async function start(
  command: string,
  args: readonly string[],
  { env, limitMs }: RunOptions,
  output: 'inherit' | number,
): Promise<number | undefined> {
  guardPrograms()
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
    detached: true,
  })
  running.add(child)
  const limit = limitMs === undefined ? undefined : setTimeout(() => killGroup(child), limitMs)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return code ?? undefined
  } finally {
    clearTimeout(limit)
    running.delete(child)
  }
}

/** Runs a script of package.json and captures its output. */
export function captureScript(name: string): Promise<Ended> {
  return capture('npm', ['run', '--silent', name])
}

export function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`
}
