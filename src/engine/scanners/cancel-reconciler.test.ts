import { expect, test } from 'vitest'
import { CANCEL_BACKLOG_INDEX } from '../../kernel/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { createWorld, storeWith, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { cancelFlow, countsOf, flowRecord, many, only, submitFlow } from '../flow.fixture.ts'
import type { Submitted } from '../flow.fixture.ts'

const INTERVAL_MS = 1_000
/** Longer than an interval with all its jitter. */
const ONE_CYCLE_MS = 1_200
/** More members than one operation can cancel, by far. */
const WIDE = 400

function startReconciler(world: World, batcher = world.batcher, namespace?: string): Engine {
  const { runtime, log } = world
  const filter = namespace === undefined ? undefined : { namespace }
  return startEngine({ batcher, runtime, log, filter, intervals: only('cancel_reconciler', INTERVAL_MS) })
}

async function cancelled(world: World, wish: { partition?: number; namespace?: string } = {}): Promise<Submitted> {
  const flow = await submitFlow(world, many('node', WIDE), wish)
  await cancelFlow(world, flow)
  return flow
}

function depthIn(engine: Engine): number | undefined {
  const sample = engine.metrics.snapshot().find(({ metric }) => metric.name === 'ff_cancel_backlog_depth')
  return sample !== undefined && 'value' in sample ? sample.value : undefined
}

test('an abandoned cancel of a flow is continued to the last member', async () => {
  const world = createWorld()
  const flow = await cancelled(world)
  expect((await flowRecord(world, flow)).walk?.purpose).toBe('cancel')
  await using engine = startReconciler(world)

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(await countsOf(world, flow)).toEqual({ cancelled: WIDE })
  expect((await flowRecord(world, flow)).walk).toBeUndefined()
  expect(depthIn(engine)).toBe(0)
})

test('flows that were not cancelled are unchanged', async () => {
  const world = createWorld()
  await submitFlow(world, { a: {}, b: { after: ['a'] } })
  const before = await world.store.dump('fp:0')
  await using engine = startReconciler(world)

  await world.runtime.advance(3 * ONE_CYCLE_MS)

  expect(await world.store.dump('fp:0')).toEqual(before)
  expect(depthIn(engine)).toBe(0)
  expect(world.log.lines).toEqual([])
})

test('two engines cancel each member once', async () => {
  const world = createWorld()
  const flow = await cancelled(world)
  await using _first = startReconciler(world)
  await using _second = startReconciler(world, new Batcher(world.store, world.runtime))

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(await countsOf(world, flow)).toEqual({ cancelled: WIDE })
  expect(await world.events('execution_ended')).toHaveLength(WIDE)
})

test('a note that a flow owes cancels which it does not owe is removed and warned of', async () => {
  const world = createWorld()
  const flow = await submitFlow(world, { a: {} })
  await world.damageIndex('fp:0', CANCEL_BACKLOG_INDEX, flow.flowId, 1)
  await using engine = startReconciler(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  const labels = { scanner: 'cancel_reconciler', case: 'removed_stale' }
  expect(valueOf(engine.metrics, 'ff_scanner_items_total', labels)).toBe(1)
  expect(world.log.lines.filter((line) => line.level === 'warn').map((line) => line.fields)).toEqual([
    { scanner: 'cancel_reconciler', partition: 'fp:0', problem: 'removed_stale', id: flow.flowId },
  ])
})

test('the backlog of all partitions is shown, and stands still while one of them does not answer', async () => {
  const world = createWorld(3)
  for (const partition of [0, 2]) await cancelled(world, { partition, namespace: 'other' })
  let isDown = true
  const store = storeWith(world.store, {
    run: (partition, calls) =>
      isDown && partition === 'fp:2'
        ? Promise.reject(new EngineError('store_unavailable'))
        : world.store.run(partition, calls),
  })
  await using engine = startReconciler(world, new Batcher(store, world.runtime), 'acme')

  await world.runtime.advance(3 * ONE_CYCLE_MS)
  expect(depthIn(engine)).toBeUndefined()

  isDown = false
  await world.runtime.advance(ONE_CYCLE_MS)
  expect(depthIn(engine)).toBe(2)

  isDown = true
  await cancelled(world, { namespace: 'other' })
  await world.runtime.advance(2 * ONE_CYCLE_MS)
  expect(depthIn(engine)).toBe(2)
})
