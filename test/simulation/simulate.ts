/**
 * Runs many worlds, reports failures, and shrinks them.
 *
 *   npm run simulate -- --seeds 500            the worlds of seeds 1 to 500
 *   npm run simulate -- --seed 17 --verbose    one world, with everything that happens in it
 *   npm run simulate -- --plants               how many seeds it takes to find each planted fault
 *   npm run simulate -- --plant end_told_twice the worlds with one fault planted, as if it were a real one
 *   npm run simulate -- --explore              small worlds, in every order of calls and crashes
 *   npm run simulate -- --limits --seeds 50    traffic that limits hold back; --minutes sets how long each takes
 */
import { parseArgs } from 'node:util'
import { DEFAULT_STEPS, drawConfig } from './config.ts'
import type { WorldConfig } from './config.ts'
import { exploreAll } from './explore.ts'
import { searchPlant } from './find-plants.ts'
import { traffic } from './limits/limit-world.ts'
import { plantNamed, plants } from './plants.ts'
import { describeConfig, describeHistory } from './report.ts'
import { shorten } from './shorten.ts'
import { simulate } from './simulation.ts'
import { ruleOf } from './step-check.ts'
import { Tally } from './tally.ts'

/** Failing worlds after which a run of many gives up. */
const FAILURES_MAX = 3
const MINUTE_MS = 60_000

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    steps: { type: 'string', default: String(DEFAULT_STEPS) },
    verbose: { type: 'boolean', default: false },
    plants: { type: 'boolean', default: false },
    plant: { type: 'string' },
    explore: { type: 'boolean', default: false },
    depth: { type: 'string' },
    limits: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '2' },
  },
})

const plant = values.plant === undefined ? undefined : plantNamed(values.plant)

async function runWorlds(): Promise<boolean> {
  const first = count(values.seed ?? values.from)
  const last = values.seed === undefined ? first + count(values.seeds) - 1 : first
  const tally = new Tally()
  let failureCount = 0
  const failuresMax = plant === undefined ? FAILURES_MAX : 1
  for (let seed = first; seed <= last && failureCount < failuresMax; seed++) {
    const config = drawConfig(seed, count(values.steps))
    const { world, problems } = await simulate(config, { isRecorded: values.verbose, plant })
    tally.add(world)
    if (values.verbose)
      for (const { atMs, text } of world.trace.lines) console.log(`${(atMs / 1_000).toFixed(4)} ${text}`)
    if (problems.length === 0) continue
    failureCount += 1
    await tell(config, problems)
  }
  console.log(tally.text())
  return failureCount === 0
}

async function tell(config: WorldConfig, problems: readonly string[]): Promise<void> {
  console.log(`\nSeed ${config.seed} breaks a rule:\n${problems.slice(0, 5).join('\n')}\n${describeConfig(config)}`)
  const shortened = await shorten(config, ruleOf(problems[0] ?? ''), plant)
  const smallest = await simulate(shortened.config, { isRecorded: true, plant })
  console.log(`\nThe smallest world that breaks it too, after ${shortened.runCount} runs:`)
  console.log(`${smallest.problems.slice(0, 5).join('\n')}\n${describeConfig(shortened.config)}\n`)
  console.log(`${describeHistory(smallest.world, smallest.problems)}\n`)
}

async function runPlants(): Promise<boolean> {
  let isAllFound = true
  for (const plant of plants) {
    const { seed, rule } = await searchPlant(plant)
    isAllFound &&= seed !== undefined
    console.log(
      `${plant.name.padEnd(28)} ${String(seed ?? 'not found').padStart(9)}  ${plant.mistake}\n${' '.repeat(40)}${rule ?? ''}`,
    )
  }
  return isAllFound
}

async function runExplorer(): Promise<boolean> {
  let isAllWell = true
  for await (const report of exploreAll(values.depth === undefined ? {} : { depth: count(values.depth) })) {
    console.log(
      `${report.kind.padEnd(14)} ${report.from.padEnd(18)} ${String(report.pathCount).padStart(7)} paths, ${report.stepCount} steps`,
    )
    for (const { path, problems } of report.failures) console.log(`  ${path.join('.')}: ${problems.join('; ')}`)
    if (!report.isComplete) console.log('  not every path was taken')
    isAllWell &&= report.isComplete && report.failures.length === 0
  }
  return isAllWell
}

/** Traffic that limits hold back. */
async function runLimits(): Promise<boolean> {
  const first = count(values.seed ?? values.from)
  const last = values.seed === undefined ? first + count(values.seeds) - 1 : first
  let isAllWell = true
  for (let seed = first; seed <= last && isAllWell; seed++) {
    const { problems, ...rest } = await traffic({ seed, ms: count(values.minutes) * MINUTE_MS })
    console.log(`seed ${seed}: ${JSON.stringify(rest)}`)
    for (const problem of problems.slice(0, 5)) console.log(`  ${problem}`)
    isAllWell = problems.length === 0
  }
  return isAllWell
}

function count(text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0) throw new Error(`${text} is not a whole number.`)
  return number
}

const run = values.limits ? runLimits : values.plants ? runPlants : values.explore ? runExplorer : runWorlds
const isWell = await run()
if (!isWell) process.exitCode = 1
