/** Finds the targets of a wait: which are open, which the wait opens itself, and which were closed before it began. */
import type { Waitpoint } from '../../model/journal-schema.ts'
import type { Execution } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { hasExpired, isMailbox, openWaitpointOf, scopeOf, waitpointIdIn } from '../../rules/journal-ids.ts'

/** A waitpoint that was closed before a wait was answered there. Signals that arrived in time still count. */
export interface ClosedTarget {
  readonly target: string
  readonly reason: string | undefined
}

export interface WaitTargets {
  readonly kind: 'targets'
  readonly all: string[]
  /** Mailboxes and open waitpoints. */
  readonly live: string[]
  /** Waitpoints that the wait opens as new ones. */
  readonly fresh: string[]
  /** Waitpoints that were closed by the end of the execution alone, and are reopened. */
  readonly reopened: string[]
  readonly closed: ClosedTarget[]
  /** The records of the targets that exist. */
  readonly waitpoints: Waitpoint[]
}

export interface WaitRequest {
  readonly targets: string[]
  /** Targets that the wait opens itself. */
  readonly opens: readonly string[]
  /** Whether the wait was started before and was closed by the end of its execution. */
  readonly isKnown: boolean
  /** Whether it is the question of a budget. No signal that arrived before it answers it, and no link that was made before it. */
  readonly isQuestion: boolean
}

/** Finds the state of each target of a wait. Writes nothing. */
export function waitTargetsOf(
  tx: Tx,
  execution: Execution,
  { targets, opens, isKnown, isQuestion }: WaitRequest,
): WaitTargets | Refused<'waitpoint_not_found' | 'waitpoint_closed'> {
  const journal = execution.journal
  const ids: string[] = []
  for (const target of targets) ids.push(waitpointIdIn(scopeOf(execution.id, journal), target))
  const waitpoints = journal === undefined ? [] : tx.getMany('waitpoint', ids)
  const found: WaitTargets = {
    kind: 'targets',
    all: targets,
    live: [],
    fresh: [],
    reopened: [],
    closed: [],
    waitpoints,
  }
  for (const target of targets) {
    if (isQuestion && !isMailbox(target)) {
      found.fresh.push(target)
      continue
    }
    const open = openWaitpointOf(journal, target)
    if (isMailbox(target) || (open !== undefined && !hasExpired(open, tx.now))) {
      found.live.push(target)
      continue
    }
    if (open !== undefined) {
      found.closed.push({ target, reason: EXPIRED })
      continue
    }
    const waitpoint = waitpointAt(waitpoints, target)
    const isOwn = opens.includes(target)
    if (waitpoint !== undefined && waitpoint.closedAt === undefined && (isKnown || !isOwn)) {
      found.reopened.push(target)
      continue
    }
    if (isOwn) {
      found.fresh.push(target)
      continue
    }
    const detail = { executionId: execution.id, waitpoint: target }
    if (waitpoint === undefined) return refused('waitpoint_not_found', detail)
    if (waitpoint.answeredBy !== undefined) return refused('waitpoint_closed', detail)
    found.closed.push({ target, reason: waitpoint.closeReason })
  }
  return found
}

/** The close reason of a waitpoint whose wait did not begin in time. */
export const EXPIRED = 'expired'

export function waitpointAt(waitpoints: readonly Waitpoint[], target: string): Waitpoint | undefined {
  for (const waitpoint of waitpoints) if (waitpoint.target === target) return waitpoint
  return undefined
}
