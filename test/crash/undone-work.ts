/** The work whose worker is killed while compensations are registered and while they run: three steps, each with its undo. */
import { PermanentError, approval, task } from '../../src/client/index.ts'
import type { Handler, StepContext, Task } from '../../src/client/index.ts'
import type { KilledWork, StepRunEntry } from './kill-at-each-call.ts'

/** How it comes to be undone: its handler fails for good, or it is cancelled while it waits. */
export type UndoneEnding = 'failed' | 'cancelled'

export const UNDONE_STEPS = ['one', 'two', 'three'] as const
export const UNDO_WAIT = 'never'

/** Each piece of work has a lane of its own, so that one worker gets no other. */
export function undoneTask(number: number): Task<KilledWork, KilledWork, string, string> {
  return task<KilledWork, string>(`undone-${number}`, { lane: `lane-${number}` })
}

export function undoneHandler(
  ending: UndoneEnding,
  number: number,
  who: string,
  note: (run: StepRunEntry) => void,
): Handler {
  let runCount = 0
  return undoneTask(number).handle(async (_work, ctx) => {
    const run = ({ name, idempotencyKey }: StepContext) => {
      runCount += 1
      note({ executionId: ctx.executionId, step: name, idempotencyKey, value: `${name} by ${who}, run ${runCount}` })
    }
    for (const name of UNDONE_STEPS) {
      await ctx.step(name, run)
      await ctx.compensate(`undo ${name}`, run)
    }
    if (ending === 'cancelled') await ctx.waitFor(UNDO_WAIT, approval())
    throw new PermanentError('It can never succeed.')
  })
}
