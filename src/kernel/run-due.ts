/** The one due pass: everything that time alone changes in a partition, earliest first, each case in a file of its own. */
import { attemptTimeout } from './due/attempt-timeout.ts'
import { cancelGrace } from './due/cancel-grace.ts'
import { delayedPromoter } from './due/delayed-promoter.ts'
import type { DueCase, DueCaseName } from './due/due-case.ts'
import { executionDeadline } from './due/execution-deadline.ts'
import { leaseExpiry } from './due/lease-expiry.ts'
import { matchesFilter } from './filter.ts'
import type { TenantFilter } from './filter.ts'
import { DUE_INDEX } from './indexes.ts'
import { DUE_ITEM_WORK, DUE_SCAN_COUNT } from './limits.ts'
import { nextSeed } from './random.ts'
import type { Execution, Instant } from './records.ts'
import { dueAt } from './state.ts'
import type { Position, Tx } from './tx.ts'

/** In this order: what is final comes first, and a lost lease is not mistaken for a slow attempt. */
export const dueCases: readonly DueCase[] = [
  executionDeadline,
  cancelGrace,
  leaseExpiry,
  attemptTimeout,
  delayedPromoter,
]

export interface DueInput {
  readonly limit: number
  readonly filter?: TenantFilter | undefined
  /** Where an earlier call of the same pass stopped looking. */
  readonly from?: Position | undefined
  /** Executions that failed repeatedly and are left alone for a while. */
  readonly skip?: readonly string[] | undefined
  readonly seed: number
}

export interface DueResult {
  readonly kind: 'due'
  readonly handled: { readonly case: DueCaseName; readonly executionId: string }[]
  /** Where to go on, if more may be due beyond what this call looked at. */
  readonly next: Position | undefined
  /** When the next timer runs out, if nothing more is due now. */
  readonly nextDueAt: Instant | undefined
  /** The earliest timer among those handled: against `at` it says how late they were. */
  readonly oldestDueAt: Instant | undefined
  readonly at: Instant
}

export function runDue(tx: Tx, input: DueInput): DueResult {
  const result = runDueRecords(tx, input, true)
  const upcoming =
    result.next === undefined ? tx.range({ index: DUE_INDEX, from: { score: tx.now + 1 }, limit: 1 })[0] : undefined
  return {
    kind: 'due',
    handled: result.handled,
    next: result.next,
    nextDueAt: upcoming?.score,
    oldestDueAt: result.oldestDueAt,
    at: tx.now,
  }
}

/**
 * The body of the due pass, which a claim also runs over a few records before it looks for work. Only a strict pass
 * fails on an entry that its record contradicts: such an entry must be heard of, but must not stop every claim.
 */
export function runDueRecords(
  tx: Tx,
  input: DueInput,
  isStrict: boolean,
): Pick<DueResult, 'handled' | 'next' | 'oldestDueAt'> {
  const limit = Math.max(1, Math.min(input.limit, DUE_SCAN_COUNT))
  const due = tx.range({ index: DUE_INDEX, from: input.from, to: tx.now, limit })
  const handled: { readonly case: DueCaseName; readonly executionId: string }[] = []
  if (due.length === 0) return { handled, next: undefined, oldestDueAt: undefined }
  const ids: string[] = []
  for (const entry of due) if (input.skip === undefined || !input.skip.includes(entry.id)) ids.push(entry.id)
  let seed = input.seed
  let oldestDueAt: Instant | undefined = undefined
  for (const execution of tx.getMany('execution', ids)) {
    // What there is no room for stays where it is, at the head of the next call.
    if (tx.room() < DUE_ITEM_WORK) return { handled, next: input.from ?? { score: 0 }, oldestDueAt }
    if (!matchesFilter(execution, input.filter)) continue
    const dueCase = firstDue(execution, tx.now)
    if (dueCase === undefined) {
      if (isStrict) return tx.fault('the due index names an execution for which nothing is due', execution.id)
      continue
    }
    seed = nextSeed(seed)
    oldestDueAt = oldestDueAt ?? dueAt(execution)
    dueCase.run(tx, execution, seed)
    handled.push({ case: dueCase.name, executionId: execution.id })
  }
  const last = due[due.length - 1]
  const next = due.length < limit || last === undefined ? undefined : { score: last.score, id: last.id }
  return { handled, next, oldestDueAt }
}

function firstDue(execution: Execution, now: Instant): DueCase | undefined {
  for (const dueCase of dueCases) if (dueCase.isDue(execution, now)) return dueCase
  return undefined
}
