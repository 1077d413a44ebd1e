import { expect, test } from 'vitest'
import { FLOW_RECONCILE_COUNT, SIBLING_CANCELS_INDEX } from '../../kernel/index.ts'
import type { Losers } from '../../kernel/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { countsOf, memberRecord, only, submitFlow } from '../flow.fixture.ts'
import type { Submitted } from '../flow.fixture.ts'

const INTERVAL_MS = 1_000
/** Longer than an interval with all its jitter. */
const ONE_CYCLE_MS = 1_200

function startReconciler(world: World, batcher = world.batcher): Engine {
  const { runtime, log } = world
  return startEngine({ batcher, runtime, log, intervals: only('edge_cancel_reconciler', INTERVAL_MS) })
}

function actionCount(engine: Engine, action: string): number {
  return valueOf(engine.metrics, 'ff_sibling_cancel_reconcile_total', { action })
}

/** A decided race that is marked as owing cancels: `b` has lost, and lives on if the race lets it. */
async function markedRace(world: World, losers: Losers): Promise<Submitted> {
  const policy = { policy: 'any_of' as const, losers }
  const flow = await submitFlow(world, { a: {}, b: {}, c: { after: ['a', 'b'], policy } })
  const claimed = await world.claim()
  await world.complete(claimed.find(({ executionId }) => executionId === flow.idOf('a'))!)
  const decided = await memberRecord(world, flow, 'c')
  const group = decided.member!.group!
  await world.write('fp:0', (tx) => {
    tx.put({ ...decided, member: { ...decided.member!, group: { ...group, losers: 'cancel', owedFrom: '' } } })
  })
  return flow
}

async function owing(world: World): Promise<string[]> {
  const { entries } = await world.store.dump('fp:0')
  return entries.filter(({ index }) => index === SIBLING_CANCELS_INDEX).map(({ id }) => id)
}

test('a group whose losers have all ended owes nothing any more', async () => {
  const world = createWorld()
  const flow = await markedRace(world, 'cancel')
  expect(await owing(world)).toEqual([flow.idOf('c')])
  await using engine = startReconciler(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(await owing(world)).toEqual([])
  expect(actionCount(engine, 'completed_drain')).toBe(1)
  expect((await memberRecord(world, flow, 'c')).member?.group).toMatchObject({ owedFrom: undefined })
})

test('a group with a loser that lives belongs to the due pass, however often it is looked at', async () => {
  const world = createWorld()
  const flow = await markedRace(world, 'let_run')
  const before = await world.store.dump('fp:0')
  await using engine = startReconciler(world)

  await world.runtime.advance(4 * ONE_CYCLE_MS)

  expect(await world.store.dump('fp:0')).toEqual(before)
  expect(await countsOf(world, flow)).toEqual({ completed: 1, active: 1, waiting: 1 })
  expect(actionCount(engine, 'no_op')).toBeGreaterThan(2)
})

test('a stale or malformed entry is removed and logged', async () => {
  const world = createWorld()
  const flow = await submitFlow(world, { a: {} })
  await world.damageIndex('fp:0', SIBLING_CANCELS_INDEX, flow.idOf('a'), 1)
  await world.damageIndex('fp:0', SIBLING_CANCELS_INDEX, '0-gone', 2)
  await world.damageIndex('fp:0', SIBLING_CANCELS_INDEX, 'nonsense', 3)
  await using engine = startReconciler(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(await owing(world)).toEqual([])
  expect([actionCount(engine, 'removed_stale'), actionCount(engine, 'malformed')]).toEqual([2, 1])
  const warnings = world.log.lines.filter((line) => line.level === 'warn').map((line) => line.fields)
  expect(warnings.map(({ problem, id }) => [problem, id])).toEqual([
    ['removed_stale', flow.idOf('a')],
    ['removed_stale', '0-gone'],
    ['malformed', 'nonsense'],
  ])
})

test('two engines finish it once', async () => {
  const world = createWorld()
  await markedRace(world, 'cancel')
  await using first = startReconciler(world)
  await using second = startReconciler(world, new Batcher(world.store, world.runtime))

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(actionCount(first, 'completed_drain') + actionCount(second, 'completed_drain')).toBe(1)
})

test('what stands behind a page of others is reached', async () => {
  const world = createWorld()
  for (let i = 0; i < 3 * FLOW_RECONCILE_COUNT; i++) {
    await world.damageIndex('fp:0', SIBLING_CANCELS_INDEX, `0-gone-${i}`, i)
  }
  await using engine = startReconciler(world)

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(await owing(world)).toEqual([])
  expect(actionCount(engine, 'removed_stale')).toBe(3 * FLOW_RECONCILE_COUNT)
})
