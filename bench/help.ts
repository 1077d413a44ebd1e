/** What `npm run bench -- --help` prints. */
import { optionNames, optionTable } from './options.ts'
import type { OptionName } from './options.ts'
import { scenarios } from './scenarios/index.ts'
import type { ScenarioEntry } from './scenarios/index.ts'

const commonOptions: readonly (readonly [string, string])[] = [
  ['--store NAME', 'one of the stores of the scenario; the first one unless given'],
  ['--count N', 'how much of the load a round has, in the unit that docs/benchmarks.md names'],
  ['--rounds N', 'rounds that are measured after the warm-up'],
  ['--json', 'prints one JSON object as the last line of the output'],
  ['--help', 'prints this text'],
]

export function helpText(): string {
  const entries = Object.entries(scenarios)
  return [
    'Usage: npm run bench -- <scenario> [options]',
    '',
    'Scenarios, with their stores and the options that each takes:',
    ...columns(entries.map(([name, entry]) => [name, scenarioHelp(entry)])),
    '',
    'Options of every scenario:',
    ...columns(commonOptions),
    '',
    'Options of some scenarios:',
    ...columns(optionNames.map((name) => [flagOf(name), optionTable[name].help])),
  ].join('\n')
}

function scenarioHelp({ stores, options = [] }: ScenarioEntry): string {
  return [stores.join('|'), ...options.map((name) => `[${flagOf(name)}]`)].join(' ')
}

function flagOf(name: OptionName): string {
  return `--${name} ${optionTable[name].value}`
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length))
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`)
}
