import { describe, expect, test } from 'vitest'
import { SUBMISSION_IDLE_MS } from '../../kernel/index.ts'
import type { DueCaseName } from '../../kernel/index.ts'
import { silentLog } from '../../runtime/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { cancelFlow, completeReady, countsOf, failReady, many, names, only, submitFlow } from '../flow.fixture.ts'
import type { Submitted } from '../flow.fixture.ts'

/** More than one operation has room for, by far. */
const WIDE = 300
/** A few pauses between two passes, and much less than any interval. */
const AT_ONCE_MS = 50

interface OwedCase {
  readonly name: DueCaseName
  /** Brings about work that the operation itself has no room for. */
  readonly arrange: (world: World) => Promise<Submitted>
  readonly counts: Readonly<Record<string, number>>
}

async function fanOut(world: World): Promise<Submitted> {
  const flow = await submitFlow(world, { root: {}, ...many('leaf', WIDE, { after: ['root'] }) })
  await world.runtime.advance(AT_ONCE_MS)
  return flow
}

const owedCases: readonly OwedCase[] = [
  {
    name: 'edge_dispatcher',
    arrange: async (world) => {
      const flow = await fanOut(world)
      await completeReady(world)
      return flow
    },
    counts: { completed: 1, waiting: WIDE },
  },
  {
    name: 'edge_cancel_dispatcher',
    arrange: async (world) => {
      const after = names('runner', WIDE)
      const graph = { ...many('runner', WIDE), first: { after, policy: { policy: 'any_of' as const } } }
      const flow = await submitFlow(world, graph)
      await world.runtime.advance(AT_ONCE_MS)
      const [winner] = await world.claim()
      await world.complete(winner!)
      return flow
    },
    counts: { completed: 1, waiting: 1, superseded: WIDE - 1 },
  },
  {
    name: 'flow_release',
    arrange: (world) => submitFlow(world, many('node', WIDE)),
    counts: { waiting: WIDE },
  },
  {
    name: 'flow_cancel',
    arrange: async (world) => {
      const flow = await submitFlow(world, many('node', WIDE))
      await world.runtime.advance(AT_ONCE_MS)
      await cancelFlow(world, flow)
      return flow
    },
    counts: { cancelled: WIDE },
  },
  {
    name: 'flow_replay',
    arrange: async (world) => {
      const flow = await fanOut(world)
      await failReady(world)
      await world.runtime.advance(AT_ONCE_MS)
      const input = { executionId: flow.idOf('root'), requestId: 'replay', subtree: true }
      await world.batcher.run('fp:0', 'replayExecution', input)
      return flow
    },
    counts: { waiting: 1, waiting_dependencies: WIDE },
  },
]

/** Only the due pass; its interval is so long that it comes by timers and wake-ups alone. */
function startDue(world: World, batcher = world.batcher): Engine {
  return startEngine({ batcher, runtime: world.runtime, log: silentLog, intervals: only('due', 3_600_000) })
}

function countOf(engine: Engine, name: DueCaseName): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'due', case: name })
}

describe.each(owedCases)('$name', ({ name, arrange, counts }) => {
  test('what an operation had no room for is done at once, and counted under its own name', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    const flow = await arrange(world)

    await world.runtime.advance(AT_ONCE_MS)

    expect(await countsOf(world, flow)).toEqual(counts)
    expect(countOf(engine, name)).toBeGreaterThan(0)
    expect((await world.store.dump('fp:0')).entries.filter(({ index }) => index === 'due')).toEqual([])
  })

  test('two engines do it once', async () => {
    const world = createWorld()
    await using first = startDue(world)
    await using second = startDue(world, new Batcher(world.store, world.runtime))
    const flow = await arrange(world)

    await world.runtime.advance(AT_ONCE_MS)

    expect(await countsOf(world, flow)).toEqual(counts)
    expect(countOf(first, name) + countOf(second, name)).toBeGreaterThan(0)
    const ended = (await world.events('execution_ended')).map((event) => event.executionId)
    expect(new Set(ended).size).toBe(ended.length)
  })

  test('what was owed while no engine ran is done as soon as one starts', async () => {
    const world = createWorld()
    const engine = startDue(world)
    const flow = await arrange(world)
    await engine.close()
    await using _next = startDue(world)

    await world.runtime.advance(AT_ONCE_MS)

    expect(await countsOf(world, flow)).toEqual(counts)
  })
})

test('a flow without pending work is unchanged', async () => {
  const world = createWorld()
  await using engine = startDue(world)
  const flow = await submitFlow(world, { a: {}, b: { after: ['a'] } })
  const before = await world.store.dump('fp:0')

  await world.runtime.advance(600_000)

  expect(await world.store.dump('fp:0')).toEqual(before)
  expect(await countsOf(world, flow)).toEqual({ waiting: 1, waiting_dependencies: 1 })
  expect(engine.status()[0]).toMatchObject({ scanner: 'due', errorCount: 0 })
})

test('steps in which cancels are gone on with also stand under a name of their own', async () => {
  const world = createWorld()
  await using engine = startDue(world)
  await owedCases[1]!.arrange(world)

  await world.runtime.advance(AT_ONCE_MS)

  const dispatched = valueOf(engine.metrics, 'ff_sibling_cancel_dispatched_total', {})
  expect(dispatched).toBe(countOf(engine, 'edge_cancel_dispatcher'))
})

describe('submission_abandoned', () => {
  const half = { onlyNodes: 90 }

  test('a submission that was idle for an hour is cancelled, and counted under its own name', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    const flow = await submitFlow(world, many('node', WIDE), half)

    await world.runtime.advance(SUBMISSION_IDLE_MS + AT_ONCE_MS)

    expect(await countsOf(world, flow)).toEqual({ cancelled: 90 })
    expect(countOf(engine, 'submission_abandoned')).toBe(1)
  })

  test('a submission that was idle for less than an hour is unchanged', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    const flow = await submitFlow(world, many('node', WIDE), half)

    await world.runtime.advance(SUBMISSION_IDLE_MS - 1)

    expect(await countsOf(world, flow)).toEqual({ waiting: 90 })
    expect(countOf(engine, 'submission_abandoned')).toBe(0)
  })

  test('two engines do it once', async () => {
    const world = createWorld()
    await using first = startDue(world)
    await using second = startDue(world, new Batcher(world.store, world.runtime))
    await submitFlow(world, many('node', WIDE), half)

    await world.runtime.advance(SUBMISSION_IDLE_MS + AT_ONCE_MS)

    expect(await world.events('flow_cancelled')).toHaveLength(1)
    expect(countOf(first, 'submission_abandoned') + countOf(second, 'submission_abandoned')).toBe(1)
  })
})
