/** The list of mutants that may survive, each with a reason, in `test/mutation/survivors.json`. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { root } from '../run.ts'
import type { Mutant } from './mutants.ts'

const FILE = path.join(root, 'test/mutation/survivors.json')

const listSchema = z.record(
  z.string(),
  z.array(
    z.strictObject({
      /** The function that contains the mutants. */
      in: z.string(),
      /** The mutants, each as `before → after`. */
      mutants: z.array(z.string()).min(1),
      reason: z.string().min(1),
    }),
  ),
)

export type SurvivorList = z.infer<typeof listSchema>

export function readSurvivors(): SurvivorList {
  return listSchema.parse(JSON.parse(readFileSync(FILE, 'utf8')))
}

/** Whether a mutant may survive. */
export function isListed(list: SurvivorList, { file, within, change }: Mutant): boolean {
  return list[file]?.some((entry) => entry.in === within && entry.mutants.includes(change)) ?? false
}

export interface Difference {
  /** Survivors without a reason. */
  readonly unlisted: readonly Mutant[]
  /** Entries of the given files whose mutant was killed, or is no longer made. */
  readonly obsolete: readonly string[]
}

/** Compares the survivors of some files with the list. Equal changes in one function need an entry each. */
export function compareSurvivors(
  list: SurvivorList,
  files: readonly string[],
  survivors: readonly Mutant[],
): Difference {
  const open = new Map<string, number>()
  for (const file of files) {
    for (const { in: within, mutants } of list[file] ?? []) {
      for (const change of mutants) {
        const name = entryName(file, within, change)
        open.set(name, (open.get(name) ?? 0) + 1)
      }
    }
  }
  const unlisted = survivors.filter((mutant) => {
    const name = entryName(mutant.file, mutant.within, mutant.change)
    const count = open.get(name) ?? 0
    if (count > 0) open.set(name, count - 1)
    return count === 0
  })
  return { unlisted, obsolete: [...open].flatMap(([name, count]) => Array<string>(count).fill(name)) }
}

function entryName(file: string, within: string, change: string): string {
  return `${file}, ${within}: ${change}`
}
