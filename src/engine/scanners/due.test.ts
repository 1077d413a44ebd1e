import { describe, expect, test } from 'vitest'
import { CANCEL_GRACE_DEFAULT_MS, DUE_INDEX, LEASE_TTL_DEFAULT_MS, OPERATION_WORK_LIMIT } from '../../kernel/index.ts'
import type { DueCaseName, EventType, ExecutionId } from '../../kernel/index.ts'
import { silentLog } from '../../runtime/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { only } from '../flow.fixture.ts'

interface TimedCase {
  readonly name: DueCaseName
  readonly dueInMs: number
  readonly event: EventType
  readonly arrange: (world: World) => Promise<ExecutionId>
}

const timedCases: readonly TimedCase[] = [
  {
    name: 'delayed_promoter',
    dueInMs: 10_000,
    event: 'execution_promoted',
    arrange: (world) => world.submit({ delayMs: 10_000 }),
  },
  {
    name: 'lease_expiry',
    dueInMs: LEASE_TTL_DEFAULT_MS,
    event: 'lease_expired',
    arrange: async (world) => {
      const id = await world.submit()
      await world.claim()
      return id
    },
  },
  {
    name: 'attempt_timeout',
    dueInMs: 5_000,
    event: 'execution_ended',
    arrange: async (world) => {
      const id = await world.submit({ attemptTimeoutMs: 5_000 })
      await world.claim()
      return id
    },
  },
  {
    name: 'execution_deadline',
    dueInMs: 20_000,
    event: 'execution_ended',
    arrange: (world) => world.submit({ totalTimeoutMs: 20_000 }),
  },
  {
    name: 'cancel_grace',
    dueInMs: 10_000,
    event: 'execution_ended',
    arrange: async (world) => {
      const executionId = await world.submit()
      await world.claim()
      const wish = { executionId, reason: 'enough', by: 'operator', force: false, graceMs: 10_000 }
      await world.batcher.run('fp:0', 'cancelExecution', wish)
      return executionId
    },
  },
]

/** Only the due pass; its interval is so long that it comes by timers and wake-ups alone. */
function startDue(world: World, batcher = world.batcher): Engine {
  return startEngine({
    batcher,
    runtime: world.runtime,
    log: silentLog,
    intervals: only('due', 3_600_000),
  })
}

function countOf(engine: Engine, name: DueCaseName): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'due', case: name })
}

describe.each(timedCases)('$name', ({ name, dueInMs, event, arrange }) => {
  test('what is due is done, and counted under its own name', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    const id = await arrange(world)

    await world.runtime.advance(dueInMs)

    expect((await world.events(event)).map((done) => done.executionId)).toEqual([id])
    expect(countOf(engine, name)).toBe(1)
  })

  test('executions that are not due are unchanged', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    await arrange(world)
    const before = await world.executions()

    await world.runtime.advance(dueInMs - 1)

    expect(await world.executions()).toEqual(before)
    expect(await world.events(event)).toEqual([])
    expect(countOf(engine, name)).toBe(0)
  })

  test('two engines do it once', async () => {
    const world = createWorld()
    await using first = startDue(world)
    await using second = startDue(world, new Batcher(world.store, world.runtime))
    const ids: ExecutionId[] = []
    for (let i = 0; i < 5; i++) ids.push(await arrange(world))

    await world.runtime.advance(dueInMs)

    const done = (await world.events(event)).map((one) => one.executionId)
    expect(done.toSorted()).toEqual(ids.toSorted())
    expect(countOf(first, name) + countOf(second, name)).toBe(ids.length)
  })

  test('what came due while no engine ran is done as soon as one starts', async () => {
    const world = createWorld()
    const id = await arrange(world)
    world.runtime.jump(dueInMs + 2_000)

    await using engine = startDue(world)
    await world.runtime.advance(0)

    expect((await world.events(event)).map((done) => done.executionId)).toEqual([id])
    expect(valueOf(engine.metrics, 'ff_scanner_lag_seconds', { scanner: 'due' })).toBe(2)
  })
})

test('an attempt that timed out is retried when its policy allows it, after the delay that the policy names', async () => {
  const world = createWorld()
  await using engine = startDue(world)
  const retry = { attempts: 2, backoff: { kind: 'fixed', delayMs: 7_000 } as const, jitter: false, onlyCategories: [] }
  await world.submit({ attemptTimeoutMs: 5_000, retry })
  await world.claim()

  await world.runtime.advance(5_000)
  expect((await world.executions())[0]?.state.phase).toBe('delayed')
  await world.runtime.advance(7_000)

  expect((await world.executions())[0]?.state.phase).toBe('eligible')
  expect([countOf(engine, 'attempt_timeout'), countOf(engine, 'delayed_promoter')]).toEqual([1, 1])
})

test('a lease that is renewed in time is never taken away', async () => {
  const world = createWorld()
  await using engine = startDue(world)
  await world.submit()
  const [held] = await world.claim()
  for (let i = 0; i < 6; i++) {
    await world.runtime.advance(LEASE_TTL_DEFAULT_MS / 3)
    const renewal = { executionId: held!.executionId, fence: held!.fence, leaseTtlMs: LEASE_TTL_DEFAULT_MS }
    await world.batcher.run('fp:0', 'renewLease', renewal)
  }

  expect((await world.executions())[0]?.state.phase).toBe('active')
  expect(countOf(engine, 'lease_expiry')).toBe(0)
})

test('a lane without configuration is processed like any other', async () => {
  const world = createWorld(2)
  await using engine = startDue(world)
  const lanes = Array.from({ length: 80 }, (_, i) => `lane-${i}`)
  for (const [i, lane] of lanes.entries()) {
    const partition = i % 2
    await world.submit({ partition, lane })
    await world.claim(lane, partition)
    await world.submit({ partition, lane, delayMs: 1_000 })
    await world.submit({ partition, lane, totalTimeoutMs: 2_000 })
  }

  await world.runtime.advance(LEASE_TTL_DEFAULT_MS)

  for (const [event, type] of [
    ['execution_promoted', 'delayed_promoter'],
    ['execution_ended', 'execution_deadline'],
    ['lease_expired', 'lease_expiry'],
  ] as const) {
    const seen = (await world.events(event)).map((one) => one.lane)
    expect(seen.toSorted()).toEqual(lanes.toSorted())
    expect(countOf(engine, type)).toBe(lanes.length)
  }
})

test('more than one call may do is done in one pass', async () => {
  const world = createWorld()
  const count = 5 * OPERATION_WORK_LIMIT + 1
  for (let i = 0; i < count; i++) await world.submit({ delayMs: 1_000 })
  world.runtime.jump(1_000)
  await using engine = startDue(world)

  await world.runtime.advance(0)

  expect(countOf(engine, 'delayed_promoter')).toBe(count)
  expect(await world.events('execution_promoted')).toHaveLength(count)
})

test('an engine with a filter processes the executions of its tenant only, also behind many others', async () => {
  const world = createWorld()
  for (let i = 0; i < 450; i++) await world.submit({ namespace: 'other', delayMs: 1_000 })
  const tagged = { namespace: 'acme', tags: [{ name: 'instance', value: 'a', indexed: false }], delayMs: 2_000 }
  const mine = await world.submit(tagged)
  await world.submit({ namespace: 'acme', delayMs: 2_000 })
  await using engine = startEngine({
    batcher: world.batcher,
    runtime: world.runtime,
    log: silentLog,
    filter: { namespace: 'acme', tag: { name: 'instance', value: 'a' } },
    intervals: only('due', 5_000),
  })

  await world.runtime.advance(5_000)

  expect((await world.events('execution_promoted')).map((one) => one.executionId)).toEqual([mine])
  expect(countOf(engine, 'delayed_promoter')).toBe(1)
})

test('a record that cannot be processed delays no other, and is skipped after three failures', async () => {
  const world = createWorld()
  const poisoned = await world.submit()
  await world.damageIndex('fp:0', DUE_INDEX, poisoned, world.runtime.now())
  const delayed = [await world.submit({ delayMs: 500 }), await world.submit({ delayMs: 20_000 })]
  await using engine = startEngine({
    batcher: world.batcher,
    runtime: world.runtime,
    log: world.log,
    intervals: only('due', 1_000),
  })
  const errors = () => valueOf(engine.metrics, 'ff_scanner_errors_total', { scanner: 'due' })
  const complaints = () => world.log.lines.filter((line) => line.level === 'error')

  await world.runtime.advance(500)
  expect((await world.events('execution_promoted')).map((one) => one.executionId)).toEqual([delayed[0]])

  await world.runtime.advance(4_000)
  expect(errors()).toBe(3)
  expect(complaints().map((line) => line.fields)).toEqual([
    { scanner: 'due', partition: 'fp:0', item: poisoned, failures: 3, backoffCycles: 10 },
  ])
  expect(valueOf(engine.metrics, 'ff_scanner_backoff_items', { scanner: 'due' })).toBe(1)

  await world.runtime.advance(15_500)
  expect(await world.events('execution_promoted')).toHaveLength(2)
  expect(errors()).toBeGreaterThan(3)
})

test('a cancel that its holder answers is not carried out a second time', async () => {
  const world = createWorld()
  await using engine = startDue(world)
  const executionId = await world.submit()
  const [held] = await world.claim()
  const wish = { executionId, reason: 'enough', by: 'operator', force: false, graceMs: CANCEL_GRACE_DEFAULT_MS }
  await world.batcher.run('fp:0', 'cancelExecution', wish)
  await world.batcher.run('fp:0', 'cancelExecution', { ...wish, fence: held!.fence })

  await world.runtime.advance(CANCEL_GRACE_DEFAULT_MS)

  expect(await world.events('execution_ended')).toHaveLength(1)
  expect(countOf(engine, 'cancel_grace')).toBe(0)
})
