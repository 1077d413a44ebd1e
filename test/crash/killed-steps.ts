/** Workers that are killed at each call of work with five steps, a sleep and an approval. */
import { expect } from 'vitest'
import type { Fabric } from '../../src/fabric/index.ts'
import { expectRunOnce, killsAt } from './kill-at-each-call.ts'
import type { EndedPiece, Kill, Killable } from './kill-at-each-call.ts'
import { CALL_COUNT, STEP_NAMES, VOTERS, WAIT_NAME, steppedHandler, steppedTask } from './stepped-work.ts'

export const steppedWork: Killable = {
  name: 'stepped',
  taskOf: steppedTask,
  handlerOf: steppedHandler,
  act: vote,
  judge,
}

/** Before and after every call. */
export const everyKill: readonly Kill[] = killsAt(CALL_COUNT)

/** Some of them: a step, the sleep, what is read when it is over, the approval, and the end. */
export const someKills: readonly Kill[] = everyKill.filter(({ moment, call }) =>
  (moment === 'before' ? [1, 7] : [1, 4, 5, 7, CALL_COUNT]).includes(call),
)

/** The result is made of what is recorded, and each recorded value comes from one run, in every answer. */
async function judge(piece: EndedPiece): Promise<void> {
  const { fabric, executionId, end, runs, how } = piece
  const recorded = new Map<string, unknown>()
  for await (const { kind, name, value } of fabric.steps(executionId, { values: true })) {
    if (kind === 'call') recorded.set(name, value)
  }
  const [one, two, three, four, five] = STEP_NAMES.map((name) => recorded.get(name))
  expect(end.status === 'fulfilled' ? JSON.parse(end.value) : end.reason, how).toEqual([
    one,
    two,
    three,
    four,
    ...VOTERS,
    five,
  ])
  expect(
    runs.map(({ value }) => value),
    how,
  ).toEqual(expect.arrayContaining([...recorded.values()]))
  await expectRunOnce(piece, STEP_NAMES, 1)
}

/** Answers every open waitpoint, more than once. */
async function vote(fabric: Fabric): Promise<void> {
  const { items } = await fabric.waitpoints()
  for (const { executionId, key } of items.filter((one) => one.key === WAIT_NAME)) {
    for (const by of VOTERS) await fabric.try.signal(executionId, 'approve', undefined, { waitpoint: key, by, key: by })
  }
}
