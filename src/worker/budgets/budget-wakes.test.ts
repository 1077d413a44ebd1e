/** Work that a budget blocks starts within seconds after a change, also if the process of the change crashes in between. */
import { expect, test } from 'vitest'
import { budget, task } from '../../client/index.ts'
import type { Fabric } from '../../fabric/fabric.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

/** An engine delivers two seconds after the change, and a worker is woken then. */
const SOON_MS = 4_000
const CALLS = ['openGates', 'confirmWakes', 'wakeWaiting'] as const
const tenants = budget('tenants', { hard: { tokens: 10 } })
const spending = task<number>('spending', { budgets: [tenants] })
const asking = task<{ readonly tokens: number; readonly holdMs: number }>('asking', { budgets: [tenants] })
/** Longer than the repetition of a call that was cut off. */
const HOLD_MS = 16_000
const handler = spending.handle(async (tokens, ctx) => {
  await ctx.spend({ tokens })
})

/** A worker, an engine, and two executions that find no room. */
async function blockedWorld(world: World): Promise<void> {
  world.fabric.engine()
  world.work([handler])
  await world.fabric.submit(spending, 10, { id: 'first' })
  await world.advance(1_000)
  for (const id of ['second', 'third']) await world.fabric.submit(spending, 1, { id })
  await world.advance(30_000)
  expect(await states(world)).toEqual(['rate_limited', 'rate_limited'])
}

async function states({ fabric }: World): Promise<string[]> {
  const found = ['second', 'third'].map(async (id) => (await fabric.execution(id).describe()).state)
  return await Promise.all(found)
}

/** Cuts off the process of the change at its first call of a kind, and does not let it call again. */
function cutOff(world: World, call: string, when: 'before' | 'after'): { isCut: boolean } {
  const seen = { isCut: false }
  world.store.plan = ({ operation }) => {
    if (seen.isCut || operation !== call) return undefined
    seen.isCut = true
    return when
  }
  return seen
}

const changes: readonly (readonly [string, (fabric: Fabric) => Promise<unknown>])[] = [
  ['a raise', (fabric) => fabric.budgets.raise('tenants', { amounts: { tokens: 5 } })],
  ['a reset', (fabric) => fabric.budgets.reset('tenants')],
  ['a definition', (fabric) => fabric.budgets.define('tenants', { hard: { tokens: 100 } })],
  ['a delete', (fabric) => fabric.budgets.delete('tenants')],
]
const cuts = CALLS.flatMap((call) => (['before', 'after'] as const).map((when) => [when, call] as const))

test.each(changes)('%s that is cut off at any call starts blocked work within seconds', async (_, change) => {
  let cutCount = 0
  for (const [when, call] of cuts) {
    await using world = createWorld()
    await blockedWorld(world)
    const seen = cutOff(world, call, when)

    const changed = change(world.fabric).catch(() => undefined)
    await world.advance(SOON_MS)
    await changed

    expect(await states(world), `cut ${when} ${call}`).toEqual(['completed', 'completed'])
    cutCount += seen.isCut ? 1 : 0
  }
  expect(cutCount).toBeGreaterThanOrEqual(4)
})

/** An execution that holds most of a budget for a while, and one that asks for more than is left. */
async function refusedWorld(world: World): Promise<void> {
  world.fabric.engine()
  const reserving = asking.handle(async ({ tokens, holdMs }, ctx) => {
    const reserved = await ctx.reserve({ tokens })
    await new Promise((resolve) => void world.runtime.after(holdMs, () => resolve(undefined)))
    await reserved.settle({ tokens: 1 })
  })
  world.work([reserving])
  await world.fabric.submit(asking, { tokens: 8, holdMs: HOLD_MS }, { id: 'first' })
  await world.advance(1_000)
  await world.fabric.submit(asking, { tokens: 5, holdMs: 0 }, { id: 'second' })
  await world.advance(HOLD_MS / 2)
}

test('work that asks for more than is left starts within seconds after a settlement, whichever call is cut off', async () => {
  let cutCount = 0
  for (const call of ['awaitRoom', 'settleReservation', 'openGates', 'confirmWakes', undefined])
    for (const when of ['before', 'after'] as const) {
      await using world = createWorld()
      const seen = call === undefined ? { isCut: false } : cutOff(world, call, when)
      await refusedWorld(world)
      const label = `cut ${when} ${call ?? 'nothing'}`
      expect((await world.fabric.execution('second').describe()).state, label).toBe('delayed')

      await world.advance(HOLD_MS / 2 + 2 * SOON_MS)
      expect((await world.fabric.execution('second').describe()).state, label).toBe('completed')
      cutCount += seen.isCut ? 1 : 0
    }
  expect(cutCount).toBe(8)
})

test('work that never finds room beside its own reservations asks once a minute', async () => {
  await using world = createWorld()
  world.fabric.engine()
  let runCount = 0
  const greedy = asking.handle(async ({ tokens }, ctx) => {
    runCount += 1
    await ctx.reserve({ tokens }, { key: 'first' })
    await ctx.reserve({ tokens }, { key: 'second' })
  })
  world.work([greedy])
  await world.fabric.submit(asking, { tokens: 7, holdMs: 0 }, { id: 'second' })

  await world.advance(50_000)
  expect(runCount).toBe(1)
  await world.advance(60_000)
  expect(runCount).toBe(2)
})

const own = budget('own', { per: 'execution', hard: { tokens: 10 } })

test.each<[string, (fabric: Fabric, key: string) => Promise<unknown>]>([
  ['a raise', (fabric, key) => fabric.budgets.raise('own', { key, amounts: { tokens: 5 } })],
  ['a reset', (fabric, key) => fabric.budgets.reset('own', { key })],
  ['a definition', (fabric) => fabric.budgets.define('own', { per: 'execution', hard: { tokens: 100 } })],
])('an execution that has used up its own budget runs again when %s makes room, and not before', async (_, change) => {
  await using world = createWorld()
  const { fabric } = world
  fabric.engine()
  let runCount = 0
  const exhausting = task('exhausting', { budgets: [own] })
  world.work([
    exhausting.handle(async (_input, ctx) => {
      runCount += 1
      await ctx.spend({ tokens: 10 }, { key: 'first' })
      const more = await ctx.reserve({ tokens: 1 }, { key: 'more' })
      await more.settle({ tokens: 1 })
    }),
  ])
  const { id } = await fabric.submit(exhausting, undefined)
  await world.advance(30_000)
  expect(runCount).toBe(1)

  const changed = change(fabric, id)
  await world.advance(SOON_MS)
  await changed
  expect((await fabric.execution(id).describe()).state).toBe('completed')
  expect(runCount).toBe(2)
})

test('wakes that have arrived are not delivered again', async () => {
  await using world = createWorld()
  await blockedWorld(world)
  let count = 0
  world.store.plan = ({ operation }) => {
    if (operation === 'openGates') count += 1
    return undefined
  }

  const changed = world.fabric.budgets.raise('tenants', { amounts: { tokens: 5 } })
  await world.advance(10 * SOON_MS)
  await changed

  expect([count, await states(world)]).toEqual([1, ['completed', 'completed']])
})

test('a reservation that lapses wakes work, although no process reports it', async () => {
  await using world = createWorld()
  const { fabric, store } = world
  fabric.engine()
  await fabric.submit(spending, 1, { id: 'second' })
  const place = { root: 'tenants', accounts: [{ name: 'tenants', key: '' }] }
  const spender = { executionId: undefined, namespace: 'default', task: 'other', epoch: 1, attempt: 1 }
  const held = { ...place, key: 'x', amounts: [{ dimension: 'tokens', value: 10 }], spender, ttlMs: 20_000 }
  const [reserved] = await store.run('q:0', [{ operation: 'reserveBudget', input: held, blobs: [] }])
  expect(reserved).toMatchObject({ result: { kind: 'budget_reserved' } })
  world.work([handler])
  await world.advance(15_000)
  expect((await fabric.execution('second').describe()).state).toBe('rate_limited')

  await world.advance(5_000 + SOON_MS)
  expect((await fabric.execution('second').describe()).state).toBe('completed')
})
