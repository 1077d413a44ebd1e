import { describe, expect, test } from 'vitest'
import { sleep } from '../../runtime/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Partition } from '../../stores/store.ts'
import { createWorld, storeWith, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { TRACKED_ITEMS_MAX } from './failure-tracker.ts'
import { metricsRegistry } from '../../runtime/metrics.ts'
import { Runner, UNKNOWN_CHANGE_MS } from './runner.ts'
import { scanner } from './scanner.ts'
import type { ScanContext, ScanResult, Scanner } from './scanner.ts'
import { INTERVAL_JITTER, LEAST_PAUSE_MS } from './schedule.ts'
import { PARTITIONS_AT_ONCE } from './visits.ts'
import { due } from '../scanners/due.ts'

const NOTHING: ScanResult<never> = { counts: {} }
const HOUR_MS = 3_600_000

interface Running extends AsyncDisposable {
  readonly runner: Runner<unknown>
  readonly metrics: ReturnType<typeof metricsRegistry>
  readonly signal: AbortSignal
  stop(): void
}

/** Runs a scanner until the test is over. */
function run<Cursor>(world: World, definition: Scanner<string, Cursor>): Running {
  const { batcher, runtime, log } = world
  const metrics = metricsRegistry()
  const runner = new Runner(definition, { batcher, runtime, log, metrics })
  const stop = new AbortController()
  const running = runner.run(stop.signal)
  return {
    runner: runner as Runner<unknown>,
    metrics,
    signal: stop.signal,
    stop: () => stop.abort(),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

/** A scanner that notes when and where it came. */
function visitor(options: Partial<Scanner> & { readonly answer?: (visit: number) => ScanResult<unknown> } = {}) {
  const visits: { readonly at: number; readonly partition: Partition; readonly context: ScanContext<unknown> }[] = []
  const bind = (world: World) =>
    scanner<string, unknown>({
      name: 'visitor',
      everyMs: HOUR_MS,
      scan: (partition, context) => {
        visits.push({ at: world.runtime.monotonic(), partition: partition.name, context })
        return Promise.resolve(options.answer?.(visits.length) ?? NOTHING)
      },
      ...options,
    })
  return { visits, bind, times: () => visits.map((visit) => visit.at) }
}

describe('pacing', () => {
  test('a scanner that follows timers comes at once; any other somewhere within its first interval', async () => {
    const world = createWorld()
    const prompt = visitor({ followsTimers: true })
    const others = Array.from({ length: 20 }, () => visitor({ everyMs: 10_000 }))
    await using stack = new AsyncDisposableStack()
    for (const { bind } of [prompt, ...others]) stack.use(run(world, bind(world)))

    await world.runtime.advance(10_000)

    expect(prompt.times()[0]).toBe(0)
    const first = others.map((other) => other.times()[0]!)
    expect(Math.max(...first)).toBeLessThan(10_000)
    expect(new Set(first).size).toBeGreaterThan(10)
  })

  test('cycles keep to their interval within the jitter', async () => {
    const world = createWorld()
    const { bind, times } = visitor({ everyMs: 1_000, followsTimers: true })
    await using _running = run(world, bind(world))

    await world.runtime.advance(50_000)

    const pauses = times()
      .slice(1)
      .map((at, i) => at - times()[i]!)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000 * (1 - INTERVAL_JITTER))
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_000 * (1 + INTERVAL_JITTER) + 1)
    expect(new Set(pauses).size).toBeGreaterThan(10)
  })

  test('it sleeps until the next timer of a partition and then looks at that partition alone', async () => {
    const world = createWorld(2)
    await world.submit({ partition: 1, delayMs: 7_000 })
    const start = world.runtime.now()
    const { bind, visits } = visitor({
      followsTimers: true,
      answer: (visit) => (visit === 2 ? { counts: {}, at: start, nextDueAt: start + 7_000 } : NOTHING),
    })
    await using running = run(world, bind(world))
    await world.runtime.advance(0)
    expect(running.runner.status().nextRunAt).toBe(start + 7_000)

    await world.runtime.advance(HOUR_MS / 2)

    expect(visits.map(({ at, partition }) => ({ at, partition }))).toEqual([
      { at: 0, partition: 'fp:0' },
      { at: 0, partition: 'fp:1' },
      { at: 7_000, partition: 'fp:1' },
    ])
  })

  test('a timer that is set earlier than planned wakes it in time', async () => {
    const world = createWorld()
    await using running = run(world, { ...due, everyMs: HOUR_MS })
    await world.submit({ delayMs: 60_000 })
    await world.submit({ delayMs: 1_000 })
    await world.submit({ delayMs: 30_000 })

    await world.runtime.advance(1_000)
    expect(await world.events('execution_promoted')).toHaveLength(1)
    expect(running.runner.status().nextRunAt).toBe(world.runtime.now() + 29_000)
    await world.runtime.advance(59_000)

    expect(await world.events('execution_promoted')).toHaveLength(3)
  })

  test('a wake-up that does not name its change causes a visit soon, and a burst of them causes one', async () => {
    const world = createWorld()
    const { bind, times } = visitor({ followsTimers: true })
    // A store shared with another process learns only that something has changed.
    let tell: (() => void) | undefined
    const shared = storeWith(world.store, {
      onWake: (listener) => {
        tell = () => listener({ partition: 'fp:0', hasEvents: true })
        return () => (tell = undefined)
      },
    })
    const batcher = new Batcher(shared, world.runtime)
    await using running = run({ ...world, batcher }, bind(world))
    await world.runtime.advance(10)
    for (let i = 0; i < 10; i++) tell?.()

    await world.runtime.advance(1_000)
    expect(times()).toEqual([0, 10 + UNKNOWN_CHANGE_MS])

    running.stop()
    await world.runtime.advance(0)
    expect(tell).toBeUndefined()
  })

  test("timers are read by the store's clock, however far it is from this machine's", async () => {
    for (const skewMs of [-2 * HOUR_MS, 2 * HOUR_MS]) {
      const world = createWorld(1, (runtime) => ({ ...runtime, now: () => runtime.now() + skewMs }))
      await using _running = run(world, { ...due, everyMs: HOUR_MS })
      await world.runtime.advance(0)
      await world.submit({ delayMs: 5_000 })

      await world.runtime.advance(4_999)
      expect(await world.events('execution_promoted')).toEqual([])
      await world.runtime.advance(1)

      expect(await world.events('execution_promoted')).toHaveLength(1)
    }
  })

  test('timers that are due shortly after each other share one pass', async () => {
    const world = createWorld()
    for (let i = 0; i < 100; i++) await world.submit({ delayMs: 1_000 + i })
    let calls = 0
    const counting: typeof due = {
      ...due,
      families: ['fp'],
      everyMs: HOUR_MS,
      scan: (partition, context) => {
        calls += 1
        return due.scan(partition, context)
      },
    }
    await using _running = run(world, counting)

    await world.runtime.advance(2_000)

    expect(await world.events('execution_promoted')).toHaveLength(100)
    expect(calls).toBeLessThanOrEqual(2 + 100 / LEAST_PAUSE_MS)
  })

  test('a pass that took many intervals is followed by one pass, not by all that were missed', async () => {
    const world = createWorld()
    const starts: number[] = []
    await using _running = run(
      world,
      scanner({
        name: 'slow',
        everyMs: 1_000,
        followsTimers: true,
        scan: async () => {
          starts.push(world.runtime.monotonic())
          if (starts.length === 1) await sleep(world.runtime, 10_000)
          return NOTHING
        },
      }),
    )

    await world.runtime.advance(10_800)

    expect(starts).toEqual([0, 10_000 + LEAST_PAUSE_MS])
  })
})

describe('more than one step', () => {
  test('a pass runs step by step, each from the cursor of the previous one', async () => {
    const world = createWorld()
    const { bind, visits } = visitor({
      followsTimers: true,
      answer: (visit) => ({ counts: { done: 2 }, next: visit < 5 ? visit : undefined }),
    })
    await using running = run(world, bind(world))

    await world.runtime.advance(0)

    expect(visits.map((visit) => visit.context.from)).toEqual([undefined, 1, 2, 3, 4])
    expect(running.runner.status().lastCycle).toMatchObject({ processed: 10, errors: 0 })
  })

  test('a pass stops at its bound and continues immediately, after the other partitions', async () => {
    const world = createWorld(2)
    const { bind, visits } = visitor({
      followsTimers: true,
      stepsPerPass: 3,
      answer: () => ({
        counts: {},
        next: visits.at(-1)!.partition === 'fp:0' && visits.length < 10 ? visits.length : undefined,
      }),
    })
    await using _running = run(world, bind(world))

    await world.runtime.advance(100)

    const first = visits.filter((visit) => visit.partition === 'fp:0')
    expect(visits.filter((visit) => visit.partition === 'fp:1')).toHaveLength(1)
    expect(first.filter((visit) => visit.at === 0)).toHaveLength(3)
    expect(first.filter((visit) => visit.at === LEAST_PAUSE_MS)).toHaveLength(3)
    expect(first.map((visit) => visit.context.from)).toEqual([undefined, 1, 3, 4, 5, 6, 7, 8, 9])
  })

  test('a pass ends once it has looked at as many items as it may', async () => {
    const world = createWorld()
    const { bind, visits } = visitor({
      everyMs: 1_000,
      followsTimers: true,
      continues: 'next_cycle',
      examinedPerPass: 100,
      answer: (visit) => ({ counts: {}, examined: 40, next: visit }),
    })
    await using running = run(world, bind(world))

    await world.runtime.advance(500)

    expect(running.runner.status().cycleCount).toBe(1)
    expect(visits.map((visit) => visit.context.from)).toEqual([undefined, 1, 2])
  })

  test('a partition that answers slowly delays neither the timers of others nor its own wake-ups', async () => {
    const world = createWorld(3)
    const seen: { readonly partition: Partition; readonly at: number }[] = []
    const SLOW_MS = 1_000
    let tell: (() => void) | undefined
    const shared = storeWith(world.store, {
      onWake: (listener) => {
        tell = () => listener({ partition: 'fp:0', hasEvents: true })
        return () => (tell = undefined)
      },
    })
    const start = world.runtime.now()
    await using running = run(
      { ...world, batcher: new Batcher(shared, world.runtime) },
      scanner({
        name: 'partly slow',
        everyMs: HOUR_MS,
        followsTimers: true,
        scan: async ({ name }) => {
          const at = world.runtime.now()
          seen.push({ partition: name, at })
          if (name === 'fp:0') await sleep(world.runtime, SLOW_MS)
          return { counts: {}, at, nextDueAt: name === 'fp:1' ? at + 100 : undefined }
        },
      }),
    )

    await world.runtime.advance(150)
    tell?.()
    await world.runtime.advance(2 * SLOW_MS)

    const visitsOf = (partition: Partition) =>
      seen.filter((one) => one.partition === partition).map(({ at }) => at - start)
    expect(visitsOf('fp:1').slice(0, 5)).toEqual([0, 100, 200, 300, 400])
    expect(visitsOf('fp:0')).toEqual([0, SLOW_MS + LEAST_PAUSE_MS])
    expect(visitsOf('fp:2')).toEqual([0])
    expect(running.runner.status().cycleCount).toBe(1)
  })

  test('work that can wait runs after the last step of the pass, and its failure is reported', async () => {
    const world = createWorld()
    const done: string[] = []
    const { bind } = visitor({
      everyMs: HOUR_MS,
      followsTimers: true,
      answer: (visit) => {
        done.push(`step ${visit}`)
        const afterwards = () => {
          done.push(`after ${visit}`)
          return visit === 2 ? Promise.reject(new Error('not planned')) : Promise.resolve()
        }
        return { counts: {}, next: visit < 3 ? visit : undefined, afterwards }
      },
    })
    await using running = run(world, bind(world))

    await world.runtime.advance(500)

    expect(done).toEqual(['step 1', 'step 2', 'step 3', 'after 1', 'after 2', 'after 3'])
    expect(running.runner.status().errorCount).toBe(1)
    expect(world.log.lines.map(({ level }) => level)).toContain('error')
  })

  test('an item whose later work keeps failing is skipped for a while, as any other', async () => {
    const world = createWorld()
    const afterwards = () => Promise.reject(new EngineError('corruption', { field: 'broken' }))
    const { visits, bind } = visitor({
      everyMs: 1_000,
      followsTimers: true,
      answer: () => ({ counts: {}, items: ['broken', 'sound'], afterwards }),
    })
    await using running = run(world, bind(world))

    await world.runtime.advance(4_000)

    expect(running.runner.status().backoffCount).toBe(1)
    expect(visits.at(-1)?.context.skip).toEqual(['broken'])
  })

  test('a scan that may wait continues in the next cycle', async () => {
    const world = createWorld()
    const { bind, visits } = visitor({
      everyMs: 1_000,
      followsTimers: true,
      continues: 'next_cycle',
      stepsPerPass: 2,
      answer: (visit) => ({ counts: {}, next: visit }),
    })
    await using running = run(world, bind(world))

    await world.runtime.advance(2_500)

    expect(running.runner.status().cycleCount).toBe(3)
    expect(visits.map((visit) => visit.context.from)).toEqual([undefined, 1, 2, 3, 4, 5])
  })
})

describe('stopping', () => {
  test('no further partition is begun, and no cycle is counted that did not look everywhere', async () => {
    const world = createWorld(2 * PARTITIONS_AT_ONCE)
    const seen: Partition[] = []
    await using running = run(
      world,
      scanner({
        name: 'slow',
        everyMs: HOUR_MS,
        followsTimers: true,
        scan: async (partition) => {
          seen.push(partition.name)
          await sleep(world.runtime, 1_000)
          return NOTHING
        },
      }),
    )
    await world.runtime.advance(500)
    running.stop()

    await world.runtime.advance(10_000)

    expect(seen).toHaveLength(PARTITIONS_AT_ONCE)
    expect(running.runner.status().cycleCount).toBe(0)
  })

  test('no further step is begun', async () => {
    const world = createWorld()
    let steps = 0
    await using running = run(
      world,
      scanner({
        name: 'endless',
        everyMs: HOUR_MS,
        followsTimers: true,
        scan: async () => {
          steps += 1
          await sleep(world.runtime, 1_000)
          return { counts: {}, next: steps }
        },
      }),
    )
    await world.runtime.advance(2_500)
    running.stop()

    await world.runtime.advance(10_000)

    expect(steps).toBe(3)
  })

  test('nothing is left behind: no timer, no listener', async () => {
    const world = createWorld()
    const running = run(world, due)
    await world.runtime.advance(10)

    await running[Symbol.asyncDispose]()
    await world.submit({ delayMs: 10 })

    expect(world.runtime.nextTimerAt()).toBeUndefined()
  })
})

describe('failures', () => {
  /** Fails on each of the given items until it is in `skip`. */
  function stumbling(items: readonly string[]) {
    const tried: string[][] = []
    const bind = scanner<string, never>({
      name: 'stumbling',
      everyMs: 1_000,
      followsTimers: true,
      scan: (_partition, { skip }) => {
        tried.push([...skip])
        const item = items.find((one) => !skip.includes(one))
        if (item !== undefined) return Promise.reject(new EngineError('corruption', { field: item }))
        return Promise.resolve({ counts: { done: 1 } })
      },
    })
    return { tried, bind }
  }

  test('a pass goes round an item that fails, and does the rest at once', async () => {
    const world = createWorld()
    const { tried, bind } = stumbling(['a', 'b'])
    await using running = run(world, bind)

    await world.runtime.advance(0)

    expect(tried).toEqual([[], ['a'], ['a', 'b']])
    expect(running.runner.status()).toMatchObject({ lastCycle: { processed: 1, errors: 2 }, errorCount: 2 })
    expect(valueOf(running.metrics, 'ff_scanner_errors_total', { scanner: 'stumbling' })).toBe(2)
  })

  test('failures of an item with a whole pass between them that it did not disturb are not counted together', async () => {
    const world = createWorld()
    const failsIn = [1, 2, 4, 5]
    let pass = 0
    await using running = run(
      world,
      scanner({
        name: 'moody',
        everyMs: 1_000,
        followsTimers: true,
        scan: (_partition, { skip }) => {
          if (skip.length === 0) pass += 1
          if (skip.length > 0 || !failsIn.includes(pass)) return Promise.resolve(NOTHING)
          return Promise.reject(new EngineError('corruption', { field: 'item' }))
        },
      }),
    )

    await world.runtime.advance(6_000)

    expect(pass).toBeGreaterThan(5)
    expect(running.runner.status()).toMatchObject({ errorCount: 4, backoffCount: 0 })
    expect(world.log.lines.filter((line) => line.level === 'error')).toEqual([])
  })

  test('more failing items than fit one pass, or than can be remembered, neither stop the scanner nor let it run wild', async () => {
    const world = createWorld()
    const { tried, bind } = stumbling(Array.from({ length: TRACKED_ITEMS_MAX + 1 }, (_, i) => `item-${i}`))
    await using _running = run(world, bind)

    for (let i = 0; i < 100; i++) await world.runtime.advance(9)

    expect(tried.length).toBeGreaterThanOrEqual(TRACKED_ITEMS_MAX)
    expect(tried.length).toBeLessThan(TRACKED_ITEMS_MAX + 2 * bind.stepsPerPass)
  })

  test('a partition that cannot be scanned holds up no other, and is reported when it begins and when it ends', async () => {
    const world = createWorld(3)
    const seen: Partition[] = []
    let isDown = true
    await using running = run(
      world,
      scanner({
        name: 'patient',
        everyMs: 1_000,
        followsTimers: true,
        scan: (partition) => {
          seen.push(partition.name)
          if (partition.name === 'fp:1' && isDown) return Promise.reject(new EngineError('store_unavailable'))
          return Promise.resolve(NOTHING)
        },
      }),
    )

    await world.runtime.advance(3_500)
    expect(seen.slice(0, 3)).toEqual(['fp:0', 'fp:1', 'fp:2'])
    expect(running.runner.status().errorCount).toBe(4)
    isDown = false
    await world.runtime.advance(3_000)

    const told = world.log.lines.filter((line) => 'partition' in line.fields)
    expect(told.map(({ level, fields }) => [level, fields['partition']])).toEqual([
      ['warn', 'fp:1'],
      ['info', 'fp:1'],
    ])
    expect(running.runner.status().lastCycle).toMatchObject({ errors: 0 })
  })

  test('an unexpected error is contained in its partition, and logged with its stack', async () => {
    const world = createWorld(2)
    const { bind, visits } = visitor({ everyMs: 1_000, followsTimers: true })
    const definition = bind(world)
    await using running = run(world, {
      ...definition,
      scan: (partition, context) => {
        if (partition.name === 'fp:0') throw new TypeError('a fault of the program')
        return definition.scan(partition, context)
      },
    })

    await world.runtime.advance(2_500)

    expect(visits).toHaveLength(3)
    expect(running.runner.status().cycleCount).toBe(3)
    const [told] = world.log.lines.filter((line) => line.level === 'error')
    expect(told?.fields).toMatchObject({
      scanner: 'visitor',
      partition: 'fp:0',
      error: 'TypeError: a fault of the program',
    })
    expect(told?.fields['stack']).toContain('runner.test.ts')
  })

  test('an item that fails although it is to be left out stops the pass over its partition', async () => {
    const world = createWorld()
    let calls = 0
    await using running = run(
      world,
      scanner({
        name: 'stubborn',
        everyMs: 1_000,
        followsTimers: true,
        scan: () => {
          calls += 1
          return Promise.reject(new EngineError('corruption', { field: 'part of an item' }))
        },
      }),
    )

    await world.runtime.advance(0)

    expect(calls).toBe(2)
    expect(running.runner.status().errorCount).toBe(2)
  })
})

describe('reports', () => {
  test('every cycle is counted and timed, whether or not there was anything to do', async () => {
    const world = createWorld()
    const { bind } = visitor({ everyMs: 1_000, followsTimers: true })
    await using running = run(world, bind(world))

    await world.runtime.advance(4_500)

    const labels = { scanner: 'visitor' }
    expect(valueOf(running.metrics, 'ff_scanner_cycle_total', labels)).toBe(5)
    expect(valueOf(running.metrics, 'ff_scanner_cycle_duration_seconds', labels)).toBe(5)
  })

  test('a cycle that did something leaves one line in the log, an idle one none', async () => {
    const world = createWorld(4)
    const { bind } = visitor({
      everyMs: 1_000,
      followsTimers: true,
      answer: (visit) => (visit <= 4 ? { counts: { promoted: 1, expired: 2, nothing: 0 } } : NOTHING),
    })
    await using running = run(world, bind(world))

    await world.runtime.advance(5_000)

    expect(world.log.lines).toEqual([
      {
        level: 'info',
        fields: { scanner: 'visitor', processed: 12, errors: 0, promoted: 4, expired: 8, elapsedMs: 0 },
        message: 'scanned',
      },
    ])
    expect(valueOf(running.metrics, 'ff_scanner_items_total', { scanner: 'visitor', case: 'expired' })).toBe(8)
  })

  test('work between two cycles is reported with the next one, and on stop', async () => {
    const world = createWorld()
    const running = run(world, { ...due, everyMs: 10_000 })
    await world.submit({ delayMs: 1_000 })
    await world.submit({ delayMs: 2_000 })
    await world.runtime.advance(5_000)
    expect(world.log.lines).toEqual([])

    await world.runtime.advance(10_000)
    await world.submit({ delayMs: 1_000 })
    await world.runtime.advance(1_000)
    await running[Symbol.asyncDispose]()

    expect(world.log.lines.map((line) => line.fields['delayed_promoter'])).toEqual([2, 1])
  })
})
