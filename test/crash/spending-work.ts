/** Workers that are killed at each call of work that spends a tree of budgets: it reserves, calls and settles. */
import { expect } from 'vitest'
import { budget, task } from '../../src/client/index.ts'
import type { Handler, Task } from '../../src/client/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { until } from '../servers/until.ts'
import { killsAt } from './kill-at-each-call.ts'
import type { EndedPiece, Kill, KilledWork, Killable, StepRunEntry } from './kill-at-each-call.ts'

/** Permits, the report, the reservation, the settlement, the step and the completion. */
const CALL_COUNT = 6
const KEYED = 1
const SETTLED = 70
const RESERVED = 90
/** A reservation lapses after two leases. */
const LAPSE_LIMIT_MS = 60_000

const total = budget('killed-total', { hard: { tokens: 100_000 } })
const spenders = budget<KilledWork>('killed-spenders', {
  parent: total,
  key: ({ number }) => `key-${number}`,
  hard: { tokens: 500 },
})

function spendingTask(number: number): Task<KilledWork, KilledWork, string, string> {
  return task<KilledWork, string>(`spending-${number}`, { lane: `spending-${number}`, budgets: [spenders] })
}

export function spendingHandler(number: number, who: string, note: (run: StepRunEntry) => void): Handler {
  let runCount = 0
  return spendingTask(number).handle(async (_work, ctx) => {
    await ctx.spend({ tokens: KEYED }, { key: 'keyed' })
    return await ctx.step('write', async (step) => {
      const reserved = await step.reserve({ tokens: RESERVED })
      runCount += 1
      const value = `write by ${who}, run ${runCount}`
      note({ executionId: ctx.executionId, step: 'write', idempotencyKey: step.idempotencyKey, value })
      await reserved.settle({ tokens: SETTLED })
      return value
    })
  })
}

export const spendingWork: Killable = {
  name: 'spending',
  taskOf: spendingTask,
  handlerOf: spendingHandler,
  act: () => Promise.resolve(),
  judge,
}

/** Before and after every call. */
export const everySpendingKill: readonly Kill[] = killsAt(CALL_COUNT)

/** Around the reservation and the settlement. */
export const someSpendingKills: readonly Kill[] = everySpendingKill.filter(({ call }) => call === 3 || call === 4)

/** Every call that was made counts at most once, what was reported counts exactly once, and nothing stays reserved. */
async function judge({ fabric, executionId, end, runs, kill, how }: EndedPiece): Promise<void> {
  expect(end.status, how).toBe('fulfilled')
  const lines = await fabric.budgets.spentBy(executionId)
  const amounts = lines.map(({ spent }) => spent['tokens'] ?? 0)
  expect(
    amounts.filter((amount) => amount === KEYED),
    how,
  ).toHaveLength(1)
  const settled = amounts.filter((amount) => amount === SETTLED).length
  expect(settled, how).toBeGreaterThanOrEqual(1)
  expect(settled, how).toBeLessThanOrEqual(runs.length)
  expect(amounts, how).toHaveLength(1 + settled)
  const key = `key-${kill.number}`
  const spent = KEYED + SETTLED * settled
  expect(await settledUse(fabric, key), how).toMatchObject({ spent, reserved: 0, total: spent })
}

/** What a key has spent, once nothing of it is reserved any more. */
async function settledUse(fabric: Fabric, key: string) {
  return await until(`the reservations of ${key} have lapsed`, LAPSE_LIMIT_MS, async () => {
    const { keys } = await fabric.budgets.describe('killed-spenders', { key })
    const [use] = keys[0]?.dimensions ?? []
    return use?.reserved === 0 ? use : undefined
  })
}
