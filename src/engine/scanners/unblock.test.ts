import { expect, test } from 'vitest'
import { LIMIT_OVERDUE_MS, LIMIT_PROBE_MS } from '../../kernel/index.ts'
import type { ExecutionId } from '../../kernel/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { only } from '../flow.fixture.ts'

const INTERVAL_MS = 1_000
/** Longer than an interval with all its jitter. */
const ONE_CYCLE_MS = 1_200
const KEY = { limit: 'openai', key: 'acme' }

function startUnblock(world: World, batcher = world.batcher, namespace?: string): Engine {
  const { runtime, log } = world
  const filter = namespace === undefined ? undefined : { namespace }
  return startEngine({ batcher, runtime, log, filter, intervals: only('unblock', INTERVAL_MS) })
}

function repairedCount(engine: Engine): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'unblock', case: 'overdue_gate' })
}

/** An execution that a limit blocks until a gate opens. */
async function blocked(world: World, lane = 'main', namespace = 'default'): Promise<ExecutionId> {
  const id = await world.submit({
    lane,
    namespace,
    limits: [{ ...KEY, weight: 1, instead: undefined, budget: undefined }],
  })
  const [claimed] = await world.claim(lane)
  if (claimed === undefined) throw new Error('the test needs a claim')
  const { executionId, fence } = claimed
  const refusal = { executionId, fence, ...KEY, cause: 'concurrency', retryAfterMs: undefined } as const
  await world.batcher.run('fp:0', 'blockExecution', refusal)
  return id
}

async function phaseOf(world: World, id: ExecutionId): Promise<string | undefined> {
  return (await world.executions()).find((execution) => execution.id === id)?.state.phase
}

test('what a gate blocks for longer than it should is released, and the repair is counted and logged', async () => {
  const world = createWorld()
  const executionId = await blocked(world)
  await using engine = startUnblock(world)

  await world.runtime.advance(LIMIT_PROBE_MS + LIMIT_OVERDUE_MS + ONE_CYCLE_MS)

  expect(await phaseOf(world, executionId)).toBe('eligible')
  expect(repairedCount(engine)).toBe(1)
  const warnings = world.log.lines.filter((line) => line.level === 'warn').map((line) => line.fields)
  expect(warnings).toEqual([{ scanner: 'unblock', partition: 'fp:0', problem: 'overdue_gate', executionId }])
})

test('what a gate will release in time is left alone, and nothing is logged', async () => {
  const world = createWorld()
  await blocked(world)
  const before = await world.store.dump('fp:0')
  await using engine = startUnblock(world)

  await world.runtime.advance(LIMIT_OVERDUE_MS)

  expect(await world.store.dump('fp:0')).toEqual(before)
  expect(engine.status().find(({ scanner }) => scanner === 'unblock')).toMatchObject({ errorCount: 0 })
  expect(world.log.lines).toEqual([])
})

test('two engines release it once', async () => {
  const world = createWorld()
  await blocked(world)
  await using first = startUnblock(world)
  await using second = startUnblock(world, new Batcher(world.store, world.runtime))

  await world.runtime.advance(LIMIT_PROBE_MS + LIMIT_OVERDUE_MS + 2 * ONE_CYCLE_MS)

  expect(repairedCount(first) + repairedCount(second)).toBe(1)
  expect(await world.events('execution_unblocked')).toHaveLength(1)
})

test("with a filter, another tenant's executions are left alone", async () => {
  const world = createWorld()
  const executionId = await blocked(world, 'main', 'other')
  await using engine = startUnblock(world, world.batcher, 'acme')

  await world.runtime.advance(LIMIT_PROBE_MS + LIMIT_OVERDUE_MS + 2 * ONE_CYCLE_MS)

  expect(await phaseOf(world, executionId)).toBe('blocked')
  expect(repairedCount(engine)).toBe(0)
})
