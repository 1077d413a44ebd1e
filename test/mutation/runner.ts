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
import { differedOf, isLoopEnded, prepareSwitch, reachedOf, switchOff, switchOn, tickCount } from './switch.ts'

/** A test with a mutant times out when it takes so much longer than without. */
const TIME_FACTOR = 10
const TIME_MIN_MS = 1_500
/** A mutant is given up when tests that do not kill it have computed for so long. */
const MUTANT_CPU_MAX_MS = 600
/** A test that timed out is left behind. It spoils the process if it still works after this time. */
const AFTERMATH_MS = 100
/** After so many kills, a run without a mutant shows that the test still passes, and so that the mutants were the reason. */
const CHECK_EVERY = 12

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
  hasTried: boolean
  /** Kills since the last run without a mutant. */
  unchecked: Kill[]
}

type Kill = Extract<ReportLine, { readonly kind: 'killed' | 'timed_out' }>

class MutationRunner extends TestRunner {
  readonly #plan: Plan = readPlan()
  readonly #alive: Set<number>
  readonly #skipped: ReadonlySet<string>
  readonly #fragile: ReadonlySet<string>
  readonly #spentMs = new Map<number, number>()
  #trial: Trial | undefined

  constructor(config: SerializedConfig) {
    super(config)
    this.#alive = new Set(this.#plan.mutants)
    this.#skipped = new Set(this.#plan.skippedTests)
    this.#fragile = new Set(this.#plan.fragileTests)
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
      hasTried: false,
      unchecked: [],
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
      trial.unchecked.push({ kind, mutant: look.mutant, test })
      if (trial.hasTimedOut && (await isStillWorking())) {
        if (trial.unchecked.length === 1) this.#reportKills(trial)
        this.#spoil(test)
      }
      const isCheckDue = this.#fragile.has(test) || trial.unchecked.length >= CHECK_EVERY
      return isCheckDue ? { kind: 'check' } : this.#next(trial)
    }
    if (hasFailed) {
      // The process is started again, and the test is checked after each of its kills then: the last one is the one that spoils it.
      if (this.#fragile.has(test) && trial.unchecked.length > 0) this.#reportKills(trial)
      if (look.kind === 'check' && trial.hasTried) this.#spoil(test)
      this.#report({ kind: 'unusable', test, error })
      return undefined
    }
    this.#reportKills(trial)
    if (look.kind === 'check' && trial.hasTried) return this.#next(trial)
    trial.usualMs = performance.now() - trial.startedAt
    trial.usualTicks = Math.max(trial.usualTicks, tickCount())
    if (look.kind === 'check') return this.#begin(trial)
    trial.reached = reachedOf(this.#plan.mutants)
    // A test that cannot be repeated would seem to kill every mutant. What only its first run does is not repeated.
    return trial.reached.some((mutant) => this.#alive.has(mutant)) ? { kind: 'check' } : this.#next(trial)
  }

  /** The second run without a mutant has shown what the test takes when it is repeated, and what differs then. */
  #begin(trial: Trial): Look | undefined {
    const cpuMs = cpuMsSince(trial.startedCpu)
    if (cpuMs > this.#plan.slowMs) {
      this.#report({ kind: 'slow', test: trial.test, ms: Math.round(cpuMs), reached: trial.reached })
      return undefined
    }
    trial.queue = differedOf(trial.reached).filter((mutant) => this.#alive.has(mutant))
    return this.#next(trial)
  }

  /** Notes the computing time that a run without effect has taken. */
  #spend(mutant: number, { startedCpu }: Trial): void {
    const spent = (this.#spentMs.get(mutant) ?? 0) + cpuMsSince(startedCpu)
    this.#spentMs.set(mutant, spent)
    if (spent <= MUTANT_CPU_MAX_MS) return
    this.#alive.delete(mutant)
    this.#report({ kind: 'given_up', mutant })
  }

  #next(trial: Trial): Look | undefined {
    const mutant = trial.queue.shift()
    if (mutant !== undefined) {
      trial.hasTried = true
      return { kind: 'mutant', mutant }
    }
    if (trial.unchecked.length > 0) return { kind: 'check' }
    this.#report({ kind: 'done', test: trial.test, reached: trial.reached })
    return undefined
  }

  #reportKills(trial: Trial): void {
    for (const kill of trial.unchecked) this.#report(kill)
    trial.unchecked = []
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

function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
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
