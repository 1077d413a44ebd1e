import { expect, test } from 'vitest'
import { ATTEMPT_HISTORY_MAX, PURGE_COUNT_MAX, PURGE_INDEX } from '../../kernel/index.ts'
import type { TenantFilter } from '../../kernel/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { createWorld, until, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { completeReady, many, only, submitFlow } from '../flow.fixture.ts'
import { EVENT_COUNT_MAX, EVENT_RETENTION_MS } from './retention-trimmer.ts'

const INTERVAL_MS = 1_000
/** Longer than an interval with all its jitter. */
const ONE_CYCLE_MS = 1_200
const RETENTION_MS = 60_000

function startTrimmer(world: World, filter?: TenantFilter, batcher = world.batcher): Engine {
  const { runtime, log } = world
  return startEngine({ batcher, runtime, log, filter, intervals: only('retention_trimmer', INTERVAL_MS) })
}

async function endMany(world: World, count: number, wish: Parameters<World['submit']>[0] = {}): Promise<void> {
  const { lane = 'main', partition = 0 } = wish
  for (let i = 0; i < count; i++) await world.submit({ retentionMs: RETENTION_MS, ...wish })
  for (let claimed = await world.claim(lane, partition); claimed.length > 0;) {
    await Promise.all(claimed.map((one) => world.complete(one)))
    claimed = await world.claim(lane, partition)
  }
}

function purgedCount(engine: Engine): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'retention_trimmer', case: 'execution_purged' })
}

test('an execution whose retention is over is removed with all that belongs to it', async () => {
  const world = createWorld()
  await endMany(world, 1)
  await using engine = startTrimmer(world)

  await world.runtime.advance(RETENTION_MS + ONE_CYCLE_MS)

  const { records, entries, blobKeys } = await world.store.dump('fp:0')
  expect({ records, entries, blobKeys }).toEqual({ records: [], entries: [], blobKeys: [] })
  expect(await world.events('execution_purged')).toHaveLength(1)
  expect(purgedCount(engine)).toBe(1)
})

test('executions within their retention, or that have not ended, are kept', async () => {
  const world = createWorld()
  await endMany(world, 1)
  await world.submit({ retentionMs: 0 })
  await using engine = startTrimmer(world)

  await world.runtime.advance(RETENTION_MS - 1)

  expect(await world.executions()).toHaveLength(2)
  expect(purgedCount(engine)).toBe(0)
})

test('a flow whose retention is over is removed with its members and edges, however large it is', async () => {
  const world = createWorld()
  await submitFlow(world, { root: {}, ...many('leaf', 120, { after: ['root'] }) }, { retentionMs: RETENTION_MS })
  for (let seen = 1; seen > 0;) {
    await world.batcher.run('fp:0', 'runDue', { limit: 10, seed: 1 })
    seen = await completeReady(world)
  }
  await using engine = startTrimmer(world)

  await world.runtime.advance(RETENTION_MS - 1)
  expect(purgedCount(engine)).toBe(0)
  await world.runtime.advance(2 * ONE_CYCLE_MS)

  const { records, entries, blobKeys } = await world.store.dump('fp:0')
  expect({ records, entries, blobKeys }).toEqual({ records: [], entries: [], blobKeys: [] })
  expect(purgedCount(engine)).toBe(121)
  const flows = { scanner: 'retention_trimmer', case: 'flow_purged' }
  expect(valueOf(engine.metrics, 'ff_scanner_items_total', flows)).toBe(1)
})

test('a backlog larger than a page is removed in one pass', async () => {
  const world = createWorld()
  const count = 4 * PURGE_COUNT_MAX + 7
  await endMany(world, count)
  world.runtime.jump(RETENTION_MS)
  await using engine = startTrimmer(world)

  await until(world.runtime, async () => {
    await world.runtime.advance(INTERVAL_MS / 100)
    return valueOf(engine.metrics, 'ff_scanner_cycle_total', { scanner: 'retention_trimmer' }) === 1
  })

  expect(await world.executions()).toEqual([])
  expect(purgedCount(engine)).toBe(count)
})

test('executions with a long history are removed, however few fit one call', async () => {
  const world = createWorld()
  const retry = { attempts: 60, backoff: { kind: 'fixed', delayMs: 0 } as const, jitter: false, onlyCategories: [] }
  for (let i = 0; i < 5; i++) await world.submit({ retentionMs: RETENTION_MS, retry })
  for (let claimed = await world.claim(); claimed.length > 0; claimed = await world.claim()) {
    const failure = { category: 'error', message: 'no luck' }
    await Promise.all(
      claimed.map(({ executionId, fence }) =>
        world.batcher.run('fp:0', 'failExecution', { executionId, fence, failure, seed: 1 }),
      ),
    )
  }
  const before = await world.store.dump('fp:0')
  expect(before.records.filter((record) => record.type === 'attempt')).toHaveLength(5 * ATTEMPT_HISTORY_MAX)
  world.runtime.jump(RETENTION_MS)
  await using engine = startTrimmer(world)
  await world.runtime.advance(INTERVAL_MS)

  await until(world.runtime, () => purgedCount(engine) === 5)

  expect((await world.store.dump('fp:0')).records).toEqual([])
})

test('two engines remove each execution once', async () => {
  const world = createWorld()
  await endMany(world, 120)
  world.runtime.jump(RETENTION_MS)
  await using first = startTrimmer(world)
  await using second = startTrimmer(world, undefined, new Batcher(world.store, world.runtime))

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  expect(purgedCount(first) + purgedCount(second)).toBe(120)
  expect(await world.events('execution_purged')).toHaveLength(120)
})

test('with a filter, only executions of its tenant are removed, also behind many others', async () => {
  const world = createWorld()
  await endMany(world, 3 * PURGE_COUNT_MAX, { namespace: 'other' })
  await world.runtime.advance(1)
  await endMany(world, 10, { namespace: 'acme' })
  world.runtime.jump(RETENTION_MS)
  await using engine = startTrimmer(world, { namespace: 'acme' })

  await world.runtime.advance(2 * ONE_CYCLE_MS)

  const left = (await world.executions()).map((execution) => execution.namespace)
  expect(left).toEqual(Array.from({ length: 3 * PURGE_COUNT_MAX }, () => 'other'))
  expect(purgedCount(engine)).toBe(10)
})

test('every lane of every partition is trimmed, and a lane that is empty leaves nothing behind', async () => {
  const world = createWorld(3)
  for (let i = 0; i < 60; i++) await endMany(world, 1, { lane: `lane-${i}`, partition: i % 3 })
  world.runtime.jump(RETENTION_MS)
  await using engine = startTrimmer(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(purgedCount(engine)).toBe(60)
  const dumps = await Promise.all([0, 1, 2].map((number) => world.store.dump(`fp:${number}`)))
  expect(dumps.flatMap((dump) => dump.records)).toEqual([])
})

test('an entry that wrongly asks for a removal holds up no other, and removes nothing that has not ended', async () => {
  const world = createWorld()
  const running = await world.submit()
  await world.damageIndex('fp:0', PURGE_INDEX, running, 1)
  const ended = await world.submit({ lane: 'other', retentionMs: 0 })
  for (const claimed of await world.claim('other')) await world.complete(claimed)
  await using engine = startTrimmer(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect((await world.executions()).map((execution) => execution.id)).toEqual([running])
  expect((await world.events('execution_purged')).map((event) => event.executionId)).toEqual([ended])
  expect(valueOf(engine.metrics, 'ff_scanner_errors_total', { scanner: 'retention_trimmer' })).toBeGreaterThan(0)
})

test('entries whose executions are gone do not hide those behind them', async () => {
  const world = createWorld()
  for (let i = 0; i < PURGE_COUNT_MAX; i++) await world.damageIndex('fp:0', PURGE_INDEX, `0-gone-${i}`, 1)
  await endMany(world, 1)
  world.runtime.jump(RETENTION_MS)
  await using engine = startTrimmer(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(purgedCount(engine)).toBe(1)
})

test('events are trimmed once they are too old', async () => {
  const world = createWorld()
  await world.submit()
  await world.runtime.advance(10_000)
  const kept = await world.submit()
  world.runtime.jump(EVENT_RETENTION_MS - 5_000)
  await using engine = startTrimmer(world)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect((await world.events()).map((event) => event.executionId)).toEqual([kept])
  const labels = { scanner: 'retention_trimmer', case: 'event_trimmed' }
  expect(valueOf(engine.metrics, 'ff_scanner_items_total', labels)).toBe(1)
})

test('events are trimmed once they are too many', async () => {
  const world = createWorld()
  const executionId = await world.submit()
  const change = (priority: number) => world.batcher.run('fp:0', 'changePriority', { executionId, priority })
  for (let i = 0; i <= EVENT_COUNT_MAX; i += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, (_, k) => change(1 + ((i + k) % 2))))
  }
  await using engine = startTrimmer(world)
  expect((await world.events()).length).toBeGreaterThan(EVENT_COUNT_MAX)

  await world.runtime.advance(ONE_CYCLE_MS)

  expect(await world.events()).toHaveLength(EVENT_COUNT_MAX)
  expect(engine.status()[1]).toMatchObject({ kind: 'enabled', scanner: 'retention_trimmer', errorCount: 0 })
}, 120_000)
