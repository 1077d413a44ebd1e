import { expect, test } from 'vitest'
import { MEMBER_PAGE_MAX } from '../../kernel/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { completeReady, flowRecord, many, only, submitFlow } from '../flow.fixture.ts'
import type { Submitted } from '../flow.fixture.ts'

const INTERVAL_MS = 1_000
/** Longer than an interval with all its jitter. */
const ONE_CYCLE_MS = 1_200

function startProjector(world: World, batcher = world.batcher, namespace?: string): Engine {
  const { runtime, log } = world
  const filter = namespace === undefined ? undefined : { namespace }
  return startEngine({ batcher, runtime, log, filter, intervals: only('flow_projector', INTERVAL_MS) })
}

function driftCount(engine: Engine, what: string): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'flow_projector', case: what })
}

/** One member too many is counted as running. */
async function miscount(world: World, flow: Submitted): Promise<void> {
  const record = await flowRecord(world, flow)
  const counts = { ...record.counts, active: record.counts.active + 1 }
  await world.write(flow.partition, (tx) => tx.put({ ...record, counts }))
}

test('a flow that does not count what it holds is counted and warned of, and nothing is changed', async () => {
  const world = createWorld()
  await submitFlow(world, { a: {} })
  const flow = await submitFlow(world, { a: {}, b: { after: ['a'] } })
  await miscount(world, flow)
  const before = await world.store.dump('fp:0')
  await using engine = startProjector(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  const warnings = world.log.lines.filter((line) => line.level === 'warn')
  expect(driftCount(engine, 'active')).toBe(warnings.length)
  expect(warnings[0]?.fields).toEqual({
    scanner: 'flow_projector',
    partition: 'fp:0',
    flowId: flow.flowId,
    what: 'active',
    recorded: 1,
    counted: 0,
  })
  expect(await world.store.dump('fp:0')).toEqual(before)
})

test('nothing is logged for exact counts, also of a large flow', async () => {
  const world = createWorld()
  await submitFlow(world, { a: {}, b: { after: ['a'] }, c: { after: ['a'] }, d: { after: ['b', 'c'] } })
  await submitFlow(world, { root: {}, ...many('leaf', 2 * MEMBER_PAGE_MAX, { after: ['root'] }) })
  await completeReady(world)
  await using engine = startProjector(world)

  await world.runtime.advance(3 * ONE_CYCLE_MS)

  expect(engine.status()[6]).toMatchObject({ scanner: 'flow_projector', lastCycle: { processed: 0 }, errorCount: 0 })
  expect(world.log.lines).toEqual([])
})

test('two engines each report a drift, and neither changes anything', async () => {
  const world = createWorld()
  const flow = await submitFlow(world, { a: {} })
  await miscount(world, flow)
  const before = await world.store.dump('fp:0')
  await using first = startProjector(world)
  await using second = startProjector(world, new Batcher(world.store, world.runtime))

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(Math.min(driftCount(first, 'active'), driftCount(second, 'active'))).toBeGreaterThan(0)
  expect(await world.store.dump('fp:0')).toEqual(before)
})

test('with a filter, the flows of other tenants are not examined', async () => {
  const world = createWorld()
  await miscount(world, await submitFlow(world, { a: {} }, { namespace: 'other' }))
  await using engine = startProjector(world, world.batcher, 'acme')

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(driftCount(engine, 'active')).toBe(0)
})
