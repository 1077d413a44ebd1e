import { expect, test } from 'vitest'
import type { AnyRecord, Tx } from '../../kernel/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { completeReady, countsOf, flowRecord, memberRecord, only, submitFlow } from '../flow.fixture.ts'
import type { Submitted } from '../flow.fixture.ts'

const INTERVAL_MS = 1_000
/** Longer than an interval with all its jitter. */
const ONE_CYCLE_MS = 1_200

function startReconciler(world: World, batcher = world.batcher, namespace?: string): Engine {
  const { runtime, log } = world
  const filter = namespace === undefined ? undefined : { namespace }
  return startEngine({ batcher, runtime, log, filter, intervals: only('dependency_reconciler', INTERVAL_MS) })
}

function repairedCount(engine: Engine, problem: string): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'dependency_reconciler', case: problem })
}

/** Completes `a` of a flow a → b, and takes back whatever that did to `b`. */
async function missedEnd(world: World, namespace = 'default'): Promise<Submitted> {
  const flow = await submitFlow(world, { a: {}, b: { after: ['a'] } }, { namespace })
  const before = await world.store.dump('fp:0')
  await completeReady(world)
  const isOld = (record: AnyRecord) =>
    record.type === 'edge' ? record.downstreamId === flow.idOf('b') : record.id === flow.idOf('b')
  const counted = await flowRecord(world, flow)
  await world.write('fp:0', (tx: Tx) => {
    for (const record of before.records.filter(isOld)) tx.put(record)
    tx.put({ ...counted, counts: { ...counted.counts, waiting: 0, waiting_dependencies: 1 } })
  })
  return flow
}

test('a member that missed the end of an upstream is repaired, and the repair is counted and logged', async () => {
  const world = createWorld()
  const flow = await missedEnd(world)
  await using engine = startReconciler(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(await countsOf(world, flow)).toEqual({ completed: 1, waiting: 1 })
  expect(repairedCount(engine, 'unresolved_edge')).toBe(1)
  const warnings = world.log.lines.filter((line) => line.level === 'warn').map((line) => line.fields)
  expect(warnings).toEqual([
    {
      scanner: 'dependency_reconciler',
      partition: 'fp:0',
      problem: 'unresolved_edge',
      executionId: flow.idOf('b'),
    },
  ])
})

test('a member whose group was decided without it is moved on', async () => {
  const world = createWorld()
  const flow = await submitFlow(world, { a: {}, b: { after: ['a'] } })
  await completeReady(world)
  const counted = await flowRecord(world, flow)
  const moved = await memberRecord(world, flow, 'b')
  await world.write('fp:0', (tx) => {
    tx.put({ ...moved, state: { phase: 'blocked', by: 'dependencies', gate: undefined } })
    tx.put({ ...counted, counts: { ...counted.counts, waiting: 0, waiting_dependencies: 1 } })
  })
  await using engine = startReconciler(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(await countsOf(world, flow)).toEqual({ completed: 1, waiting: 1 })
  expect(repairedCount(engine, 'unmoved')).toBe(1)
})

test('members with open dependencies are unchanged, and nothing is logged', async () => {
  const world = createWorld()
  await submitFlow(world, { a: {}, b: { after: ['a'] }, c: { after: ['a', 'b'], policy: { policy: 'any_of' } } })
  const before = await world.store.dump('fp:0')
  await using engine = startReconciler(world)

  await world.runtime.advance(5 * ONE_CYCLE_MS)

  expect(await world.store.dump('fp:0')).toEqual(before)
  expect(engine.status()[3]).toMatchObject({ scanner: 'dependency_reconciler', errorCount: 0 })
  expect(world.log.lines).toEqual([])
})

test('two engines repair it once', async () => {
  const world = createWorld()
  const flow = await missedEnd(world)
  await using first = startReconciler(world)
  await using second = startReconciler(world, new Batcher(world.store, world.runtime))

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(await countsOf(world, flow)).toEqual({ completed: 1, waiting: 1 })
  expect(repairedCount(first, 'unresolved_edge') + repairedCount(second, 'unresolved_edge')).toBe(1)
})

test("with a filter, another tenant's members are left alone", async () => {
  const world = createWorld()
  const flow = await missedEnd(world, 'other')
  await using engine = startReconciler(world, world.batcher, 'acme')

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(await countsOf(world, flow)).toEqual({ completed: 1, waiting_dependencies: 1 })
  expect(repairedCount(engine, 'unresolved_edge')).toBe(0)
})
