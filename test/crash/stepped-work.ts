/** The work whose worker is killed at each of its calls in turn: five steps, a sleep and an approval. */
import { approval, task } from '../../src/client/index.ts'
import type { Handler, Task } from '../../src/client/index.ts'
import type { KilledWork, StepRunEntry } from './kill-at-each-call.ts'

export const STEP_NAMES = ['one', 'two', 'three', 'four', 'five'] as const
export const VOTERS = ['ann', 'bob'] as const
export const WAIT_NAME = 'review'

/** Calls that the handler makes at least, from the first step on: the last is its completion. */
export const CALL_COUNT = 9

const NAP_MS = 50

/** Each piece of work has a lane of its own, so that one worker gets no other. */
export function steppedTask(number: number): Task<KilledWork, KilledWork, string, string> {
  return task<KilledWork, string>(`stepped-${number}`, { lane: `lane-${number}` })
}

export function steppedHandler(number: number, who: string, note: (run: StepRunEntry) => void): Handler {
  let runCount = 0
  return steppedTask(number).handle(async (_work, ctx) => {
    const step = (name: string) =>
      ctx.step(name, ({ idempotencyKey }) => {
        runCount += 1
        const value = `${name} by ${who}, run ${runCount}`
        note({ executionId: ctx.executionId, step: name, idempotencyKey, value })
        return value
      })
    const [one, two, three] = [await step('one'), await step('two'), await step('three')]
    await ctx.sleep('nap', NAP_MS)
    const four = await step('four')
    const review = await ctx.waitFor(WAIT_NAME, approval({ need: VOTERS.length, of: VOTERS }))
    const five = await step('five')
    const votes = review.ok ? review.votes.map(({ by }) => by.identity).sort() : [review.reason]
    return JSON.stringify([one, two, three, four, ...votes, five])
  })
}
