/**
 * The results that are committed, in `test/mutation/results.json`, so that a run of all sources continues on another machine. For each part
 * of a source, such as a function: how many mutants it has, and the numbers of those that survived and of those that are open. All others
 * were killed.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { root } from '../run.ts'

const FILE = path.join(root, 'test/mutation/results.json')

/** By source, and by the version of each of its parts. */
const keptSchema = z.record(z.string(), z.record(z.string(), z.string()))

export type KeptResults = z.infer<typeof keptSchema>

export type Outcome = 'killed' | 'survived' | 'open'

export function readKept(): KeptResults {
  return keptSchema.parse(JSON.parse(readFileSync(FILE, 'utf8')))
}

/** Replaces the results of the given sources, and removes those of sources that no longer exist. */
export function writeKept(changed: KeptResults, exists: (file: string) => boolean): void {
  const all = Object.entries({ ...readKept(), ...changed }).filter(([file]) => exists(file))
  const sorted = Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(`${FILE}.new`, `${JSON.stringify(sorted, undefined, 2)}\n`)
  renameSync(`${FILE}.new`, FILE)
}

/** For example `14, survived 3 7-9, open 1`. */
export function packOutcomes(outcomes: readonly Outcome[]): string {
  const parts = [String(outcomes.length)]
  for (const outcome of ['survived', 'open'] as const) {
    const numbers = [...outcomes.keys()].filter((number) => outcomes[number] === outcome)
    if (numbers.length > 0) parts.push(`${outcome} ${rangesText(numbers)}`)
  }
  return parts.join(', ')
}

export function unpackOutcomes(text: string): Outcome[] {
  const [count, ...parts] = text.split(', ')
  const outcomes = Array<Outcome>(Number(count)).fill('killed')
  for (const part of parts) {
    const [outcome, ...ranges] = part.split(' ')
    for (const number of ranges.flatMap(numbersIn)) outcomes[number] = outcome as Outcome
  }
  return outcomes
}

function rangesText(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const number of numbers) {
    const range = ranges.at(-1)
    if (range?.[1] === number - 1) range[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(' ')
}

function numbersIn(range: string): number[] {
  const [first = 0, last = first] = range.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
