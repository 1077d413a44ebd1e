/**
 * A folder in which tests run the built command as a user would, each time in a new process. The end of the test kills
 * processes that still run and removes the folder.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { COMPILE_CACHE } from '../compile-cache.ts'

export const root = path.resolve(import.meta.dirname, '../..')
export const COMMAND = path.join(root, 'dist/cli/main.js')
/** The longest that a command, or the wait for a line, may take. */
const LIMIT_MS = 60_000
/** A tenth of a second later each time. */
const REMOVE_TRIES = 10

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface StartOptions {
  readonly stdin?: string
  /** Leaves the standard input open, for `type`. */
  readonly isStdinOpen?: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly nodeOptions?: readonly string[]
  /** The working directory, if it is not the folder itself. */
  readonly cwd?: string
}

/** A running command. */
export class Running {
  readonly #child: ChildProcess
  readonly #ended: Promise<Ended>
  readonly #watchers = new Set<() => void>()
  /** It has ended and all of its output was read, some of which may arrive behind its end. */
  #isOver = false
  stdout = ''
  stderr = ''

  /** `stdin` is all of the standard input; undefined leaves it open. */
  constructor(child: ChildProcess, stdin: string | undefined) {
    this.#child = child
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#take('stdout', text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#take('stderr', text))
    // A command that exits before it has read its input closes the pipe.
    child.stdin?.on('error', () => undefined)
    if (stdin !== undefined) child.stdin?.end(stdin)
    this.#ended = once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }))
    void this.#ended.then(() => {
      this.#isOver = true
      this.#notify()
    })
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Writes to the standard input, as keys that are pressed. */
  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async end(): Promise<Ended> {
    return await within(this.#ended, () => `the command did not end\n${this.#soFar()}`)
  }

  /** Sends a signal and waits for the end. */
  async endBy(signal: NodeJS.Signals): Promise<Ended> {
    this.kill(signal)
    return await this.end()
  }

  /** Waits for the first match in the output of the command, on either stream. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    const found = new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr)
        if (match === null && !this.#isOver) return
        this.#watchers.delete(look)
        if (match !== null) resolve(match)
        else reject(new Error(`the command ended without printing ${String(pattern)}\n${this.#soFar()}`))
      }
      this.#watchers.add(look)
      look()
    })
    return await within(found, () => `the command did not print ${String(pattern)}\n${this.#soFar()}`)
  }

  #take(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    this.#notify()
  }

  #notify(): void {
    for (const look of [...this.#watchers]) look()
  }

  #soFar(): string {
    return `stdout:\n${this.stdout}\nstderr:\n${this.stderr}`
  }
}

export class Workplace {
  readonly folder: string
  readonly #started: Running[] = []

  constructor(folder: string) {
    this.folder = folder
  }

  path(name: string): string {
    return path.join(this.folder, name)
  }

  has(name: string): boolean {
    return existsSync(this.path(name))
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(this.path(name), text)
  }

  /** Installs the package, so that modules in the folder can import it by its name. */
  async install(): Promise<void> {
    await mkdir(this.path('node_modules'))
    await symlink(root, this.path('node_modules/flowfabric'), 'dir')
    await this.write('package.json', '{ "type": "module" }')
  }

  start(args: readonly string[], options: StartOptions = {}): Running {
    return this.startNode([...(options.nodeOptions ?? []), COMMAND, ...args], options)
  }

  startNode(args: readonly string[], options: StartOptions = {}): Running {
    return this.startProgram(process.execPath, args, options)
  }

  startProgram(program: string, args: readonly string[], options: StartOptions = {}): Running {
    const { PATH = '' } = process.env
    const env = { PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, ...options.env }
    const child = spawn(program, args, { cwd: options.cwd ?? this.folder, env })
    const running = new Running(child, options.isStdinOpen === true ? undefined : (options.stdin ?? ''))
    this.#started.push(running)
    return running
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
    return await this.start(args, options).end()
  }

  /** Runs a command that must succeed, and returns its JSON document. */
  async json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '--json'])
    if (code !== 0) throw new Error(`flowfabric ${args.join(' ')} ended with ${code}\n${stderr}`)
    return JSON.parse(stdout) as T
  }

  async leave(): Promise<void> {
    for (const running of this.#started.filter((one) => one.isRunning)) await running.endBy('SIGKILL')
    // What a command has started may still write while it ends.
    await rm(this.folder, { recursive: true, maxRetries: REMOVE_TRIES })
  }
}

async function newWorkplace(): Promise<Workplace> {
  return new Workplace(await mkdtemp(path.join(tmpdir(), 'flowfabric-e2e-')))
}

/** Makes a folder for the present test. */
export async function workplace(): Promise<Workplace> {
  const place = await newWorkplace()
  onTestFinished(() => place.leave())
  return place
}

/** Makes one folder for all tests of the present block, which only read what `prepare` has put there. */
export function sharedWorkplace(prepare: (place: Workplace) => Promise<void>): () => Workplace {
  let place: Workplace | undefined
  beforeAll(async () => {
    place = await newWorkplace()
    await prepare(place)
  })
  afterAll(() => place?.leave())
  return () => {
    if (place === undefined) throw new Error('The shared folder is made before the first test.')
    return place
  }
}

/** The error that a command printed with --json. */
export function errorIn({ stderr }: Ended): {
  readonly code: string
  readonly message: string
  readonly advice: string
} {
  return (JSON.parse(stderr) as { error: { code: string; message: string; advice: string } }).error
}

async function within<T>(promise: Promise<T>, complaint: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`after ${LIMIT_MS} ms ${complaint()}`)), LIMIT_MS)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
