import { describe, expect, test } from 'vitest'
import { EXPIRED_WAITPOINT_COUNT, OPEN_WAITPOINTS_INDEX, stepsIndex } from '../../kernel/index.ts'
import type { ConditionNode, DueCaseName, EventType, ExecutionId, TimeoutBehaviour } from '../../kernel/index.ts'
import { silentLog } from '../../runtime/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { signalTo, stepOf, waitAt } from '../../stores/store.fixture.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'
import { only } from '../flow.fixture.ts'
import { held, say, waiting } from '../journal.fixture.ts'

interface TimedCase {
  readonly when: string
  readonly name: DueCaseName
  readonly dueInMs: number
  readonly event: EventType
  readonly arrange: (world: World) => Promise<ExecutionId>
}

const DUE_IN_MS = 10_000

/** What no signal can meet. */
const NO_SIGNAL: ConditionNode = {
  kind: 'timeout',
  parent: undefined,
  need: 1,
  by: 'once',
  name: undefined,
  from: [],
  targets: [],
}

function timeout(onTimeout: TimeoutBehaviour, event: EventType): TimedCase {
  return {
    when: `a wait that is to ${onTimeout.replaceAll('_', ' ')}`,
    name: 'suspension_timeout',
    dueInMs: DUE_IN_MS,
    event,
    arrange: (world) => waiting(world, { timeoutMs: DUE_IN_MS, onTimeout }),
  }
}

const timedCases: readonly TimedCase[] = [
  timeout('fail', 'execution_ended'),
  timeout('cancel', 'execution_ended'),
  timeout('expire', 'execution_ended'),
  timeout('resume', 'execution_resumed'),
  timeout('resume_with_signal', 'signal_received'),
  timeout('escalate', 'wait_escalated'),
  {
    when: 'a sleep',
    name: 'suspension_timeout',
    dueInMs: DUE_IN_MS,
    event: 'execution_resumed',
    arrange: async (world) => {
      const claimed = await held(world)
      const wish = { stepKind: 'sleep', nodes: [NO_SIGNAL], opens: [], reason: 'sleep', timeoutMs: DUE_IN_MS } as const
      await say(world, 'suspendExecution', waitAt(claimed, 'nothing', wish))
      return claimed.executionId
    },
  },
  {
    when: 'a step that waits for its retry',
    name: 'suspension_timeout',
    dueInMs: DUE_IN_MS,
    event: 'execution_resumed',
    arrange: async (world) => {
      const claimed = await held(world)
      const failure = { category: 'network', message: 'no route', stack: undefined }
      const outcome = { kind: 'retry', failure, size: 15, delayMs: DUE_IN_MS, park: true } as const
      await say(world, 'recordStep', stepOf(claimed, 'fetch', { outcome }))
      return claimed.executionId
    },
  },
  {
    when: 'a wait that is to be reminded of',
    name: 'wait_reminder',
    dueInMs: DUE_IN_MS,
    event: 'wait_reminded',
    arrange: (world) => waiting(world, { remindEveryMs: DUE_IN_MS }),
  },
  {
    when: 'a waitpoint that no wait has come for',
    name: 'pending_waitpoint_expiry',
    dueInMs: DUE_IN_MS,
    event: 'waitpoint_closed',
    arrange: async (world) => {
      const { executionId, fence } = await held(world)
      await say(world, 'createWaitpoint', { executionId, fence, target: 'link', expiresInMs: DUE_IN_MS })
      return executionId
    },
  },
]

/** Only the due pass; its interval is so long that it comes by timers and wake-ups alone. */
function startDue(world: World, batcher = world.batcher): Engine {
  return startEngine({ batcher, runtime: world.runtime, log: silentLog, intervals: only('due', 3_600_000) })
}

function countOf(engine: Engine, name: DueCaseName): number {
  return valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'due', case: name })
}

describe.each(timedCases)('$name of $when', ({ name, dueInMs, event, arrange }) => {
  test('what is due is done, and counted under its own name', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    const id = await arrange(world)

    await world.runtime.advance(dueInMs)

    expect((await world.events(event)).map((done) => done.executionId)).toEqual([id])
    expect(countOf(engine, name)).toBe(1)
  })

  test('records that are not due are unchanged', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    await arrange(world)
    const before = await world.store.dump('fp:0')

    await world.runtime.advance(dueInMs - 1)

    expect(await world.store.dump('fp:0')).toEqual(before)
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

    await using _engine = startDue(world)
    await world.runtime.advance(0)

    expect((await world.events(event)).map((done) => done.executionId)).toEqual([id])
  })
})

test.each<[TimeoutBehaviour, string]>([
  ['fail', 'failed'],
  ['cancel', 'cancelled'],
  ['expire', 'expired'],
  ['resume', 'waiting'],
  ['resume_with_signal', 'waiting'],
  ['escalate', 'suspended'],
])('a wait whose time is over and that is to %s leaves its execution %s', async (onTimeout, state) => {
  const world = createWorld()
  await using _engine = startDue(world)
  const executionId = await waiting(world, { timeoutMs: DUE_IN_MS, onTimeout })

  await world.runtime.advance(10 * DUE_IN_MS)

  expect(await say(world, 'describeExecution', { executionId })).toMatchObject({ state })
})

test('a wait that was answered in time does not run out', async () => {
  const world = createWorld()
  await using engine = startDue(world)
  const executionId = await waiting(world, {
    timeoutMs: DUE_IN_MS,
    remindEveryMs: DUE_IN_MS / 2 + 1,
    onTimeout: 'fail',
  })
  await world.runtime.advance(DUE_IN_MS / 2)
  await say(world, 'deliverSignal', signalTo(executionId, 'answer'))

  await world.runtime.advance(10 * DUE_IN_MS)

  expect(await say(world, 'describeExecution', { executionId })).toMatchObject({ state: 'waiting' })
  expect([countOf(engine, 'suspension_timeout'), countOf(engine, 'wait_reminder')]).toEqual([0, 0])
})

test('a wait is reminded of again and again, until its time is over', async () => {
  const world = createWorld()
  await using engine = startDue(world)
  await waiting(world, { timeoutMs: 10 * DUE_IN_MS, remindEveryMs: 3 * DUE_IN_MS })

  await world.runtime.advance(60 * DUE_IN_MS)

  expect([countOf(engine, 'wait_reminder'), countOf(engine, 'suspension_timeout')]).toEqual([3, 1])
})

test('reminders that were missed while no engine ran are sent once', async () => {
  const world = createWorld()
  await waiting(world, { remindEveryMs: DUE_IN_MS })
  world.runtime.jump(7 * DUE_IN_MS)

  await using engine = startDue(world)
  await world.runtime.advance(0)

  expect(countOf(engine, 'wait_reminder')).toBe(1)
  expect(await world.events('wait_reminded')).toHaveLength(1)
})

test('more waitpoints than one step closes are closed at once', async () => {
  const world = createWorld()
  await using engine = startDue(world)
  const { executionId, fence } = await held(world)
  const count = 3 * EXPIRED_WAITPOINT_COUNT + 1
  for (let i = 0; i < count; i++) {
    await say(world, 'createWaitpoint', { executionId, fence, target: `link ${i}`, expiresInMs: DUE_IN_MS })
  }

  await world.runtime.advance(DUE_IN_MS)

  expect(await world.events('waitpoint_closed')).toHaveLength(count)
  expect(countOf(engine, 'pending_waitpoint_expiry')).toBe(4)
  const { entries } = await world.store.dump('fp:0')
  expect(entries.filter(({ index }) => index === OPEN_WAITPOINTS_INDEX)).toEqual([])
})

describe('journal_sweeper', () => {
  const STEP_COUNT = 250
  /** A few pauses between two passes, and much less than any interval. */
  const AT_ONCE_MS = 50

  /** An execution whose recorded steps a replay has set aside, with more of them than one operation removes. */
  async function replayed(world: World): Promise<ExecutionId> {
    const claimed = await held(world)
    for (let i = 0; i < STEP_COUNT; i++) await say(world, 'recordStep', stepOf(claimed, `step ${i}`))
    await world.complete(claimed)
    const { executionId } = claimed
    await say(world, 'replayExecution', { executionId, requestId: 'replay', from: { kind: 'start' } })
    return executionId
  }

  async function stepsOf(world: World, executionId: ExecutionId): Promise<number> {
    const { entries } = await world.store.dump('fp:0')
    return entries.filter(({ index }) => index === stepsIndex(executionId)).length
  }

  test('what a replay has set aside is removed at once, and counted under its own name', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    const executionId = await replayed(world)

    await world.runtime.advance(AT_ONCE_MS)

    expect(await stepsOf(world, executionId)).toBe(0)
    expect(countOf(engine, 'journal_sweeper')).toBeGreaterThan(1)
    expect((await world.executions())[0]?.journal).toMatchObject({ stepCount: 0, stepBytes: 0, cuts: [] })
  })

  test('what an execution has left that was replaced is removed at once', async () => {
    const world = createWorld()
    await using _engine = startDue(world)
    const claimed = await held(world)
    const { executionId } = claimed
    for (let i = 0; i < STEP_COUNT; i++) await say(world, 'recordStep', stepOf(claimed, `step ${i}`))
    await say(world, 'deliverSignal', signalTo(executionId, '@news'))
    await world.complete(claimed)
    await world.submit({ executionId, ifExists: 'replace', requestId: 'again' })

    await world.runtime.advance(AT_ONCE_MS)

    const { records } = await world.store.dump('fp:0')
    expect(records.map(({ type }) => type).toSorted()).toEqual(['execution', 'queue'])
  })

  test('steps that no replay has set aside are left alone', async () => {
    const world = createWorld()
    await using engine = startDue(world)
    const claimed = await held(world)
    await say(world, 'recordStep', stepOf(claimed, 'fetch'))
    await world.complete(claimed)
    await say(world, 'replayExecution', { executionId: claimed.executionId, requestId: 'replay' })

    await world.runtime.advance(600_000)

    expect(await stepsOf(world, claimed.executionId)).toBe(1)
    expect(countOf(engine, 'journal_sweeper')).toBe(0)
  })

  test('two engines do it once', async () => {
    const world = createWorld()
    await using first = startDue(world)
    await using second = startDue(world, new Batcher(world.store, world.runtime))
    const executionId = await replayed(world)

    await world.runtime.advance(AT_ONCE_MS)

    expect(await stepsOf(world, executionId)).toBe(0)
    expect((await world.executions())[0]?.journal?.stepCount).toBe(0)
    expect(countOf(first, 'journal_sweeper') + countOf(second, 'journal_sweeper')).toBeGreaterThan(1)
  })
})
