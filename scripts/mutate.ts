/**
 * Tries whether the tests notice bugs: changes the sources in many small ways, one at a time, and runs the tests that reach each change.
 *
 *   node scripts/mutate.ts                      the kernel and the code of tokens and keys
 *   node scripts/mutate.ts src/kernel/rules     the sources in a folder, or one file
 *   node scripts/mutate.ts --fresh              forgets the results of earlier runs
 *   node scripts/mutate.ts --tests src/kernel   with the tests in a folder, or in one file, and the results of earlier runs
 *   node scripts/mutate.ts --quick              with quick tests only, which kill most
 *   node scripts/mutate.ts --known              tries none, and shows what is known
 *
 * Fails if a mutant survives that test/mutation/survivors.json does not list, if a listed one no longer survives, or if too few are
 * killed. An interrupted run continues where it stopped.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { mutantsOf } from './mutation/mutants.ts'
import type { Mutant } from './mutation/mutants.ts'
import { printReport } from './mutation/report.ts'
import { Results } from './mutation/results.ts'
import type { Result } from './mutation/results.ts'
import { compareSurvivors, isListed, readSurvivors } from './mutation/survivors.ts'
import { testFilesFor } from './mutation/test-files.ts'
import { Trial } from './mutation/try-mutants.ts'
import type { Tried } from './mutation/try-mutants.ts'
import { root, seconds } from './run.ts'

const MUTATED = ['src/kernel', 'src/client/tokens', 'src/client/checks/names.ts']
/** Of all mutants, so many percent are killed. */
const SCORE_MIN = 95
const PROGRESS_EVERY_MS = 15_000

const { values, positionals } = parseArgs({
  options: {
    fresh: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    known: { type: 'boolean', default: false },
    tests: { type: 'string', multiple: true },
  },
  allowPositionals: true,
})

function sourcesIn(place: string): string[] {
  const files = place.endsWith('.ts') ? [place] : globSync(`${place.replace(/\/$/, '')}/**/*.ts`, { cwd: root })
  return files.filter((file) => !/\.(test|fixture)\.ts$/.test(file))
}

const startedAt = performance.now()
const sources = [...new Set((positionals.length > 0 ? positionals : MUTATED).flatMap(sourcesIn))].sort()
if (sources.length === 0) throw new Error(`There are no sources in ${positionals.join(', ')}.`)
const mutantsByFile = new Map<string, Mutant[]>(
  sources.map((file) => [file, mutantsOf(file, readFileSync(path.join(root, file), 'utf8'))]),
)
const mutants = [...mutantsByFile.values()].flat()
const list = readSurvivors()
const known = new Results({ isFresh: values.fresh, isListed: (mutant) => isListed(list, mutant) })
const results: (Result | undefined)[] = sources.flatMap((file) => known.of(file, mutantsByFile.get(file) ?? []))
const open = [...results.keys()].filter((number) => results[number] === undefined)

const usesAllTests = values.tests === undefined && !values.quick

function keep(tried: Tried, isAtEnd: boolean): void {
  for (const number of open) {
    const verdict = tried.verdicts.get(number)
    const mayRemain = usesAllTests || isListed(list, mutants[number] as Mutant)
    if (verdict !== undefined) results[number] = verdict
    else if (mayRemain && (isAtEnd || tried.givenUp.has(number)))
      results[number] = known.alive(tried.givenUp.has(number) || tried.reached.has(number))
  }
  for (const [file, ofFile] of resultsByFile()) known.keep(file, ofFile)
}

function resultsByFile(): Map<string, (Result | undefined)[]> {
  let to = 0
  return new Map(
    [...mutantsByFile].map(([file, { length }]) => {
      to += length
      return [file, results.slice(to - length, to)]
    }),
  )
}

console.log(`${mutants.length} mutants in ${sources.length} files, ${open.length} of them to be tried`)
if (open.length > 0 && !values.known) {
  let shownAt = performance.now()
  const isUsed = (file: string): boolean => values.tests?.some((place) => file.startsWith(place)) ?? true
  const testFiles = testFilesFor(sources).filter(isUsed)
  const task = { sources, mutantCount: mutants.length, mutants: open, testFiles, isQuick: values.quick }
  const tried = await new Trial(task, (soFar) => {
    if (performance.now() - shownAt < PROGRESS_EVERY_MS) return
    shownAt = performance.now()
    keep(soFar, false)
    console.log(
      `${seconds(startedAt)}: ${soFar.verdicts.size} killed, ${soFar.givenUp.size} given up, ${soFar.reached.size} reached`,
    )
  }).run()
  keep(tried, true)
  for (const [test, ms] of values.quick ? [] : tried.tooSlow) console.log(`not tried, takes ${ms} ms: ${test}`)
  for (const [test, error] of tried.unusable) console.log(`not tried, fails without a mutant: ${test}\n    ${error}`)
}

known.commit(resultsByFile())
const score = printReport(mutants, results)
const survivors = mutants.filter((_, number) => {
  const status = results[number]?.status ?? (values.known ? 'killed' : 'survived')
  return status !== 'killed' && status !== 'timed_out'
})
const { unlisted, obsolete } = compareSurvivors(list, sources, survivors)
for (const { file, line, within, change } of unlisted)
  console.log(`survived, not listed: ${file}:${line} ${within}: ${change}`)
for (const name of values.known ? [] : obsolete) console.log(`listed, does not survive: ${name}`)
const isGood = unlisted.length === 0 && obsolete.length === 0 && score >= SCORE_MIN
console.log(`${isGood ? 'ok' : 'FAILED'}, after ${seconds(startedAt)}`)
if (!isGood) process.exitCode = 1
