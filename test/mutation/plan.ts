/** What `scripts/mutate.ts` asks a test process to do, and the lines in which that process reports. */
import { readFileSync } from 'node:fs'

/** The environment variable with the path of the plan. */
export const PLAN_VARIABLE = 'FLOWFABRIC_MUTATION_PLAN'

export interface Plan {
  /** The mutated sources, from the root of the repository. Mutants are numbered through all of them in this order. */
  readonly sources: readonly string[]
  readonly mutantCount: number
  /** The numbers of the mutants to try. */
  readonly mutants: readonly number[]
  readonly testFiles: readonly string[]
  /** Tests that are not tried: done before, or too slow. */
  readonly skippedTests: readonly string[]
  /** Tests that a mutant has spoiled the process with. Each kill of these is checked alone. */
  readonly fragileTests: readonly string[]
  /** A test that takes more CPU time without a mutant is not tried. */
  readonly slowMs: number
  readonly reportFile: string
}

export type ReportLine =
  /** This mutant is tried now. The last such line of a process that stopped names the mutant that stopped it. */
  | { readonly kind: 'trying'; readonly mutant: number }
  /** Tests have computed with this mutant for long enough without noticing it. */
  | { readonly kind: 'given_up'; readonly mutant: number }
  | { readonly kind: 'killed' | 'timed_out'; readonly mutant: number; readonly test: string }
  /** All mutants that this test reaches were tried. */
  | { readonly kind: 'done'; readonly test: string; readonly reached: readonly number[] }
  | { readonly kind: 'slow'; readonly test: string; readonly ms: number; readonly reached: readonly number[] }
  /** The test fails without a mutant, at first or when it is repeated. */
  | { readonly kind: 'unusable'; readonly test: string; readonly error: string }
  /** The process is no longer fit for tests: one that timed out still runs, or the state of a module is damaged. */
  | { readonly kind: 'spoiled'; readonly test: string }

export function readPlan(): Plan {
  const file = process.env[PLAN_VARIABLE]
  if (file === undefined) throw new Error(`${PLAN_VARIABLE} is not set. Use npm run mutate.`)
  return JSON.parse(readFileSync(file, 'utf8')) as Plan
}
