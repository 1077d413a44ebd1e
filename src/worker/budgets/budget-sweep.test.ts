import { expect, test } from 'vitest'
import { budget, task } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

/** Calls that a worker makes for a leased execution that spends. */
const OWN_CALLS: readonly string[] = [
  'spendBudget',
  'reserveBudget',
  'settleReservation',
  'releaseReservation',
  'recordStep',
  'completeExecution',
]

/** As many calls as the handler makes at least. */
const LEAST_CALLS = 11

const company = budget('company', { hard: { tokens: 1_000 } })
const tenants = budget('tenants', { parent: company, key: 'acme', hard: { tokens: 1_000 } })
const models = budget('models', { hard: { tokens: 1_000 } })
const spending = task('spending', { budgets: [tenants, models] })

/** Spends with a key and without, releases what it does not need, and reserves, calls and settles in a step. */
function handler(seen: { calls: number }) {
  return spending.handle(async (_, ctx) => {
    await ctx.spend({ tokens: 1 }, { key: 'keyed' })
    const unneeded = await ctx.reserve({ tokens: 500 })
    await unneeded.release()
    const text = await ctx.step('write', async (step) => {
      const reserved = await step.reserve({ tokens: 90 })
      seen.calls += 1
      await reserved.settle({ tokens: 70 })
      return 'text'
    })
    await ctx.spend({ tokens: 2 })
    return text
  })
}

interface Cut {
  readonly at: number
  readonly when: 'before' | 'after'
}

/** Crashes the worker at one of its calls, before or after the call takes effect. Returns whether there was such a call. */
async function runWithCut(world: World, { at, when }: Cut) {
  const seen = { calls: 0 }
  world.fabric.engine()
  const start = () => world.work([handler(seen)], { leaseTtl: '2s' })
  let worker = start()
  let callCount = 0
  let isCut = false
  world.store.plan = ({ operation }) => {
    if (isCut || !OWN_CALLS.includes(operation)) return undefined
    callCount += 1
    if (callCount <= at) return undefined
    isCut = true
    worker.crash()
    worker = start()
    return when
  }
  const handle = await world.fabric.submit(spending, undefined)
  await world.advance(20_000)
  return { isCut, calls: seen.calls, result: await handle.result() }
}

/** What one key of a budget has spent, and the lines of its ledger. */
async function readSums({ fabric }: World, name: string, key: string) {
  const { keys } = await fabric.budgets.describe(name, { key })
  const [tokens] = keys[0]?.dimensions ?? []
  const { items } = await fabric.budgets.history(name, { key })
  const lines = items.map(({ spent }) => spent['tokens'] ?? 0)
  return { spent: tokens?.spent, reserved: tokens?.reserved, open: keys[0]?.reservationCount, lines: lines.sort() }
}

test.each(['before', 'after'] as const)(
  'a worker that is cut off %s any of its calls leaves nothing reserved, and what was accepted counts once',
  async (when) => {
    let at = 0
    for (let isCut = true; isCut; at++) {
      await using world = createWorld()
      const label = `cut ${when} call ${at}`
      const run = await runWithCut(world, { at, when })
      isCut = run.isCut

      expect(run.result, label).toBe('text')
      for (const [name, key] of [
        ['company', ''],
        ['tenants', 'acme'],
        ['models', ''],
      ] as const) {
        const { spent, reserved, open, lines } = await readSums(world, name, key)
        const settled = lines.filter((amount) => amount === 70)
        expect([reserved, open], `${label}: ${name}`).toEqual([0, 0])
        expect(
          lines.filter((amount) => amount !== 70),
          `${label}: ${name}`,
        ).toEqual([1, 2])
        // The call of a worker that dies before its settlement is accepted is made again, and counts then.
        expect(settled.length, `${label}: ${name}`).toBeGreaterThanOrEqual(1)
        expect(settled.length, `${label}: ${name}`).toBeLessThanOrEqual(run.calls)
        expect(spent, `${label}: ${name}`).toBe(3 + 70 * settled.length)
      }
      expect(await readSums(world, 'company', ''), label).toEqual(await readSums(world, 'tenants', 'acme'))
    }
    expect(at).toBeGreaterThan(LEAST_CALLS)
  },
)

test('a settlement during an outage counts, also if its lease is lost meanwhile', async () => {
  await using world = createWorld()
  world.fabric.engine()
  let calls = 0
  let isDown = false
  const calling = spending.handle(async (_, ctx) => {
    await ctx.step('write', async (step) => {
      const reserved = await step.reserve({ tokens: 90 })
      calls += 1
      isDown = calls === 1
      await reserved.settle({ tokens: 70 })
    })
  })
  world.work([calling], { leaseTtl: '2s' })
  world.store.plan = () => (isDown ? 'before' : undefined)
  await world.fabric.submit(spending, undefined, { id: 'paid' })
  await world.advance(10_000)
  isDown = false
  await world.advance(20_000)

  expect((await world.fabric.execution('paid').describe()).state).toBe('completed')
  expect(calls).toBe(2)
  expect(await readSums(world, 'tenants', 'acme')).toEqual({ spent: 140, reserved: 0, open: 0, lines: [70, 70] })
})
