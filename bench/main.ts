/**
 * Runs one scenario and prints what it measured. `npm run bench -- --help` lists the scenarios and their options.
 *
 * Progress goes to the error output. With --json the last line of the output is one object.
 */
import { parseArgs } from 'node:util'
import type { BenchStore } from './bench-store.ts'
import { helpText } from './help.ts'
import { optionNames, parseCount, parseOptions } from './options.ts'
import type { OptionName } from './options.ts'
import { missingPeerPackages } from './peer-packages.ts'
import { printReport } from './report.ts'
import { scenarios } from './scenarios/index.ts'
import type { ScenarioEntry } from './scenarios/index.ts'

const EXIT_WRONG_USE = 2

/** A scenario runs on its first store unless another is asked for. */
function parseStore(text: string | undefined, { stores }: ScenarioEntry): BenchStore {
  if (text === undefined) return stores[0]
  const store = stores.find((name) => name === text)
  if (store === undefined) throw new Error(`--store is '${text}', but must be one of: ${stores.join(', ')}.`)
  return store
}

function countOf(text: string | undefined, flag: string): number | undefined {
  return text === undefined ? undefined : parseCount(text, flag)
}

const text = { type: 'string' } as const
const isSet = { type: 'boolean', default: false } as const
const scenarioFlags = Object.fromEntries(optionNames.map((name) => [name, text])) as Record<OptionName, typeof text>

function readArguments() {
  const { values, positionals } = parseArgs({
    options: { store: text, count: text, rounds: text, json: isSet, help: isSet, ...scenarioFlags },
    allowPositionals: true,
  })
  if (values.help) return undefined
  const [name, ...rest] = positionals
  if (name === undefined || rest.length > 0) throw new Error('Name one scenario.')
  const entry = scenarios[name]
  if (entry === undefined) throw new Error(`There is no scenario '${name}'.`)
  const store = parseStore(values.store, entry)
  const options = parseOptions(values, entry.options ?? [])
  if (options.delay !== undefined && store !== 'valkey') throw new Error('--delay needs --store valkey.')
  return {
    name,
    needsPeers: entry.peersOn?.includes(store) === true,
    load: entry.load,
    store,
    count: countOf(values.count, '--count'),
    options,
    rounds: countOf(values.rounds, '--rounds'),
    isJson: values.json,
  }
}

type Request = NonNullable<ReturnType<typeof readArguments>>

/** Prints the help text if it is asked for, or if the command line is wrong. */
function readOrExplain(): Request | undefined {
  try {
    const request = readArguments()
    if (request === undefined) console.log(helpText())
    return request
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${helpText()}`)
    process.exitCode = EXIT_WRONG_USE
    return undefined
  }
}

/** Prints what to install if the scenario needs packages that are missing. */
function hasPackages({ name, store, needsPeers }: Request): boolean {
  const missing = needsPeers ? missingPeerPackages() : []
  if (missing.length === 0) return true
  console.error(
    `Scenario '${name}' on ${store} needs packages that are not installed: ${missing.join(', ')}.\n` +
      'Install them with: npm ci --prefix bench',
  )
  process.exitCode = EXIT_WRONG_USE
  return false
}

const request = readOrExplain()
if (request !== undefined && hasPackages(request)) {
  const { name, load, isJson, needsPeers: _, ...asked } = request
  const scenario = await load()
  console.error(`${name} on ${asked.store}: ${scenario.summary}`)
  const measurement = await scenario.run({ ...asked, say: (line) => console.error(line) })
  if (isJson) console.log(JSON.stringify({ scenario: name, store: asked.store, ...measurement }))
  else printReport(measurement)
}
