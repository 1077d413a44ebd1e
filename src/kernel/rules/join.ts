/** Decides waits for children: one rule for every policy, from the join alone. */
import type { Join, JoinPolicy, JoinVerdict, Journal, Step } from '../model/journal-schema.ts'
import type { Losers } from '../model/records.ts'
import { isCut } from './journal-ids.ts'

export interface JoinInput {
  readonly name: string
  readonly policy: JoinPolicy
  /** The number of a quorum; 0 for any other policy. */
  readonly need: number
  /** What happens to the children that have not ended when the join is decided. */
  readonly losers: Losers
  /** How many children the handler waits for. */
  readonly total: number
}

export interface JoinStart {
  readonly round: number
  readonly epoch: number
}

export function newJoin(input: JoinInput, start: JoinStart): Join {
  return {
    policy: input.policy,
    need: input.policy === 'quorum' ? input.need : 0,
    total: input.total,
    losers: input.losers,
    completed: 0,
    failed: 0,
    verdict: 'pending',
    winners: [],
    firstFailed: undefined,
    round: start.round,
    epoch: start.epoch,
    isFilled: false,
  }
}

/** Counts a child that has ended. */
export function countEnded(join: Join, ordinal: number, isCompleted: boolean): void {
  if (isCompleted) {
    join.completed = join.completed + 1
    if (join.winners.length < join.need) join.winners.push(ordinal)
    return
  }
  join.failed = join.failed + 1
  join.firstFailed = join.firstFailed ?? ordinal
}

/** Returns the verdict of a join. It is pending until all children are known. */
export function joinVerdictOf(join: Join): JoinVerdict {
  if (!join.isFilled) return 'pending'
  switch (join.policy) {
    case 'all':
      if (join.failed > 0) return 'impossible'
      return join.completed >= join.total ? 'satisfied' : 'pending'
    case 'settled':
      return join.completed + join.failed >= join.total ? 'satisfied' : 'pending'
    case 'quorum':
      if (join.completed >= join.need) return 'satisfied'
      return join.failed > join.total - join.need ? 'impossible' : 'pending'
  }
}

/** Whether the verdict leaves children that are to be cancelled. */
export function cancelsLosers(join: Join): boolean {
  return join.losers === 'cancel' && join.verdict !== 'pending' && join.completed + join.failed < join.total
}

/**
 * Whether a handler gets the verdict of a join. One that failed children decide belongs to its round: once the execution is
 * retried, so are they.
 */
export function isFinalJoin(step: Step, join: Join, journal: Journal): boolean {
  if (step.state.phase !== 'closed' || join.verdict === 'pending' || isCut(journal, step.position)) return false
  const isLasting = join.verdict === 'satisfied' && (join.policy === 'quorum' || join.failed === 0)
  return isLasting || join.round === journal.round
}

/** Whether a page belongs to a join that is open: of the same lease, and for the same children. */
export function continuesJoin(step: Step, join: Join, wanted: Join, journal: Journal): boolean {
  if (step.state.phase !== 'open' || join.isFilled || isCut(journal, step.position)) return false
  if (join.epoch !== wanted.epoch || join.round !== wanted.round || join.total !== wanted.total) return false
  return join.policy === wanted.policy && join.need === wanted.need && join.losers === wanted.losers
}
