import { expect, test } from 'vitest'
import type { Gauge } from '../../kernel/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import type { Partition } from '../../stores/store.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { only } from '../flow.fixture.ts'

const INTERVAL_MS = 1_000
/** Longer than an interval with all its jitter. */
const ONE_CYCLE_MS = 1_200
const TTL_MS = 33_000
const PARTITION: Partition = 'q:0'
const KEY = { limit: 'openai', key: 'acme' }

function startReconciler(world: World, batcher = world.batcher): Engine {
  const { runtime, log } = world
  return startEngine({ batcher, runtime, log, intervals: only('quota_reconciler', INTERVAL_MS) })
}

function repairedCount(engine: Engine, problem: string): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'quota_reconciler', case: problem })
}

/** A limit of which two permits are held. */
async function usedLimit(world: World): Promise<Gauge> {
  await world.batcher.run(PARTITION, 'defineLimit', { name: KEY.limit, concurrency: 5 })
  await world.batcher.run(PARTITION, 'takePermits', {
    requestId: 'r',
    workerInstanceId: 'p1',
    ttlMs: TTL_MS,
    requests: [{ ...KEY, weight: 1, needed: 2, spare: 0 }],
  })
  return gauge(world)
}

async function gauge(world: World): Promise<Gauge> {
  const found = (await world.store.dump(PARTITION)).records.find((record) => record.type === 'gauge')
  if (found === undefined) throw new Error('the test has no gauge')
  return found
}

async function drifted(world: World): Promise<Gauge> {
  const right = await usedLimit(world)
  await world.write(PARTITION, (tx) => {
    tx.put({ ...right, heldCount: 4 })
  })
  return right
}

test('a counter that drifted is corrected, and the correction is counted and logged', async () => {
  const world = createWorld()
  const right = await drifted(world)
  await using engine = startReconciler(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(await gauge(world)).toEqual(right)
  expect(repairedCount(engine, 'wrong_count')).toBe(1)
  const warnings = world.log.lines.filter((line) => line.level === 'warn').map((line) => line.fields)
  expect(warnings).toEqual([{ scanner: 'quota_reconciler', partition: PARTITION, problem: 'wrong_count', ...KEY }])
})

test('permits of a dead process are released even if no due pass runs', async () => {
  const world = createWorld()
  await usedLimit(world)
  await using engine = startReconciler(world)

  await world.runtime.advance(5 * TTL_MS)

  expect(repairedCount(engine, 'lapsed_holding')).toBe(1)
  expect(await gauge(world)).toMatchObject({ heldCount: 0, holderCount: 0 })
})

test('the keys of a deleted limit are removed without a warning', async () => {
  const world = createWorld()
  await usedLimit(world)
  await world.batcher.run(PARTITION, 'deleteLimit', { name: KEY.limit })
  await using engine = startReconciler(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(repairedCount(engine, 'deleted_limit')).toBe(1)
  expect((await world.store.dump(PARTITION)).records.map(({ type }) => type)).toEqual(['limit_definition'])
  expect(world.log.lines.filter((line) => line.level === 'warn')).toEqual([])
})

test('counters that are right are left alone, and nothing is logged', async () => {
  const world = createWorld()
  await usedLimit(world)
  const before = await world.store.dump(PARTITION)
  await using engine = startReconciler(world)

  await world.runtime.advance(5 * ONE_CYCLE_MS)

  expect(await world.store.dump(PARTITION)).toEqual(before)
  expect(engine.status().find(({ scanner }) => scanner === 'quota_reconciler')).toMatchObject({ errorCount: 0 })
  expect(world.log.lines).toEqual([])
})

test('two engines correct it once', async () => {
  const world = createWorld()
  await drifted(world)
  await using first = startReconciler(world)
  await using second = startReconciler(world, new Batcher(world.store, world.runtime))

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(await gauge(world)).toMatchObject({ heldCount: 2 })
  expect(repairedCount(first, 'wrong_count') + repairedCount(second, 'wrong_count')).toBe(1)
})
