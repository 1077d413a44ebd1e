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

/** The seed that found a fault last, unless that is the first. A seed that no longer finds its fault only costs time. */
const lastFound: Readonly<Record<string, number>> = {
  answered_place_stays_open: 2,
  begun_after_the_cancel: 7,
  cancel_dropped_by_renewal: 5,
  child_started_twice: 80,
  children_outlive_a_cancel: 12,
  compensation_not_stored: 2,
  condition_skip_releases: 2,
  count_not_shifted: 3,
  duplicate_refused_after_resume: 5,
  duplicate_taken_again: 5,
  early_signals_not_heard: 10,
  edges_outlive_their_flow: 5,
  end_told_twice: 12,
  ended_join_fires_too_early: 5,
  failure_decides_late: 8,
  failure_not_fenced: 34,
  ignored_failure_counted: 11,
  index_entry_forgotten: 10,
  join_fires_again: 2,
  join_makes_a_second: 4,
  loser_not_cancelled: 12,
  loser_of_a_vote_cancelled: 8,
  old_link_accepted: 8,
  one_voter_counted_twice: 5,
  owed_edges_forgotten: 18,
  parked_and_forgotten: 8,
  progress_not_told: 10,
  purged_too_early: 48,
  refusal_writes: 24,
  release_burns_an_attempt: 11,
  renewed_after_expiry: 8,
  repeated_claim_claims_anew: 3,
  repeated_claim_empty: 5,
  replacement_not_recognised: 222,
  replay_keeps_the_result: 8,
  replay_not_recognised: 7,
  resumed_while_it_runs: 14,
  signal_not_kept: 2,
  skip_not_followed: 5,
  slot_not_freed: 8,
  start_acknowledged_unsent: 11,
  steps_not_told: 2,
  stop_decides_an_outcome: 2,
  stop_keeps_a_fallback: 41,
  subtree_not_replayed: 7,
  tags_not_written: 7,
  timeout_outlives_its_wait: 38,
  timers_not_followed: 2,
  wake_ups_without_sweep: 62,
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
