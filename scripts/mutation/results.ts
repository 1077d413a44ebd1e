/**
 * What is known of each mutant. A killed mutant stays killed as long as its function is the same, and a listed survivor stays one. Any
 * other that survived is tried again when a test or another source has changed. Details are kept on this machine, outcomes are committed.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../run.ts'
import { packOutcomes, readKept, unpackOutcomes, writeKept } from './kept-results.ts'
import type { KeptResults, Outcome } from './kept-results.ts'
import type { Mutant } from './mutants.ts'

export type Status = 'killed' | 'timed_out' | 'survived' | 'not_covered'

export interface Result {
  readonly status: Status
  /** The test that killed it. */
  readonly test?: string
  /** The state of all tests and sources with which it survived. */
  readonly triedWith?: string
}

/** The results of the mutants of a file, in their order, by the version of each of its parts. */
type FileResults = Readonly<Record<string, readonly (Result | null)[]>>

/** Some mutants that follow each other in their file. */
interface Part {
  /** The hash of its text and its mutants. */
  readonly version: string
  readonly from: number
  readonly to: number
}

/** A file for each source, so that runs on different sources can be made at the same time. */
const FOLDER = path.join(root, 'node_modules/.cache/mutation')

export interface ResultsOptions {
  /** Knows no results of earlier runs. */
  readonly isFresh: boolean
  /** Whether a mutant may survive. */
  readonly isListed: (mutant: Mutant) => boolean
}

export class Results {
  readonly #options: ResultsOptions
  readonly #parts = new Map<string, readonly Part[]>()
  readonly #committed = readKept()
  /** The state of all tests and sources. */
  readonly #triedWith = hashOf(globSync('{src,test}/**/*.ts', { cwd: root }).sort())

  constructor(options: ResultsOptions) {
    this.#options = options
  }

  /** The results of the mutants of a file; none for those that have to be tried. */
  of(file: string, mutants: readonly Mutant[]): (Result | undefined)[] {
    const { isFresh, isListed } = this.#options
    const parts = partsOf(mutants)
    this.#parts.set(file, parts)
    if (isFresh) return mutants.map(() => undefined)
    const keptHere = read(file)
    return parts.flatMap(({ version, from, to }) => {
      const here = keptHere[version] ?? []
      const committed = this.#committedOf(file, version)
      return mutants.slice(from, to).map((mutant, number) => {
        const [own, other] = [here[number] ?? undefined, committed[number]]
        const result = isKill(other) && !isKill(own) ? other : own
        if (isKill(result) || result?.triedWith === this.#triedWith) return result
        return isListed(mutant) ? (result ?? other) : undefined
      })
    })
  }

  /** The result of a mutant that no test has killed. */
  alive(isReached: boolean): Result {
    return { status: isReached ? 'survived' : 'not_covered', triedWith: this.#triedWith }
  }

  /** Keeps the results of a file. Written under another name first, so that an interruption leaves a whole file. */
  keep(file: string, results: readonly (Result | undefined)[]): void {
    const kept: FileResults = this.#byPart(file, results, (part) => part.map((result) => result ?? null))
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(`${pathOf(file)}.new`, JSON.stringify(kept))
    renameSync(`${pathOf(file)}.new`, pathOf(file))
  }

  /** Writes the outcomes of files where they are committed. */
  commit(byFile: ReadonlyMap<string, readonly (Result | undefined)[]>): void {
    const changed: KeptResults = {}
    for (const [file, results] of byFile) {
      changed[file] = this.#byPart(file, results, (part) => packOutcomes(part.map(outcomeOf)))
    }
    writeKept(changed, (file) => existsSync(path.join(root, file)))
  }

  #committedOf(file: string, version: string): (Result | undefined)[] {
    const known = this.#committed[file]?.[version]
    if (known === undefined) return []
    return unpackOutcomes(known).map((status) => (status === 'open' ? undefined : { status }))
  }

  /** By the parts that the file had when this run began: what was changed meanwhile has no results. */
  #byPart<T>(
    file: string,
    results: readonly (Result | undefined)[],
    of: (part: readonly (Result | undefined)[]) => T,
  ): Record<string, T> {
    const parts = this.#parts.get(file) ?? []
    return Object.fromEntries(parts.map(({ version, from, to }) => [version, of(results.slice(from, to))]))
  }
}

function partsOf(mutants: readonly Mutant[]): Part[] {
  const parts: Part[] = []
  for (let from = 0; from < mutants.length;) {
    const { part, partStart } = mutants[from] as Mutant
    let to = from
    while (mutants[to]?.partStart === partStart) to += 1
    const made = mutants.slice(from, to).map(({ manner, start, end, replacement }) => {
      return [manner, start - partStart, end - partStart, replacement]
    })
    parts.push({ version: hashOf([], JSON.stringify([part, made])), from, to })
    from = to
  }
  return parts
}

function outcomeOf(result: Result | undefined): Outcome {
  if (result === undefined) return 'open'
  return isKill(result) ? 'killed' : 'survived'
}

function isKill(result: Result | undefined): boolean {
  return result?.status === 'killed' || result?.status === 'timed_out'
}

function pathOf(file: string): string {
  return path.join(FOLDER, `${file.replaceAll('/', '+')}.json`)
}

function read(file: string): FileResults {
  try {
    return JSON.parse(readFileSync(pathOf(file), 'utf8')) as FileResults
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

function hashOf(files: readonly string[], text = ''): string {
  const hash = createHash('sha256').update(text)
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(path.join(root, file)))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}
