/** Workers that are killed at each call of work whose steps are undone, after a failure and after a cancel. */
import { expect } from 'vitest'
import { ExecutionEndedError } from '../../src/client/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { expectRunOnce, killsAt } from './kill-at-each-call.ts'
import type { EndedPiece, Kill, Killable } from './kill-at-each-call.ts'
import { UNDONE_STEPS, UNDO_WAIT, undoneHandler, undoneTask } from './undone-work.ts'
import type { UndoneEnding } from './undone-work.ts'

/** How an undo is recorded. The last registered runs first. */
const UNDOS = UNDONE_STEPS.map((name) => `undo ${name}#undo`).toReversed()

export function undoneWork(ending: UndoneEnding): Killable {
  return {
    name: ending,
    taskOf: undoneTask,
    handlerOf: (number, who, note) => undoneHandler(ending, number, who, note),
    act: callOff,
    judge: (piece) => judge(piece, ending),
  }
}

/** Three steps and three registrations come first, then the failure, the undos, and the end. */
const FAILED_CALLS = 11
/** In the place of the failure there is the wait, and the steps are read when it was cancelled. */
const CANCELLED_CALLS = 12

/** Before and after every call. */
export const everyUndoKill: Readonly<Record<UndoneEnding, readonly Kill[]>> = {
  failed: killsAt(FAILED_CALLS),
  cancelled: killsAt(CANCELLED_CALLS),
}

/** Some of them: a registration, the failure or the wait, two undos, and the end. */
export function someUndoKills(ending: UndoneEnding): readonly Kill[] {
  const kills = everyUndoKill[ending]
  const last = kills.at(-1)?.call ?? 0
  return kills.filter(({ moment, call }) =>
    (moment === 'before' ? [2, last - 2] : [6, 7, last - 3, last]).includes(call),
  )
}

/** Every undo is recorded once, in reverse order, and the work ends as it had to. */
async function judge(piece: EndedPiece, ending: UndoneEnding): Promise<void> {
  const { fabric, executionId, end, kill, how } = piece
  const reason: unknown = end.status === 'rejected' ? end.reason : undefined
  expect(reason instanceof ExecutionEndedError ? reason.outcome : end, how).toBe(ending)
  const undone: string[] = []
  for await (const { name, state } of fabric.steps(executionId)) {
    if (UNDOS.includes(name)) undone.push(`${name} ${state}`)
  }
  expect(undone, how).toEqual(UNDOS.map((name) => `${name} completed`))
  // What the store had answered is recorded, and nothing of it is done again.
  await expectRunOnce(piece, [...UNDONE_STEPS, ...UNDOS], kill.moment === 'before' ? 1 : 0)
}

/** Cancels what waits. */
async function callOff(fabric: Fabric): Promise<void> {
  const { items } = await fabric.waitpoints()
  for (const { executionId, key } of items) {
    if (key === UNDO_WAIT) await fabric.try.cancel(executionId, 'a changed mind')
  }
}
