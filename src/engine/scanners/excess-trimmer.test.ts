import { expect, test, vi } from 'vitest'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import { keepNewest } from '../../stores/keep-newest.ts'

const CYCLE_MS = 61_000
const CASE = { scanner: 'excess_trimmer', case: 'execution_purged' }
const PARTITIONS = 3

function keeping(keep: number) {
  const none = { completed: undefined, failed: undefined, cancelled: undefined, expired: undefined, skipped: undefined }
  return { retentions: { ...none, keep }, retentionMs: 86_400_000 }
}

/** Ends executions one after the other, spread unevenly over the partitions. Returns their ids, oldest first. */
async function endMany(world: World, count: number, keep: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const partition = i % 4 === 0 ? 1 : i % 7 === 0 ? 2 : 0
    const executionId = await world.submit({ partition, ...keeping(keep) })
    await world.runtime.advance(1)
    await world.batcher.run(`fp:${partition}`, 'cancelExecution', { executionId, reason: 'tests', by: 'ops' } as never)
    ids.push(executionId)
  }
  return ids
}

async function left(world: World): Promise<string[]> {
  const found: string[] = []
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const { result } = await world.batcher.run(`fp:${partition}`, 'listExecutions', { limit: 200 })
    found.push(...result.executions.map(({ id }) => id))
  }
  return found.sort()
}

test('of all partitions the newest ones are kept, as many as the task keeps', async () => {
  const world = createWorld(PARTITIONS)
  const ids = await endMany(world, 40, 10)
  await using engine = startEngine({ batcher: world.batcher, runtime: world.runtime, log: world.log })

  await world.runtime.advance(CYCLE_MS)

  expect(await left(world)).toEqual(ids.slice(-10).sort())
  expect(valueOf(engine.metrics, 'ff_scanner_items_total', CASE)).toBe(30)
})

test('more than one removal takes are removed in several, and two engines remove no more', async () => {
  const world = createWorld(PARTITIONS)
  const ids = await endMany(world, 130, 5)

  await Promise.all([keepNewest(world.batcher), keepNewest(world.batcher)])
  await keepNewest(world.batcher)

  expect(await left(world)).toEqual(ids.slice(-5).sort())
})

test('what another call removes between the reads of a call is not removed twice', async () => {
  const world = createWorld(PARTITIONS)
  const ids = await endMany(world, 40, 20)
  const run = world.batcher.run.bind(world.batcher)
  vi.spyOn(world.batcher, 'run').mockImplementation(async (partition, operation, input) => {
    if (operation === 'listKept') {
      vi.restoreAllMocks()
      await keepNewest(world.batcher)
    }
    return await run(partition, operation, input)
  })

  await keepNewest(world.batcher)

  expect(await left(world)).toEqual(ids.slice(-20).sort())
})

test('as many as are kept are left alone', async () => {
  const world = createWorld(PARTITIONS)
  await endMany(world, 10, 10)

  expect(await keepNewest(world.batcher)).toEqual([])
  expect(await left(world)).toHaveLength(10)
})
