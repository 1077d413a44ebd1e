import { expect, test } from 'vitest'
import {
  CREATED_INDEX,
  DUE_INDEX,
  OPERATION_WORK_LIMIT,
  PURGE_INDEX,
  RECONCILE_SCAN_COUNT,
  entriesOf,
  laneIndex,
  readyIndex,
} from '../../kernel/index.ts'
import type { ExecutionId, IndexEntry, TenantFilter } from '../../kernel/index.ts'
import type { Partition } from '../../stores/store.ts'
import { createWorld, until, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { only } from '../flow.fixture.ts'

const INTERVAL_MS = 1_000
const ONE_CYCLE_MS = 1_200

function startReconciler(world: World, filter?: TenantFilter): Engine {
  const { batcher, runtime, log } = world
  return startEngine({ batcher, runtime, log, filter, intervals: only('index_reconciler', INTERVAL_MS) })
}

function repairedCount(engine: Engine, problem: string): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'index_reconciler', case: problem })
}

function ordered(entries: readonly IndexEntry[]): string[] {
  return entries.map(({ index, score, id }) => `${index} ${score} ${id}`).toSorted()
}

async function agrees(world: World, partition: Partition = 'fp:0'): Promise<boolean> {
  const { records, entries } = await world.store.dump(partition)
  return ordered(entries).join() === ordered(records.flatMap(entriesOf)).join()
}

/** Lets a cycle begin and come to its end, however many pages it looks at. */
async function nextCycle(world: World, engine: Engine): Promise<void> {
  const cycles = () => valueOf(engine.metrics, 'ff_scanner_cycle_total', { scanner: 'index_reconciler' })
  const before = cycles()
  await world.runtime.advance(ONE_CYCLE_MS)
  await until(world.runtime, () => cycles() > before)
}

async function submitMany(
  world: World,
  count: number,
  wish: Parameters<World['submit']>[0] = {},
): Promise<ExecutionId[]> {
  const ids: ExecutionId[] = []
  for (let i = 0; i < count; i++) ids.push(await world.submit(wish))
  return ids
}

test('in a consistent store it finds, changes and logs nothing', async () => {
  const world = createWorld()
  await submitMany(world, 3, { delayMs: 60_000 })
  await submitMany(world, 3)
  await world.claim()
  const before = await world.store.dump('fp:0')
  await using engine = startReconciler(world)

  for (let i = 0; i < 5; i++) await nextCycle(world, engine)

  expect(await world.store.dump('fp:0')).toEqual(before)
  expect(engine.status()[2]).toMatchObject({ kind: 'enabled', lastCycle: { processed: 0, errors: 0 }, errorCount: 0 })
  expect(world.log.lines).toEqual([])
})

test('an entry that is missing, wrong or too many is repaired, reported and counted', async () => {
  const world = createWorld()
  const [lost, late, doubled] = (await submitMany(world, 3, { delayMs: 60_000 })) as [
    ExecutionId,
    ExecutionId,
    ExecutionId,
  ]
  await world.damageIndex('fp:0', DUE_INDEX, lost, undefined)
  await world.damageIndex('fp:0', DUE_INDEX, late, 5)
  await world.damageIndex('fp:0', laneIndex('main', 'active'), doubled, 1)
  await world.damageIndex('fp:0', PURGE_INDEX, '0-gone', 1)
  await using engine = startReconciler(world)

  await nextCycle(world, engine)

  expect(await agrees(world)).toBe(true)
  const warnings = world.log.lines.filter((line) => line.level === 'warn').map((line) => line.fields)
  expect(warnings).toEqual([
    { scanner: 'index_reconciler', partition: 'fp:0', problem: 'missing_entry', index: 'due', id: lost },
    { scanner: 'index_reconciler', partition: 'fp:0', problem: 'wrong_score', index: 'due', id: late },
    { scanner: 'index_reconciler', partition: 'fp:0', problem: 'extra_entry', index: 'purge', id: '0-gone' },
    { scanner: 'index_reconciler', partition: 'fp:0', problem: 'extra_entry', index: 'lane/main/active', id: doubled },
  ])
  expect(['missing_entry', 'wrong_score', 'extra_entry'].map((problem) => repairedCount(engine, problem))).toEqual([
    1, 1, 2,
  ])
})

test('an execution that the list of all executions has lost is found through its other entries', async () => {
  const world = createWorld()
  const [lost] = (await submitMany(world, 1)) as [ExecutionId]
  await world.damageIndex('fp:0', CREATED_INDEX, lost, undefined)
  await using engine = startReconciler(world)

  await nextCycle(world, engine)

  expect(await agrees(world)).toBe(true)
  expect(repairedCount(engine, 'missing_entry')).toBe(1)
})

test('damage larger than one call may repair is repaired in one walk', async () => {
  const world = createWorld()
  const count = RECONCILE_SCAN_COUNT + OPERATION_WORK_LIMIT
  for (const id of await submitMany(world, count))
    await world.damageIndex('fp:0', readyIndex('main', ''), id, undefined)
  await using engine = startReconciler(world)
  await world.runtime.advance(INTERVAL_MS)

  await until(world.runtime, () => repairedCount(engine, 'missing_entry') === count)

  expect(await agrees(world)).toBe(true)
  expect(world.log.lines.filter((line) => line.level === 'warn')).toHaveLength(count)
})

test('a scan longer than one pass continues in the next cycle, so that every lane is covered', async () => {
  const world = createWorld()
  const lanes = Array.from({ length: 40 }, (_, i) => `lane-${String(i).padStart(2, '0')}`)
  for (const lane of lanes) await world.submit({ lane })
  const strays = lanes.map((lane) => laneIndex(lane, 'suspended'))
  for (const stray of strays) await world.damageIndex('fp:0', stray, '0-stray', 1)
  await using engine = startReconciler(world)
  await nextCycle(world, engine)

  const afterOnePass = repairedCount(engine, 'extra_entry')
  expect(afterOnePass).toBeGreaterThan(0)
  expect(afterOnePass).toBeLessThan(lanes.length)

  // At a hundred pages a cycle, twelve pages a lane and a few for the partition.
  for (let i = 0; i < 5; i++) await nextCycle(world, engine)

  expect(repairedCount(engine, 'extra_entry')).toBe(lanes.length)
  expect(await agrees(world)).toBe(true)
})

test("with a filter, another tenant's entries are left alone", async () => {
  const world = createWorld()
  const mine = await world.submit({ namespace: 'acme' })
  const theirs = await world.submit({ namespace: 'other' })
  await world.damageIndex('fp:0', DUE_INDEX, mine, 5)
  await world.damageIndex('fp:0', DUE_INDEX, theirs, 5)
  await using engine = startReconciler(world, { namespace: 'acme' })

  await nextCycle(world, engine)

  const { entries } = await world.store.dump('fp:0')
  expect(entries.filter((entry) => entry.index === DUE_INDEX).map((entry) => entry.id)).toEqual([theirs])
  expect(repairedCount(engine, 'extra_entry')).toBe(1)
})

test('every partition is walked', async () => {
  const world = createWorld(3)
  for (let partition = 0; partition < 3; partition++) {
    await world.submit({ partition })
    await world.damageIndex(`fp:${partition}`, DUE_INDEX, `${partition}-gone`, 1)
  }
  await using engine = startReconciler(world)

  await nextCycle(world, engine)

  expect(repairedCount(engine, 'extra_entry')).toBe(3)
})
