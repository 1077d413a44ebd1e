/**
 * Runs one scenario and prints what it measured.
 *
 *   npm run bench -- <scenario> [--store memory|sqlite|valkey|valkey-cluster|postgres] [--count N] [--rounds N] [--json]
 *
 * Progress goes to the error output. With --json the last line of the output is one object.
 */
import { parseArgs } from 'node:util'
import { benchStores } from './bench-store.ts'
import type { BenchStore } from './bench-store.ts'
import { printReport } from './report.ts'
import { scenarios } from './scenarios/index.ts'
import type { ScenarioEntry } from './scenarios/index.ts'

const EXIT_WRONG_USE = 2

function usage(): string {
  return [
    `Usage: npm run bench -- <scenario> [--store ${benchStores.join('|')}] [--count N] [--rounds N] [--json]`,
    `Scenarios: ${Object.keys(scenarios).join(', ')}`,
  ].join('\n')
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

function readArguments() {
  const { values, positionals } = parseArgs({
    options: {
      store: { type: 'string' },
      count: { type: 'string' },
      rounds: { type: 'string' },
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
  const { name, load, store, count, rounds, isJson } = request
  const scenario = await load()
  console.error(`${name} on ${store}: ${scenario.summary}`)
  const measurement = await scenario.run({ store, count, rounds, say: (line) => console.error(line) })
  if (isJson) console.log(JSON.stringify({ scenario: name, store, ...measurement }))
  else printReport(measurement)
}
