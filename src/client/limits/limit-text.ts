/** Formats why a limit or a budget blocks an execution: which key, how full it is, how many are ahead, and when it has room. */
import { exhaustedOf, isBudgetId, laneOfLimit, nameInBudgetId, nextReset } from '../../kernel/index.ts'
import type { Account, Budget, Instant, KeyUsage, Limit, LimitBlock, LimitCause } from '../../kernel/index.ts'
import { keyText, namespaceText } from './limit-keys.ts'

/** The limit that blocks an execution, as it is now. */
export interface BlockingLimit {
  readonly limit: Pick<Limit, 'rate' | 'concurrency'>
  /** Undefined if nothing of the key is used. */
  readonly usage: KeyUsage | undefined
  readonly at: Instant
}

/** The budget that blocks an execution, as it is now. */
export interface BlockingBudget {
  readonly budget: Budget
  readonly account: Account | undefined
  readonly at: Instant
}

/** `now` is undefined if the limit is not known: it was not asked, or does not exist. */
export function limitText(since: Instant, block: LimitBlock, now: BlockingLimit | BlockingBudget | undefined): string {
  const { limit, key, ahead, aheadLimit, until } = block
  const plain = nameText(limit)
  const name = `${plain}${keyText(key)}`
  const before = ahead >= aheadLimit ? `At least ${ahead} executions are` : aheadText(ahead)
  const [cause, next] =
    now === undefined
      ? [causeText[block.cause], '']
      : 'budget' in now
        ? budgetText(now)
        : [usageText(now), ` ${roomText(now)}`]
  return `It waits since ${instant(since)} for ${name}: ${cause}. ${before} ahead of it in its partition.${next} The next one asks for a permit at ${instant(until)} at the latest.`
}

/** How full the key of a budget is, and when it has room. */
function budgetText({ budget, account, at }: BlockingBudget): [string, string] {
  const { freeze } = budget
  if (freeze !== undefined) {
    const reason = freeze.reason === undefined ? '' : ` (${freeze.reason})`
    return [`${freeze.by ?? 'an operator'} has frozen it${reason}`, ' It has room when it is opened.']
  }
  const full = account === undefined ? undefined : exhaustedOf(budget, account)
  if (full === undefined) return ['it is not used up any more', ' It has room now.']
  const { dimension, spent, reserved, hard } = full
  const resetAt = nextReset(budget, at)
  const later = resetAt === undefined ? 'when it is raised or reset' : `at ${instant(resetAt)}`
  const held = reserved === 0 ? '' : ` and ${reserved} are reserved`
  return [`${spent} of ${hard} ${dimension} are spent${held}`, ` It has room ${later}.`]
}

function nameText(limit: string): string {
  const lane = laneOfLimit(limit)
  if (lane !== undefined) return `the limit of lane '${lane.lane}'${namespaceText(lane.namespace)}`
  return isBudgetId(limit) ? `the budget '${nameInBudgetId(limit)}'` : `the limit '${limit}'`
}

function aheadText(ahead: number): string {
  if (ahead === 0) return 'None is'
  return ahead === 1 ? 'One execution is' : `${ahead} executions are`
}

const causeText: Readonly<Record<LimitCause, string>> = {
  rate: 'its rate is used up',
  concurrency: 'as many as it allows are running',
  held: 'it is held back',
  unknown: 'no limit of this name is defined, so nothing that needs it starts before it is',
  budget: 'it is used up',
  holders: 'too many worker processes hold permits of it',
}

function usageText({ limit: { rate, concurrency }, usage }: BlockingLimit): string {
  const { hold, held = 0, holders = 0, used = 0 } = usage ?? {}
  const parts: string[] = []
  if (hold !== undefined) {
    const who = hold.by === undefined ? 'a handler that was asked to retry later holds' : `${hold.by} holds`
    parts.push(`${who} it back until ${instant(hold.until)}${hold.reason === undefined ? '' : ` (${hold.reason})`}`)
  }
  if (rate !== undefined) parts.push(`${used} of ${rate.count} are used up in a window of ${spanText(rate.windowMs)}`)
  if (concurrency !== undefined) {
    parts.push(`${held} of ${concurrency} permits are held by ${holders} worker${holders === 1 ? '' : 's'}`)
  }
  return parts.join(', and ')
}

function roomText({ usage, at }: BlockingLimit): string {
  const next = usage?.next
  if (next === undefined) {
    return usage === undefined ? 'It has room now.' : 'It has room when an execution that holds a permit ends.'
  }
  return next.afterMs === 0 ? 'It has room now.' : `It has room at ${instant(at + next.afterMs)}.`
}

/** The longest unit that divides it. */
function spanText(ms: number): string {
  for (const [unit, unitMs] of spans) if (ms % unitMs === 0) return `${ms / unitMs} ${unit}`
  return `${ms} ms`
}

const spans = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
