/** Runs the programs of the tool chain from the root of the repository. */
import { spawn } from 'node:child_process'
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
  /** What it wrote; empty unless it was captured. */
  readonly output: string
}

/** Runs a program whose output goes straight to the terminal. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return start(command, args, options, 'inherit')
}

/** Runs a program and keeps what it writes to both outputs. */
export function capture(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return start(command, args, options, 'pipe')
}

function start(
  command: string,
  args: readonly string[],
  { env, limitMs }: RunOptions,
  output: 'inherit' | 'pipe',
): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
    timeout: limitMs,
  })
  const chunks: Buffer[] = []
  const keep = (chunk: Buffer): void => {
    chunks.push(chunk)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  child.on('error', (error) => {
    resolve({ code: undefined, output: error.message })
  })
  child.on('close', (code) => {
    resolve({ code: code ?? undefined, output: Buffer.concat(chunks).toString() })
  })
  return promise
}

/** Runs one of the scripts of package.json and keeps what it writes. */
export function captureScript(name: string): Promise<Ended> {
  return capture('npm', ['run', '--silent', name])
}

export function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`
}
