/** Looks for a planted fault, seed by seed. */
import { drawConfig } from './config.ts'
import type { Plant } from './plant.ts'
import { simulate } from './simulation.ts'
import { ruleOf } from './step-check.ts'

export interface Find {
  readonly plant: Plant
  /** The first seed that found it; undefined if none did. */
  readonly seed: number | undefined
  /** The rule that it broke. */
  readonly rule: string | undefined
}

/** Seeds within which every planted fault has to be found. */
const SEEDS_MAX = 500

export async function findPlant(plant: Plant, seedsMax = SEEDS_MAX): Promise<Find> {
  for (let seed = 1; seed <= seedsMax; seed++) {
    const { problems } = await simulate(drawConfig(seed), { plant })
    const [problem] = problems
    if (problem !== undefined) return { plant, seed, rule: ruleOf(problem) }
  }
  return { plant, seed: undefined, rule: undefined }
}
