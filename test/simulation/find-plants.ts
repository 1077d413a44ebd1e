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
  acknowledged_unwritten: 2,
  begun_after_the_cancel: 16,
  child_failure_not_counted: 2,
  child_started_twice: 44,
  children_left_out_of_a_wait: 2,
  children_outlive_a_cancel: 9,
  compensation_repeated: 5,
  condition_skip_releases: 2,
  count_not_shifted: 3,
  due_pass_does_nothing: 2,
  duplicate_refused_after_resume: 6,
  edges_outlive_their_flow: 10,
  end_told_twice: 5,
  ended_join_fires_too_early: 3,
  failure_decides_late: 20,
  failure_not_fenced: 33,
  fence_not_checked: 7,
  flow_follow_up_lost: 37,
  flow_follow_up_run_twice: 121,
  follow_up_lost: 11,
  follow_up_outlives_a_cancel: 16,
  follow_up_run_twice: 36,
  heartbeat_revives_the_lapsed: 13,
  id_free_too_early: 27,
  ignored_failure_counted: 7,
  index_entry_forgotten: 7,
  join_fires_again: 7,
  join_makes_a_second: 6,
  loser_not_cancelled: 2,
  loser_of_a_vote_cancelled: 7,
  losers_of_a_join_run_on: 2,
  needs_ignored_by_claim: 3,
  needs_learnt_by_wake_ups_alone: 3,
  needs_not_learnt: 3,
  old_link_accepted: 13,
  one_voter_counted_twice: 2,
  owed_edges_forgotten: 18,
  parked_and_forgotten: 7,
  payload_forgotten: 8,
  progress_not_told: 2,
  purged_too_early: 11,
  refusal_writes: 108,
  release_burns_an_attempt: 2,
  renewed_after_expiry: 4,
  repeated_claim_claims_anew: 2,
  repeated_claim_empty: 5,
  replacement_not_recognised: 189,
  replay_keeps_the_result: 2,
  replay_not_recognised: 5,
  resumed_while_it_runs: 14,
  retry_burns_two: 4,
  skip_not_followed: 2,
  slot_not_freed: 5,
  step_overwritten: 3,
  stop_decides_an_outcome: 16,
  stop_keeps_a_fallback: 356,
  subtree_not_replayed: 5,
  tags_not_written: 3,
  timeout_outlives_its_wait: 39,
  timers_not_followed: 30,
  unanswered_claim_forgotten: 3,
  version_ignored_by_claim: 17,
  wake_ups_without_sweep: 127,
  woken_early: 142,
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
