/**
 * The question that a budget asks when it has no room: what its approval adds is stored with the question, so that a later call of the
 * handler, which may ask for another amount, does not change it.
 */
import type { Amounts, Overrun } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { approval } from '../define/approval.ts'
import type { ApprovalAnswer } from '../define/approval.ts'
import { checkSpending } from '../define/budget.ts'
import { WAITABLE } from '../define/waitable.ts'
import type { Waitable } from '../define/waitable.ts'

/** The answer to the question of a budget. */
export interface QuestionAnswer {
  readonly answer: ApprovalAnswer
  /** What an approval adds if it names no amounts. Absent if another wait than the question has its name. */
  readonly asks: Amounts | undefined
}

/** Says why there is no room. */
export function textOf({ name, key, dimension, spent, reserved, hard, asked, isFrozen }: Overrun): string {
  const what = key === '' ? `budget '${name}'` : `budget '${name}' of '${key}'`
  if (isFrozen) return `${what} is frozen`
  const more = asked === 0 ? '' : `, and ${asked} are asked for`
  return `${what} has spent ${spent} and reserved ${reserved} of ${hard} ${dimension}${more}`
}

/** Says what an approval adds. The reason of every question ends with it, so that a person reads what is stored. */
export function asksText(asks: Amounts): string {
  const parts = asks.map(({ dimension, value }) => `${value} ${dimension}`)
  return `An approval adds ${parts.join(' and ')} unless it names other amounts.`
}

/** Asks for what is missing. `correction` says what was wrong with the last approval, and `named` is called with the name of the wait. */
export function budgetQuestion(
  overrun: Overrun,
  correction = '',
  named: (wait: string) => void = () => undefined,
): Waitable<QuestionAnswer> {
  const asked = approval()[WAITABLE]
  const asks = [{ dimension: overrun.dimension, value: missingOf(overrun) }]
  return {
    [WAITABLE]: {
      plan: (name) => {
        named(name)
        return { ...asked.plan(name), reason: `${textOf(overrun)}.${correction} ${asksText(asks)}`, asks }
      },
      answer: async (outcome) => ({ answer: await asked.answer(outcome), asks: outcome.asks }),
    },
  }
}

/** What an approval raises a budget by: what its last vote names, or else what was asked for. A text says why it is not valid. */
export function raisedBy({ answer, asks }: QuestionAnswer): Amounts | string {
  try {
    return approvedAmounts(answer.votes.at(-1)?.value, asks) ?? 'it names no amounts, and none were asked for.'
  } catch (error) {
    if (error instanceof EngineError) return error.message
    throw error
  }
}

/** Returns the amounts that an approving vote names, or else those that were asked for. Throws if the amounts are not valid. */
export function approvedAmounts(value: unknown, asks: Amounts | undefined): Amounts | undefined {
  if (typeof value !== 'object' || value === null || !('amounts' in value)) return asks
  return checkSpending(value.amounts, 'amounts', 1)
}

function missingOf({ spent, reserved, asked, hard }: Overrun): number {
  return Math.max(1, spent + reserved + asked - hard)
}
