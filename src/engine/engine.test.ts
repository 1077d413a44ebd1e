import { describe, expect, test } from 'vitest'
import { DUE_INDEX, DUTY_TTL_MS } from '../kernel/index.ts'
import { silentLog } from '../runtime/index.ts'
import { Batcher } from '../stores/batcher.ts'
import type { EngineError } from '../kernel/engine-error.ts'
import { createWorld, storeWith, valueOf } from './engine.fixture.ts'
import type { World } from './engine.fixture.ts'
import { CLOSE_GRACE_MS, LEAST_INTERVAL_MS, startEngine } from './engine.ts'
import type { EngineOptions } from './engine.ts'
import { only } from './flow.fixture.ts'
import { metricsRegistry } from '../runtime/metrics.ts'

function start(world: World, options: Partial<EngineOptions> = {}) {
  return startEngine({ batcher: world.batcher, runtime: world.runtime, log: silentLog, ...options })
}

test('all scanners run and report their status', async () => {
  const world = createWorld()
  await using engine = start(world)
  await world.submit({ delayMs: 30_500 })

  await world.runtime.advance(120_000)

  const [due, retention, reconciler, ...ofFlows] = engine.status()
  expect(due).toMatchObject({
    kind: 'enabled',
    scanner: 'due',
    everyMs: 5_000,
    restartCount: 0,
    errorCount: 0,
    backoffCount: 0,
    lastCycle: { processed: 0, errors: 0 },
  })
  expect(retention).toMatchObject({ kind: 'enabled', scanner: 'retention_trimmer', everyMs: 60_000 })
  expect(reconciler).toMatchObject({ kind: 'enabled', scanner: 'index_reconciler', everyMs: 45_000 })
  expect(ofFlows).toMatchObject([
    { kind: 'enabled', scanner: 'dependency_reconciler', everyMs: 30_000 },
    { kind: 'enabled', scanner: 'edge_cancel_reconciler', everyMs: 10_000 },
    { kind: 'enabled', scanner: 'cancel_reconciler', everyMs: 15_000 },
    { kind: 'enabled', scanner: 'flow_projector', everyMs: 60_000 },
    { kind: 'enabled', scanner: 'worker_sweep', everyMs: 60_000 },
    { kind: 'enabled', scanner: 'lane_copier', everyMs: 60_000 },
    { kind: 'enabled', scanner: 'excess_trimmer', everyMs: 60_000 },
    { kind: 'enabled', scanner: 'quota_reconciler', everyMs: 30_000 },
    { kind: 'enabled', scanner: 'budget_reconciler', everyMs: 30_000 },
    { kind: 'enabled', scanner: 'unblock', everyMs: 30_000 },
  ])
  for (const status of engine.status()) {
    if (status.kind !== 'enabled') throw new Error('a scanner is off')
    expect(status.cycleCount).toBeGreaterThan(0)
    expect(status.nextRunAt).toBeGreaterThan(world.runtime.now())
    expect(status.nextRunAt).toBeLessThanOrEqual(world.runtime.now() + 1.1 * status.everyMs + 1)
  }
  const promoted = { scanner: 'due', case: 'delayed_promoter' }
  expect(valueOf(engine.metrics, 'ff_scanner_items_total', promoted)).toBe(1)
})

test('ten engines ask a store for little more than one', async () => {
  const world = createWorld(8)
  let operations = 0
  const counted = storeWith(world.store, {
    run: (partition, calls) => {
      operations += calls.length
      return world.store.run(partition, calls)
    },
  })
  const startOne = () => start(world, { batcher: new Batcher(counted, world.runtime) })
  /** Operations in ten minutes, once each engine knows its share. */
  const countOperations = async (): Promise<number> => {
    await world.runtime.advance(DUTY_TTL_MS)
    operations = 0
    await world.runtime.advance(600_000)
    return operations
  }
  await using engines = new AsyncDisposableStack()
  engines.use(startOne())
  const ofOne = await countOperations()
  for (let i = 1; i < 10; i++) engines.use(startOne())

  expect((await countOperations()) / ofOne).toBeLessThan(1.2)
})

test('damage over which one scanner stumbles is repaired by another, and forgotten', async () => {
  const world = createWorld()
  await using engine = start(world, { intervals: { index_reconciler: 10_000 } })
  const id = await world.submit()
  await world.damageIndex('fp:0', DUE_INDEX, id, world.runtime.now())
  await world.runtime.advance(30_000)
  const errors = () => valueOf(engine.metrics, 'ff_scanner_errors_total', { scanner: 'due' })
  const before = errors()
  expect(before).toBeGreaterThan(0)

  await world.runtime.advance(30_000)

  expect(errors()).toBe(before)
  expect(engine.status()[0]).toMatchObject({ scanner: 'due', backoffCount: 0 })
  expect((await world.claim()).map((claimed) => claimed.executionId)).toEqual([id])
})

test('an interval of zero switches a scanner off', async () => {
  const world = createWorld()
  await using engine = start(world, { intervals: only('index_reconciler', 45_000) })
  await world.submit({ delayMs: 1_000 })

  await world.runtime.advance(60_000)

  const enabled = engine.status().filter((status) => status.kind === 'enabled')
  expect(enabled.map(({ scanner }) => scanner)).toEqual(['index_reconciler'])
  expect(await world.events('execution_promoted')).toEqual([])
})

test('an empty filter excludes nothing', async () => {
  const world = createWorld()
  await using _engine = start(world, { filter: {} })
  await world.submit({ namespace: 'anyone', delayMs: 1_000 })

  await world.runtime.advance(1_000)

  expect(await world.events('execution_promoted')).toHaveLength(1)
})

test('metrics go where they are wanted', async () => {
  const world = createWorld()
  const metrics = metricsRegistry()
  await using engine = start(world, { metrics })
  await world.runtime.advance(0)

  expect(engine.metrics).toBe(metrics)
  expect(valueOf(metrics, 'ff_scanner_cycle_total', { scanner: 'due' })).toBe(1)
})

describe('settings that make no sense are refused by name', () => {
  test.each<[string, Record<string, number>]>([
    ['intervals.due', { due: -1 }],
    ['intervals.due', { due: LEAST_INTERVAL_MS - 1 }],
    ['intervals.retention_trimmer', { retention_trimmer: 1_000.5 }],
    ['intervals.index_reconciler', { index_reconciler: Number.NaN }],
    ['intervals', { unheard_of: 1_000 }],
  ])('%s %j', (field, intervals) => {
    const world = createWorld()
    const refusal = expect.objectContaining({
      code: 'invalid_configuration',
      detail: expect.objectContaining({ field }) as EngineError['detail'],
    }) as EngineError

    expect(() => start(world, { intervals })).toThrow(refusal)
    expect(world.runtime.nextTimerAt()).toBeUndefined()
  })
})

describe('closing', () => {
  test('stops everything and leaves nothing behind, however often it is asked', async () => {
    const world = createWorld()
    const engine = start(world)
    await world.runtime.advance(5_000)

    expect(await Promise.all([engine.close(), engine.close()])).toEqual([0, 0])
    await engine[Symbol.asyncDispose]()

    await world.submit({ delayMs: 1_000 })
    expect(world.runtime.nextTimerAt()).toBeUndefined()
  })

  test('lets a call under way finish', async () => {
    const world = createWorld()
    await world.submit({ delayMs: 1_000 })
    world.runtime.jump(1_000)
    const engine = start(world)
    await new Promise<void>((resolve) => world.runtime.soon(resolve))

    await engine.close()

    expect(await world.events('execution_promoted')).toHaveLength(1)
  })

  test('does not wait for ever for a store that does not answer', async () => {
    const world = createWorld()
    const silent = storeWith(world.store, { run: () => new Promise(() => undefined) })
    const batcher = new Batcher(silent, world.runtime)
    const engine = start(world, { batcher, log: world.log })
    await world.runtime.advance(0)

    const closed = engine.close()
    await world.runtime.advance(CLOSE_GRACE_MS)

    expect(await closed).toBe(2)
    expect(world.log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { unfinished: 2 } })
  })
})
