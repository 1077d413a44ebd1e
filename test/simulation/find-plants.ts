/** Finds planted faults by simulating the worlds of seeds. */
import { drawConfig } from './config.ts'
import type { Plant } from './plant.ts'
import { simulate } from './simulation.ts'
import { ruleOf } from './step-check.ts'

export interface Find {
  readonly plant: Plant
  /** A seed that finds it; undefined if none does. */
  readonly seed: number | undefined
  /** The rule that it broke. */
  readonly rule: string | undefined
}

/** Seeds within which every planted fault has to be found. */
const SEEDS_MAX = 500

/** Where faults were found last that take long to find. A seed that no longer finds its fault costs time and nothing else. */
const lastFound: Readonly<Record<string, number>> = {
  begun_after_the_cancel: 7,
  end_told_twice: 12,
  failure_not_fenced: 8,
  loser_not_cancelled: 8,
  old_link_accepted: 7,
  owed_edges_forgotten: 18,
  purged_too_early: 12,
  refusal_writes: 22,
  renewed_after_expiry: 10,
  replacement_not_recognised: 74,
  replay_keeps_the_result: 7,
  resumed_while_it_runs: 5,
  slot_not_freed: 7,
  tags_not_written: 9,
  timeout_outlives_its_wait: 10,
  wake_ups_without_sweep: 13,
  woken_early: 5,
}

/** Tries the seed that found it last, then all in order. */
export async function findPlant(plant: Plant): Promise<Find> {
  const last = lastFound[plant.name]
  const rule = last === undefined ? undefined : await ruleBroken(plant, last)
  if (rule !== undefined) return { plant, seed: last, rule }
  return searchPlant(plant)
}

/** Finds the first seed that finds it. */
export async function searchPlant(plant: Plant): Promise<Find> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const rule = await ruleBroken(plant, seed)
    if (rule !== undefined) return { plant, seed, rule }
  }
  return { plant, seed: undefined, rule: undefined }
}

async function ruleBroken(plant: Plant, seed: number): Promise<string | undefined> {
  const { problems } = await simulate(drawConfig(seed), { plant })
  const [problem] = problems
  return problem === undefined ? undefined : ruleOf(problem)
}
