/**
 * Runs each test many times: first without a mutant, which shows the mutants that it reaches, then with each of those that no test
 * has killed yet. Vitest repeats a failed test with all its hooks, so every run but the last one is reported to it as a failure.
 */
import { appendFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { TestRunner } from 'vitest'
import type { RunnerTestCase, SerializedConfig } from 'vitest'
import { readPlan } from './plan.ts'
import type { Plan, ReportLine } from './plan.ts'
import { isLoopEnded, prepareSwitch, reachedOf, switchOff, switchOn, tickCount } from './switch.ts'

/** A test with a mutant times out when it takes so much longer than without. */
const TIME_FACTOR = 10
const TIME_MIN_MS = 1_500
/** A mutant is given up when tests that do not kill it have computed for so long. */
const MUTANT_CPU_MAX_MS = 4_000
/** A test that timed out is left behind. It spoils the process if it still works after this time. */
const AFTERMATH_MS = 100

/** A test is repeated only if it has an error. */
const AGAIN = { message: 'The test runs again with another mutant.' }

type Look = { readonly kind: 'first' | 'check' } | { readonly kind: 'mutant'; readonly mutant: number }

/** The state of the test that is running. */
interface Trial {
  readonly test: string
  look: Look
  startedAt: number
  startedCpu: NodeJS.CpuUsage
  usualMs: number
  usualTicks: number
  hasTimedOut: boolean
  reached: readonly number[]
  queue: number[]
}

class MutationRunner extends TestRunner {
  readonly #plan: Plan = readPlan()
  readonly #alive: Set<number>
  readonly #skipped: ReadonlySet<string>
  readonly #spentMs = new Map<number, number>()
  #trial: Trial | undefined

  constructor(config: SerializedConfig) {
    super(config)
    this.#alive = new Set(this.#plan.mutants)
    this.#skipped = new Set(this.#plan.skippedTests)
    prepareSwitch(this.#plan.mutantCount)
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test)
    const name = nameOf(test)
    if (this.#skipped.has(name) || this.#alive.size === 0) {
      test.mode = 'skip'
      return
    }
    test.retry = Number.MAX_SAFE_INTEGER
    this.#trial = {
      test: name,
      look: { kind: 'first' },
      startedAt: 0,
      startedCpu: process.cpuUsage(),
      usualMs: 0,
      usualTicks: 0,
      hasTimedOut: false,
      reached: [],
      queue: [],
    }
  }

  override onBeforeTryTask(test: RunnerTestCase): void {
    super.onBeforeTryTask(test)
    const trial = this.#current()
    trial.hasTimedOut = false
    trial.startedAt = performance.now()
    trial.startedCpu = process.cpuUsage()
    if (trial.look.kind !== 'mutant') {
      switchOff()
      return
    }
    this.#report({ kind: 'trying', mutant: trial.look.mutant })
    switchOn(trial.look.mutant, trial.usualTicks)
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const trial = this.#current()
    const run = TestRunner.getTestFn(test)
    if (trial.look.kind !== 'mutant') return run()
    const aborter = new AbortController()
    const limit = sleep(Math.max(TIME_MIN_MS, trial.usualMs * TIME_FACTOR), undefined, { signal: aborter.signal }).then(
      () => {
        trial.hasTimedOut = true
        throw new Error('The test takes too long with a mutant.')
      },
    )
    try {
      await Promise.race([run(), limit])
    } finally {
      aborter.abort()
      limit.catch(() => undefined)
    }
  }

  /** Called after every run of the test, its hooks included. */
  async onAfterRetryTask(test: RunnerTestCase): Promise<void> {
    const { result } = test
    if (result === undefined) return
    const trial = this.#current()
    const hasFailed = result.state === 'fail'
    const next = await this.#judge(trial, hasFailed, result.errors?.at(-1)?.message ?? '')
    result.state = next === undefined ? 'pass' : 'fail'
    if (next === undefined) {
      delete result.errors
      switchOff()
    } else {
      result.errors = [AGAIN]
      trial.look = next
    }
  }

  /** Reports what the run has shown, and returns what the test runs with next. */
  async #judge(trial: Trial, hasFailed: boolean, error: string): Promise<Look | undefined> {
    const { test, look } = trial
    if (look.kind === 'mutant') {
      if (!hasFailed) {
        this.#spend(look.mutant, trial)
        return this.#next(trial)
      }
      const kind = trial.hasTimedOut || isLoopEnded() ? 'timed_out' : 'killed'
      this.#alive.delete(look.mutant)
      this.#report({ kind, mutant: look.mutant, test })
      if (trial.hasTimedOut && (await isStillWorking())) this.#spoil(test)
      return { kind: 'check' }
    }
    if (hasFailed) {
      if (look.kind === 'check' && trial.queue.length < trial.reached.length - 1) this.#spoil(test)
      this.#report({ kind: 'unusable', test, error })
      return undefined
    }
    if (look.kind === 'check') return this.#next(trial)
    trial.usualMs = performance.now() - trial.startedAt
    trial.usualTicks = tickCount()
    trial.reached = reachedOf(this.#plan.mutants)
    if (trial.usualMs > this.#plan.slowMs) {
      this.#report({ kind: 'slow', test, ms: Math.round(trial.usualMs), reached: trial.reached })
      return undefined
    }
    trial.queue = trial.reached.filter((mutant) => this.#alive.has(mutant))
    // A test that cannot be repeated would seem to kill every mutant.
    return trial.queue.length > 0 ? { kind: 'check' } : this.#next(trial)
  }

  /** Notes the computing time that a run without effect has taken. */
  #spend(mutant: number, { startedCpu }: Trial): void {
    const { user, system } = process.cpuUsage(startedCpu)
    const spent = (this.#spentMs.get(mutant) ?? 0) + (user + system) / 1_000
    this.#spentMs.set(mutant, spent)
    if (spent > MUTANT_CPU_MAX_MS) this.#alive.delete(mutant)
  }

  #next(trial: Trial): Look | undefined {
    const mutant = trial.queue.shift()
    if (mutant !== undefined) return { kind: 'mutant', mutant }
    this.#report({ kind: 'done', test: trial.test, reached: trial.reached })
    return undefined
  }

  /** Ends this process, which is started again without the mutants that were tried. */
  #spoil(test: string): never {
    this.#report({ kind: 'spoiled', test })
    process.kill(process.pid, 'SIGKILL')
    throw new Error('This process is being killed.')
  }

  #current(): Trial {
    if (this.#trial === undefined) throw new Error('No test is running.')
    return this.#trial
  }

  #report(line: ReportLine): void {
    appendFileSync(this.#plan.reportFile, `${JSON.stringify(line)}\n`)
  }
}

function nameOf(test: RunnerTestCase): string {
  const names: string[] = [test.name]
  for (let { suite } = test; suite !== undefined; suite = suite.suite) names.unshift(suite.name)
  return [test.file.name, ...names].join(' > ')
}

/** Whether code still runs although no test is running. */
async function isStillWorking(): Promise<boolean> {
  switchOff()
  await sleep(AFTERMATH_MS)
  return tickCount() > 0
}

export default MutationRunner
