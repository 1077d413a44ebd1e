import { expect, test } from 'vitest'
import type { Lane } from '../../kernel/index.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'

const CYCLE_MS = 61_000
const CASE = { scanner: 'lane_copier', case: 'lane_copied' }

function start(world: World): Engine {
  return startEngine({ batcher: world.batcher, runtime: world.runtime, log: world.log })
}

/** A process pauses a lane, and ends before it has copied the change. */
async function pause(world: World): Promise<Lane> {
  const input = { lane: 'main', state: 'paused', by: 'ops' } as const
  const { result } = await world.batcher.run(STORE_PARTITION, 'configureLane', input)
  if (result.kind === 'refused') throw new Error(result.code)
  return result.lane
}

async function pendingCount(world: World): Promise<number> {
  return (await world.batcher.run(STORE_PARTITION, 'listLanes', { isCopying: true })).result.lanes.length
}

test('a change that was not copied reaches every partition, and is confirmed', async () => {
  const world = createWorld(3)
  await using engine = start(world)
  await pause(world)
  for (let partition = 0; partition < 3; partition++) await world.submit({ partition })

  await world.runtime.advance(CYCLE_MS)

  for (let partition = 0; partition < 3; partition++) expect(await world.claim('main', partition)).toEqual([])
  expect(await pendingCount(world)).toBe(0)
  expect(valueOf(engine.metrics, 'ff_scanner_items_total', CASE)).toBe(1)
})

test('a lane whose copies are confirmed is left alone', async () => {
  const world = createWorld()
  await using engine = start(world)
  const lane = await pause(world)
  await world.batcher.run(STORE_PARTITION, 'confirmLane', { lane: lane.id, version: lane.version })

  await world.runtime.advance(CYCLE_MS)

  expect(valueOf(engine.metrics, 'ff_scanner_items_total', CASE)).toBe(0)
})

test('two engines leave the lane copied once', async () => {
  const world = createWorld(2)
  await using _first = start(world)
  await using _second = start(world)
  await pause(world)

  await world.runtime.advance(CYCLE_MS)

  expect(await pendingCount(world)).toBe(0)
  expect(await world.events('lane_changed')).toHaveLength(0)
})
