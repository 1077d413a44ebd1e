/** Runs a program that ends by itself, as the user that a server is started as. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { unprivilegedUser } from './system-user.ts'

const RUN_LIMIT_MS = 120_000

export interface RunOptions {
  /** Where it runs. That user has to be able to go there. */
  readonly folder: string
  /** Called with the id of the process when it has begun, and with undefined when it has ended. */
  readonly occupy?: (pid: number | undefined) => void
}

export type RunResult =
  | { readonly kind: 'succeeded'; readonly output: string }
  | { readonly kind: 'failed'; readonly output: string }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_allowed' }

/** Answers what it wrote to both outputs. */
export async function tryProgram(
  command: string,
  args: readonly string[],
  { folder, occupy = () => undefined }: RunOptions,
): Promise<RunResult> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    timeout: RUN_LIMIT_MS,
    killSignal: 'SIGKILL',
    ...(await unprivilegedUser()),
  })
  try {
    await once(child, 'spawn')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return { kind: 'not_found' }
    if (code === 'EACCES') return { kind: 'not_allowed' }
    throw error
  }
  occupy(child.pid)
  const [written, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  occupy(undefined)
  return { kind: child.exitCode === 0 ? 'succeeded' : 'failed', output: written + complaints }
}

/** The same for a program that has to succeed. */
export async function runProgram(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const result = await tryProgram(command, args, options)
  if (result.kind === 'succeeded') return result.output
  throw new Error(`${command} ${result.kind === 'failed' ? `failed:\n${result.output}` : 'could not be started.'}`)
}
