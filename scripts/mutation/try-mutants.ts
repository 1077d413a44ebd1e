/** Tries mutants in test processes. A process that a mutant stops is started again without that mutant. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PLAN_VARIABLE } from '../../test/mutation/plan.ts'
import type { Plan, ReportLine } from '../../test/mutation/plan.ts'
import { root } from '../run.ts'

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** A process that reports nothing for so long hangs in a loop that no tick ends. At the lowest priority, it may also wait for the CPU. */
const SILENCE_MAX_MS = 300_000
const LOOK_EVERY_MS = 250
/** Tests have the rest of the machine: this runs for a long time. */
const NICENESS = 5
/** In CPU time. A test that takes longer than the first is tried after all others; one that takes longer than the second is not tried. */
const SLOW_MS = 50
const TOO_SLOW_MS = 750

export interface Verdict {
  readonly status: 'killed' | 'timed_out'
  readonly test: string
}

export interface Tried {
  readonly verdicts: ReadonlyMap<number, Verdict>
  /** The mutants that were tried for long enough. */
  readonly givenUp: ReadonlySet<number>
  /** The mutants that some test reaches. */
  readonly reached: ReadonlySet<number>
  /** Tests that were not tried because they take too long. */
  readonly tooSlow: ReadonlyMap<string, number>
  /** Tests that fail without a mutant, with the error. */
  readonly unusable: ReadonlyMap<string, string>
}

export interface Task extends Pick<Plan, 'sources' | 'mutantCount' | 'mutants' | 'testFiles'> {
  /** Leaves out the tests that are not quick. */
  readonly isQuick: boolean
}

/** What a process has reported last. */
interface Heard {
  trying: number | undefined
  isSpoiled: boolean
  at: number
}

export class Trial {
  readonly #task: Task
  readonly #onProgress: (tried: Tried) => void
  readonly #verdicts = new Map<number, Verdict>()
  readonly #givenUp = new Set<number>()
  readonly #reached = new Set<number>()
  readonly #done = new Set<string>()
  readonly #slow = new Map<string, number>()
  readonly #unusable = new Map<string, string>()
  readonly #fragile = new Set<string>()
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'flowfabric-mutation-'))
  #processCount = 0

  constructor(task: Task, onProgress: (tried: Tried) => void) {
    this.#task = task
    this.#onProgress = onProgress
  }

  async run(): Promise<Tried> {
    try {
      await this.#pass(SLOW_MS, this.#task.testFiles)
      const slow = [...this.#slow.keys()]
      const files = this.#task.testFiles.filter((file) => slow.some((test) => test.startsWith(`${file} `)))
      if (files.length > 0 && !this.#task.isQuick) {
        this.#slow.clear()
        await this.#pass(TOO_SLOW_MS, files)
      }
      return this.#tried()
    } finally {
      rmSync(this.#folder, { recursive: true })
    }
  }

  /** Runs processes until one comes to the end of its tests. */
  async #pass(slowMs: number, testFiles: readonly string[]): Promise<void> {
    for (;;) {
      const before = this.#progress()
      const { hasEnded, output } = await this.#process(slowMs, testFiles)
      if (hasEnded) return
      if (this.#progress() === before) throw new Error(`The test process makes no progress.\n${output}`)
    }
  }

  #progress(): number {
    return (
      this.#verdicts.size +
      this.#givenUp.size +
      this.#done.size +
      this.#slow.size +
      this.#unusable.size +
      this.#fragile.size
    )
  }

  async #process(slowMs: number, testFiles: readonly string[]): Promise<{ hasEnded: boolean; output: string }> {
    this.#processCount += 1
    const [planFile, reportFile, outputFile] = ['plan', 'report', 'output'].map((name) =>
      path.join(this.#folder, `${name}-${this.#processCount}`),
    ) as [string, string, string]
    const { sources, mutantCount } = this.#task
    const plan: Plan = {
      sources,
      mutantCount,
      testFiles,
      mutants: this.#task.mutants.filter((mutant) => !this.#verdicts.has(mutant) && !this.#givenUp.has(mutant)),
      skippedTests: [...this.#done, ...this.#slow.keys(), ...this.#unusable.keys()],
      fragileTests: [...this.#fragile],
      slowMs,
      reportFile,
    }
    writeFileSync(planFile, JSON.stringify(plan))
    writeFileSync(reportFile, '')
    const output = openSync(outputFile, 'a')
    const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
    const config = path.join(root, 'test/mutation/vitest.config.ts')
    const child = spawn('nice', ['-n', String(NICENESS), process.execPath, vitest, 'run', '--config', config], {
      cwd: root,
      env: {
        ...process.env,
        [PLAN_VARIABLE]: planFile,
        FLOWFABRIC_TEST_EMBEDDED: '1',
        FLOWFABRIC_TEST_IN_MEMORY: '1',
        CI: '1',
      },
      stdio: ['ignore', output, output],
      detached: true,
    })
    closeSync(output)
    const isWhole = await this.#follow(child, reportFile)
    return { hasEnded: isWhole, output: readFileSync(outputFile, 'utf8').slice(-4_000) }
  }

  /** Reads the report of a process while it runs. Returns whether the process came to the end of its tests. */
  async #follow(child: ChildProcess, reportFile: string): Promise<boolean> {
    const kill = (): void => killGroup(child)
    const end = (signal: NodeJS.Signals): void => {
      kill()
      process.kill(process.pid, signal)
    }
    process.once('exit', kill)
    for (const signal of ENDING_SIGNALS) process.once(signal, end)
    let read = 0
    const heard: Heard = { trying: undefined, isSpoiled: false, at: performance.now() }
    const listen = (): void => {
      const text = readFrom(reportFile, read)
      const lines = text.subarray(0, text.lastIndexOf('\n') + 1)
      read += lines.length
      for (const line of lines
        .toString()
        .split('\n')
        .filter((part) => part !== '')) {
        const report = JSON.parse(line) as ReportLine
        heard.trying = report.kind === 'trying' ? report.mutant : undefined
        heard.isSpoiled ||= report.kind === 'spoiled'
        heard.at = performance.now()
        this.#note(report)
      }
    }
    try {
      while (child.exitCode === null && child.signalCode === null) {
        await sleep(LOOK_EVERY_MS)
        listen()
        this.#onProgress(this.#tried())
        if (heard.isSpoiled || performance.now() - heard.at > SILENCE_MAX_MS) kill()
      }
      listen()
      // The process stopped in the middle of a mutant: that is what stopped it.
      const { trying, isSpoiled } = heard
      if (trying !== undefined) this.#verdicts.set(trying, { status: 'timed_out', test: 'the process hung' })
      return trying === undefined && !isSpoiled && child.exitCode !== null
    } finally {
      process.removeListener('exit', kill)
      for (const signal of ENDING_SIGNALS) process.removeListener(signal, end)
      kill()
    }
  }

  #note(report: ReportLine): void {
    switch (report.kind) {
      case 'killed':
      case 'timed_out':
        this.#verdicts.set(report.mutant, { status: report.kind, test: report.test })
        return
      case 'given_up':
        this.#givenUp.add(report.mutant)
        return
      case 'done':
        this.#done.add(report.test)
        this.#reach(report.reached)
        return
      case 'slow':
        this.#slow.set(report.test, report.ms)
        this.#reach(report.reached)
        return
      case 'unusable':
        this.#unusable.set(report.test, report.error)
        return
      case 'spoiled':
        this.#fragile.add(report.test)
        return
      case 'trying':
        return
    }
  }

  #reach(mutants: readonly number[]): void {
    for (const mutant of mutants) this.#reached.add(mutant)
  }

  #tried(): Tried {
    return {
      verdicts: this.#verdicts,
      givenUp: this.#givenUp,
      reached: this.#reached,
      tooSlow: this.#slow,
      unusable: this.#unusable,
    }
  }
}

/** The bytes of a growing file from a position on. */
function readFrom(file: string, position: number): Buffer {
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(fstatSync(handle).size - position)
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, position))
  } finally {
    closeSync(handle)
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
