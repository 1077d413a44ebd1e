/**
 * Runs this command again in a child process, and replaces the child when one of its files changes. The child stops claiming,
 * finishes or releases its executions and ends before the next one starts, so two versions never run at the same time.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import path from 'node:path'
import type { Runtime } from '../../runtime/index.ts'
import type { Output } from '../text/output.ts'
import { printable } from '../text/printable.ts'
import { exitCodes } from './exit-codes.ts'
import { Interruption } from './interruption.ts'
import { SUPERVISED_VARIABLE } from './supervised.ts'
import type { Report } from './supervised.ts'
import { WatchedFiles } from './watched-files.ts'

/** Running handlers have this long to finish before a restart. Then their executions are released. */
const RESTART_DRAIN_MS = 5_000
/** A child that ignores both signals is killed after this long. Its leases expire. */
const RESTART_KILL_MS = 10_000

/** Ends when the user interrupts it, or when the child ends by itself. Returns the exit code. */
export async function supervise(runtime: Runtime, output: Output): Promise<number> {
  using interruption = new Interruption()
  let onChange: (file: string) => void = () => undefined
  using files = new WatchedFiles(runtime, (file) => onChange(file))
  for (;;) {
    const changed = new Promise<string>((resolve) => (onChange = resolve))
    const child = new Child(files, interruption)
    const file = await Promise.race([changed, child.ended.then(() => undefined)])
    if (file === undefined && !child.isRefused) return child.exitCode
    if (file === undefined) {
      output.remark('Waiting for a change of the files.')
      await Promise.race([changed, aborted(interruption.signal)])
    } else {
      output.remark(`${printable(path.relative('', file))} has changed: restarting.`)
      await child.replace(runtime)
    }
    if (interruption.signal.aborted) return endedBy(interruption)
    files.clear()
  }
}

class Child {
  readonly ended: Promise<unknown>
  isRefused = false
  readonly #process: ChildProcess

  constructor(files: WatchedFiles, interruption: Interruption) {
    // In a process group of its own, or ctrl-c on a terminal would reach it twice: directly and from here.
    const child = fork(process.argv[1] ?? '', process.argv.slice(2), {
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, [SUPERVISED_VARIABLE]: '1' },
    })
    this.#process = child
    this.ended = once(child, 'close')
    child.on('message', (report: Report) => {
      if (report.kind === 'file') files.add(report.file, report.version)
      else this.isRefused = true
    })
    const pass = () => void child.kill(interruption.by)
    for (const signal of [interruption.signal, interruption.hurry]) {
      signal.addEventListener('abort', pass)
      void this.ended.finally(() => signal.removeEventListener('abort', pass))
    }
  }

  get exitCode(): number {
    const { exitCode, signalCode } = this.#process
    return exitCode ?? 128 + (signalCode === null ? 0 : constants.signals[signalCode])
  }

  /** Ends the child: first it drains, then it releases its executions, then it is killed. */
  async replace(runtime: Runtime): Promise<void> {
    const child = this.#process
    child.kill('SIGTERM')
    const release = runtime.after(RESTART_DRAIN_MS, () => child.kill('SIGTERM'))
    const kill = runtime.after(RESTART_KILL_MS, () => child.kill('SIGKILL'))
    await this.ended
    release.cancel()
    kill.cancel()
  }
}

function endedBy(interruption: Interruption): number {
  return interruption.hurry.aborted ? (interruption.exitCode ?? exitCodes.ok) : exitCodes.ok
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
