/**
 * Runs one scenario and prints what it measured.
 *
 *   npm run bench -- <scenario> [--store memory|sqlite|valkey|valkey-cluster|postgres] [--count N] [--rounds N] [--json]
 *   npm run bench -- chain [--length N] [--flows N], fanout [--width N], quorum-cancel [--n N], steps [--length N]
 *
 * Progress goes to the error output. With --json the last line of the output is one object.
 */
import { parseArgs } from 'node:util'
import { benchStores } from './bench-store.ts'
import type { BenchStore } from './bench-store.ts'
import { printReport } from './report.ts'
import { scenarios } from './scenarios/index.ts'
import type { ScenarioEntry } from './scenarios/index.ts'
import { sizeNames } from './sizes.ts'
import type { SizeName, Sizes } from './sizes.ts'

const EXIT_WRONG_USE = 2

function usage(): string {
  return [
    `Usage: npm run bench -- <scenario> [--store ${benchStores.join('|')}] [--count N] [--rounds N] [--json]`,
    `Scenarios: ${Object.entries(scenarios).map(scenarioUsage).join(', ')}`,
  ].join('\n')
}

function scenarioUsage([name, { sizes = [] }]: readonly [string, ScenarioEntry]): string {
  return [name, ...sizes.map((size) => `[--${size} N]`)].join(' ')
}

/** A scenario runs on its first store unless another is asked for. */
function parseStore(text: string | undefined, { stores }: ScenarioEntry): BenchStore {
  if (text === undefined) return stores[0]
  const store = stores.find((name) => name === text)
  if (store === undefined) throw new Error(`--store is '${text}', but must be one of: ${stores.join(', ')}.`)
  return store
}

function parseCount(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${flag} is '${text}', but must be a whole number of at least 1.`)
  return Number(text)
}

/** A size that the scenario does not know would change nothing, and is refused rather than passed over. */
function parseSizes(texts: Readonly<Partial<Record<SizeName, string>>>, { sizes = [] }: ScenarioEntry): Sizes {
  const stranger = sizeNames.find((name) => texts[name] !== undefined && !sizes.includes(name))
  if (stranger !== undefined) throw new Error(`This scenario takes no --${stranger}.`)
  const parsed = sizeNames.map((name) => [name, parseCount(texts[name], `--${name}`)] as const)
  return Object.fromEntries(parsed) as Sizes
}

function readArguments() {
  const { values, positionals } = parseArgs({
    options: {
      store: { type: 'string' },
      count: { type: 'string' },
      rounds: { type: 'string' },
      length: { type: 'string' },
      flows: { type: 'string' },
      width: { type: 'string' },
      n: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  })
  const [name, ...rest] = positionals
  if (name === undefined || rest.length > 0) throw new Error('Name one scenario.')
  const entry = scenarios[name]
  if (entry === undefined) throw new Error(`There is no scenario '${name}'.`)
  return {
    name,
    load: entry.load,
    store: parseStore(values.store, entry),
    count: parseCount(values.count, '--count'),
    sizes: parseSizes(values, entry),
    rounds: parseCount(values.rounds, '--rounds'),
    isJson: values.json,
  }
}

/** Whatever is wrong with the command line is told with the way to use it. */
function readOrExplain(): ReturnType<typeof readArguments> | undefined {
  try {
    return readArguments()
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage()}`)
    process.exitCode = EXIT_WRONG_USE
    return undefined
  }
}

const request = readOrExplain()
if (request !== undefined) {
  const { name, load, isJson, ...asked } = request
  const scenario = await load()
  console.error(`${name} on ${asked.store}: ${scenario.summary}`)
  const measurement = await scenario.run({ ...asked, say: (line) => console.error(line) })
  if (isJson) console.log(JSON.stringify({ scenario: name, store: asked.store, ...measurement }))
  else printReport(measurement)
}
