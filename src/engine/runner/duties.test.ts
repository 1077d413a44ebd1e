import { describe, expect, test } from 'vitest'
import { DUTY_TTL_MS } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { Batcher } from '../../stores/batcher.ts'
import type { Partition, Store } from '../../stores/store.ts'
import { createWorld, recordingLog, storeWith, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { Duties, RENEWALS_PER_LOOK, RENEW_EVERY_MS } from './duties.ts'
import { metricsRegistry } from '../../runtime/metrics.ts'
import { Runner } from './runner.ts'
import { scanner } from './scanner.ts'
import type { Scanner } from './scanner.ts'

const ALL: readonly Partition[] = ['fp:0', 'fp:1', 'fp:2', 'q:0', 'm:0']
const FIRST_MS = 1
const LOOK_EVERY_MS = RENEWALS_PER_LOOK * RENEW_EVERY_MS

/** A world with three execution partitions. */
const createStore = () => createWorld(3)

/** An engine that does nothing but to keep its share. */
function engine(world: World, store: Store = world.store) {
  const metrics = metricsRegistry()
  const log = recordingLog()
  const batcher = new Batcher(store, world.runtime)
  const duties = new Duties({ batcher, runtime: world.runtime, log, metrics })
  const stop = new AbortController()
  const running = duties.run(stop.signal)
  return {
    duties,
    log,
    signal: stop.signal,
    metrics,
    held: () => ALL.filter((partition) => duties.holds(partition)),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

/** A store that can be cut off. */
function unsteady(world: World) {
  let failure: EngineError | undefined
  const store = storeWith(world.store, {
    run: (partition, calls) => (failure === undefined ? world.store.run(partition, calls) : Promise.reject(failure)),
  })
  return { store, fail: (error: EngineError | undefined) => (failure = error) }
}

const sharesOf = (engines: readonly { held(): Partition[] }[]) => engines.flatMap((one) => one.held()).sort()

describe('the share of an engine', () => {
  test('is everything for an engine alone, and before the store has answered', async () => {
    const world = createStore()
    await using alone = engine(world)

    expect(alone.held()).toEqual(ALL)
    await world.runtime.advance(10 * DUTY_TTL_MS)

    expect(alone.held()).toEqual(ALL)
    expect(valueOf(alone.metrics, 'ff_engine_partitions_held', {})).toBe(5)
  })

  test('is divided with engines that start later, and given back by one that closes', async () => {
    const world = createStore()
    await using first = engine(world)
    await world.runtime.advance(FIRST_MS)
    const second = engine(world)
    await world.runtime.advance(RENEW_EVERY_MS)

    expect(sharesOf([first, second])).toEqual([...ALL].sort())
    expect([first.held().length, second.held().length]).toEqual([3, 2])
    expect(valueOf(first.metrics, 'ff_engine_partitions_held', {})).toBe(3)

    await second[Symbol.asyncDispose]()
    await world.runtime.advance(RENEW_EVERY_MS)
    expect(first.held()).toEqual(ALL)
  })

  test('of an engine that vanished goes to the others when it has expired', async () => {
    const world = createStore()
    const { store, fail } = unsteady(world)
    await using _vanished = engine(world, store)
    await using other = engine(world)
    await world.runtime.advance(RENEW_EVERY_MS)
    fail(new EngineError('store_unavailable'))

    await world.runtime.advance(RENEW_EVERY_MS)
    expect(other.held().length).toBeLessThan(ALL.length)
    await world.runtime.advance(DUTY_TTL_MS + RENEW_EVERY_MS)

    expect(other.held()).toEqual(ALL)
  })

  test('is nothing for an engine beyond the number of partitions, which asks seldom until one is free', async () => {
    const world = createStore()
    const holders = ALL.map(() => engine(world))
    await world.runtime.advance(RENEW_EVERY_MS)
    let calls = 0
    const store = storeWith(world.store, {
      run: (partition, list) => {
        calls += 1
        return world.store.run(partition, list)
      },
    })
    await using spare = engine(world, store)
    await world.runtime.advance(10 * LOOK_EVERY_MS)

    expect([spare.held(), calls]).toEqual([[], 11])

    for (const holder of holders) await holder[Symbol.asyncDispose]()
    await world.runtime.advance(LOOK_EVERY_MS)
    expect(spare.held()).toEqual(ALL)
  })

  test('of an engine without partitions is asked for again soon if a look fails', async () => {
    const world = createStore()
    const holders = ALL.map(() => engine(world))
    await world.runtime.advance(RENEW_EVERY_MS)
    const { store, fail } = unsteady(world)
    await using spare = engine(world, store)
    await world.runtime.advance(FIRST_MS)
    fail(new EngineError('store_unavailable'))
    for (const holder of holders) await holder[Symbol.asyncDispose]()

    await world.runtime.advance(LOOK_EVERY_MS)
    expect(spare.held()).toEqual([])
    expect(spare.log.lines.map(({ level }) => level)).toEqual(['warn'])
    fail(undefined)
    await world.runtime.advance(RENEW_EVERY_MS)

    // Known from an answer, not from the end of the share.
    expect(spare.held()).toEqual(ALL)
    expect((await world.store.dump('m:0')).records).toMatchObject([{ type: 'duties', engines: [{ partitions: ALL }] }])
  })

  test('is kept for as long as it is valid while the store is away, and is everything after that', async () => {
    const world = createStore()
    const { store, fail } = unsteady(world)
    await using cut = engine(world, store)
    await using _other = engine(world)
    await world.runtime.advance(RENEW_EVERY_MS + FIRST_MS)
    const before = cut.held()
    fail(new EngineError('store_unavailable'))

    await world.runtime.advance(DUTY_TTL_MS - RENEW_EVERY_MS)
    expect(cut.held()).toEqual(before)
    await world.runtime.advance(RENEW_EVERY_MS)
    expect(cut.held()).toEqual(ALL)
    expect(cut.log.lines.map(({ level }) => level)).toEqual(['warn'])

    fail(undefined)
    await world.runtime.advance(2 * RENEW_EVERY_MS)
    expect(cut.held().length).toBeLessThan(ALL.length)
  })

  test('is everything on a store of the first level, which is asked nothing', async () => {
    const world = createStore()
    let calls = 0
    const store = storeWith(world.store, {
      level: 1,
      run: (partition, list) => {
        calls += 1
        return world.store.run(partition, list)
      },
    })
    await using old = engine(world, store)

    await world.runtime.advance(DUTY_TTL_MS)

    expect([calls, old.held()]).toEqual([0, ALL])
  })

  test('is warned of once if it is refused for good', async () => {
    const world = createStore()
    const { store, fail } = unsteady(world)
    fail(new EngineError('corruption', { field: 'duties' }))
    await using refused = engine(world, store)

    await world.runtime.advance(3 * DUTY_TTL_MS)

    expect(refused.held()).toEqual(ALL)
    expect(refused.log.lines.map(({ level }) => level)).toEqual(['warn'])
  })

  test('does not delay a close for long if the store does not answer', async () => {
    const world = createStore()
    let isSilent = false
    const store = storeWith(world.store, {
      run: (partition, calls) => (isSilent ? new Promise(() => undefined) : world.store.run(partition, calls)),
    })
    const silent = engine(world, store)
    await world.runtime.advance(FIRST_MS)
    isSilent = true

    const closed = silent[Symbol.asyncDispose]()
    await world.runtime.advance(1_000)

    await closed
    expect(world.runtime.nextTimerAt()).toBeUndefined()
  })
})

describe('a divided scanner', () => {
  const MINUTE_MS = 60_000

  /** Runs a scanner that notes its visits, with a share of two partitions. */
  async function visitsOf(options: Partial<Scanner>, share: readonly Partition[] | undefined): Promise<string[]> {
    const world = createStore()
    const visits: string[] = []
    const definition = scanner<string, unknown>({
      name: 'visitor',
      everyMs: MINUTE_MS,
      isDivided: true,
      scan: ({ name }) => {
        visits.push(name)
        return Promise.resolve({ counts: {}, depth: 1 })
      },
      ...options,
    })
    const duties = share === undefined ? undefined : { holds: (partition: Partition) => share.includes(partition) }
    const runner = new Runner(definition, {
      batcher: world.batcher,
      runtime: world.runtime,
      log: world.log,
      metrics: metricsRegistry(),
      duties,
    })
    const stop = new AbortController()
    const running = runner.run(stop.signal)
    await world.runtime.advance(1.5 * MINUTE_MS)
    stop.abort()
    await running
    return visits
  }

  test('visits the partitions of its share, and all without one', async () => {
    expect(new Set(await visitsOf({}, ['fp:0', 'fp:2']))).toEqual(new Set(['fp:0', 'fp:2']))
    expect(new Set(await visitsOf({}, undefined))).toEqual(new Set(['fp:0', 'fp:1', 'fp:2']))
    expect(new Set(await visitsOf({ isDivided: false }, []))).toEqual(new Set(['fp:0', 'fp:1', 'fp:2']))
  })

  test('that follows timers learns those of every partition in its first cycle', async () => {
    const visits = await visitsOf({ followsTimers: true }, ['fp:1'])

    expect(visits).toEqual(['fp:0', 'fp:1', 'fp:2', 'fp:1'])
  })
})

test('a reconciler examines no more in a larger store', async () => {
  const world = createWorld(10)
  const steps: string[] = []
  const definition = scanner<string, number>({
    name: 'walker',
    everyMs: 10_000,
    continues: 'next_cycle',
    examinedPerSecond: 100,
    scan: ({ name }) => {
      steps.push(name)
      return Promise.resolve({ counts: {}, examined: 20, next: 1 })
    },
  })
  const { batcher, runtime, log } = world
  const runner = new Runner(definition, { batcher, runtime, log, metrics: metricsRegistry() })
  const stop = new AbortController()
  const running = runner.run(stop.signal)

  await world.runtime.advance(100_000)
  stop.abort()
  await running

  const perSecond = (steps.length * 20) / 100
  expect(perSecond).toBeGreaterThan(80)
  expect(perSecond).toBeLessThanOrEqual(120)
})
