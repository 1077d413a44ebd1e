/**
 * What is known of each mutant, in a file that is kept from run to run. A killed mutant stays killed as long as its source is the
 * same. One that survived is tried again when a test or another source has changed.
 */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../run.ts'
import type { Mutant } from './mutants.ts'

export type Status = 'killed' | 'timed_out' | 'survived' | 'not_covered'

export interface Result {
  readonly status: Status
  /** The test that killed it. */
  readonly test?: string
  /** The state of all tests and sources with which it survived. */
  readonly triedWith?: string
}

/** The results of the mutants of one file, in their order. */
interface FileResults {
  /** The hash of the source, and of the code that finds its mutants. */
  readonly version: string
  readonly results: readonly (Result | null)[]
}

/** A file for each source, so that runs on different sources can be made at the same time. */
const FOLDER = path.join(root, 'node_modules/.cache/mutation')

export class Results {
  readonly #isFresh: boolean
  readonly #versions = new Map<string, string>()
  readonly #finders = hashOf(globSync('scripts/mutation/{mutants,replacements,without-effect}.ts', { cwd: root }))
  /** The state of all tests and sources. */
  readonly #triedWith = hashOf(globSync('{src,test}/**/*.ts', { cwd: root }).sort())

  /** A fresh one knows no results of earlier runs. */
  constructor({ isFresh }: { readonly isFresh: boolean }) {
    this.#isFresh = isFresh
  }

  /** The results of the mutants of a file; none for those that have to be tried. */
  of(file: string, mutants: readonly Mutant[]): (Result | undefined)[] {
    const version = this.#versionOf(file)
    const known = this.#isFresh ? undefined : read(file)
    if (known?.version !== version) return mutants.map(() => undefined)
    return mutants.map((_, index) => {
      const result = known.results[index] ?? undefined
      return result?.triedWith === undefined || result.triedWith === this.#triedWith ? result : undefined
    })
  }

  /** The result of a mutant that no test has killed. */
  alive(isReached: boolean): Result {
    return { status: isReached ? 'survived' : 'not_covered', triedWith: this.#triedWith }
  }

  /** Keeps the results of a file. Written under another name first, so that an interruption leaves a whole file. */
  keep(file: string, results: readonly (Result | undefined)[]): void {
    const kept: FileResults = {
      version: this.#versionOf(file),
      results: results.map((result) => result ?? null),
    }
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(`${pathOf(file)}.new`, JSON.stringify(kept))
    renameSync(`${pathOf(file)}.new`, pathOf(file))
  }

  /** The version with which this run began: a source that is changed meanwhile has no results. */
  #versionOf(file: string): string {
    const version = this.#versions.get(file) ?? hashOf([file]) + this.#finders
    this.#versions.set(file, version)
    return version
  }
}

function pathOf(file: string): string {
  return path.join(FOLDER, `${file.replaceAll('/', '+')}.json`)
}

function read(file: string): FileResults | undefined {
  try {
    return JSON.parse(readFileSync(pathOf(file), 'utf8')) as FileResults
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function hashOf(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(path.join(root, file)))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}
