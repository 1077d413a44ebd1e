/**
 * Makes a failing world smaller: fewer pieces of work, fewer kinds of faults, fewer actors, fewer steps. Whatever still
 * breaks the same rule is kept, until nothing more can be taken away or the bound is reached.
 */
import type { WorldConfig } from './config.ts'
import { faultNames } from './config.ts'
import type { Plant } from './plant.ts'
import { simulate } from './simulation.ts'
import { ruleOf } from './step-check.ts'

/** Runs that one shortening takes at most. */
const RUNS_MAX = 600
/** What was taken away changes chance for the rest: a smaller world is also tried with these other seeds. */
const OTHER_SEEDS = [0, 1_000_003, 2_000_003, 3_000_017]

export interface Shortened {
  readonly config: WorldConfig
  readonly runCount: number
}

/** The rule that a world breaks first; undefined if it breaks none. */
async function brokenRule(config: WorldConfig, plant?: Plant): Promise<string | undefined> {
  const { problems } = await simulate(config, { plant })
  const [problem] = problems
  return problem === undefined ? undefined : ruleOf(problem)
}

export async function shorten(config: WorldConfig, rule: string, plant?: Plant): Promise<Shortened> {
  let smallest = config
  let runCount = 0
  let isSmaller = true
  while (isSmaller && runCount < RUNS_MAX) {
    isSmaller = false
    for (const smaller of smallerThan(smallest)) {
      if (runCount >= RUNS_MAX) break
      runCount += 1
      if ((await brokenRule(smaller, plant)) !== rule) continue
      smallest = smaller
      isSmaller = true
      break
    }
  }
  return { config: smallest, runCount }
}

/** The boldest first. */
function* smallerThan(config: WorldConfig): Generator<WorldConfig> {
  for (const smaller of withoutSomething(config)) {
    for (const more of OTHER_SEEDS) yield { ...smaller, seed: (config.seed % OTHER_SEEDS[1]!) + more }
  }
}

function* withoutSomething(config: WorldConfig): Generator<WorldConfig> {
  yield* withFewerWorks(config)
  for (const name of faultNames) {
    if (config.rates[name] > 0) yield { ...config, rates: { ...config.rates, [name]: 0 } }
  }
  if (config.clients > 1) yield { ...config, clients: config.clients - 1 }
  if (config.workers > 1) yield { ...config, workers: config.workers - 1 }
  if (config.engines > 1) yield { ...config, engines: config.engines - 1 }
  if (config.areClientsWorkers) yield { ...config, areClientsWorkers: false }
  if (config.deployAtMs !== undefined) yield { ...config, deployAtMs: undefined }
  if (config.partitions > 1) yield { ...config, partitions: 1 }
  if (config.prefetch > 0) yield { ...config, prefetch: 0 }
  if (config.concurrency > 1) yield { ...config, concurrency: 1 }
  for (const part of [0.5, 0.9]) {
    const steps = Math.floor(config.steps * part)
    if (steps > 0) yield { ...config, steps }
  }
}

function* withFewerWorks(config: WorldConfig): Generator<WorldConfig> {
  const { works } = config
  const half = Math.floor(works.length / 2)
  if (half > 0) {
    yield { ...config, works: works.slice(0, half) }
    yield { ...config, works: works.slice(half) }
  }
  for (const left of works) {
    if (works.length > 1) yield { ...config, works: works.filter((item) => item !== left) }
  }
}
