/** Schedules of flows: each boundary starts one flow, with ids that follow from the schedule and the boundary. */
import { expect, test } from 'vitest'
import { firingAt } from '../../src/calendar/firing.ts'
import { FOLLOW_UP_NODE_MAX } from '../../src/kernel/index.ts'
import type { FireScheduleInput, Flow } from '../../src/kernel/index.ts'
import { Batcher } from '../../src/stores/batcher.ts'
import { GivenFlow, chain, names, nodes } from './given-flow.ts'
import type { Drawing } from './given-flow.ts'
import { GivenSchedules, ID, MINUTE_MS } from './given-schedules.ts'
import { heldOf } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const CLASS = 'release'

conforms('scheduled flows', ({ fabric, given, clock }) => {
  const schedules = new GivenSchedules(fabric)
  const flows = new GivenFlow(fabric, given)
  const draw = (first = '"input"'): Drawing =>
    flows.draw(chain(['build', 'deploy']), { class: CLASS, drafts: { build: { bytes: bytesOf(first) } } })

  /** Lets time pass boundary by boundary, with an engine that runs. */
  async function passMinutes(count: number, batcher?: Batcher): Promise<void> {
    for (let i = 0; i < count; i++) {
      clock.advanceTo((Math.floor(clock.now() / MINUTE_MS) + 1) * MINUTE_MS)
      await schedules.engine(batcher)
    }
  }

  async function claimNext(leaseTtlMs = MINUTE_MS) {
    const { result, blobs } = await fabric.reply('claimForWorker', given.claimInput({ queues: [queue], leaseTtlMs }))
    return { claimed: result.executions[0], input: blobs.map((bytes) => new TextDecoder().decode(bytes))[0] }
  }
  const queue = { lane: 'main', class: CLASS }

  /** Completes the members that may run, one after the other. */
  async function completeAll(): Promise<number> {
    for (let count = 0; ; count++) {
      const { claimed } = await claimNext()
      if (claimed === undefined) return count
      await fabric.run('completeExecution', heldOf(claimed))
    }
  }

  const ended = (list: readonly Flow[]) => list.map(({ state }) => state.phase)

  test('each boundary starts one flow with its graph and its inputs, which runs to its end', async () => {
    await schedules.schedule({ drawing: draw() })
    const start = clock.now()

    await passMinutes(3)

    const started = await schedules.flows()
    const schedule = await schedules.look()
    const expected = [1, 2, 3].map((i) => firingAt(schedule, (Math.floor(start / MINUTE_MS) + i) * MINUTE_MS, 0))
    expect(started.map(({ id }) => id)).toEqual(expected.map(({ executionId }) => executionId))
    expect(started[0]).toMatchObject({ name: 'release', memberCount: 2, edgeCount: 1, schedule: { cause: 'boundary' } })
    const members = await schedules.executions()
    expect(members.map(({ id }) => id).sort()).toEqual(expected.flatMap(({ memberIds = [] }) => memberIds).sort())
    expect((await claimNext()).input).toBe('"input"')
    clock.advance(MINUTE_MS)
    await schedules.engine()
    expect(await completeAll()).toBeGreaterThanOrEqual(5)
    expect(ended((await schedules.flows()).slice(1, 3))).toEqual(['ended', 'ended'])
    expect(schedule.firedCount).toBe(3)
  })

  test('two engines that find one boundary due start one flow', async () => {
    await schedules.schedule({ drawing: draw() })
    const engines = [1, 2].map(() => new Batcher(fabric.store, fabric.runtime))

    for (let i = 0; i < 3; i++) {
      clock.advanceTo((Math.floor(clock.now() / MINUTE_MS) + 1) * MINUTE_MS)
      await Promise.all(engines.map((batcher) => schedules.engine(batcher)))
    }
    await Promise.all(engines.map((batcher) => batcher.close()))

    expect(await schedules.flows()).toHaveLength(3)
    expect(await schedules.executions()).toHaveLength(6)
  })

  test('firing and moving on are one step, and no member runs before the last one exists', async () => {
    const wide = flows.draw(nodes(names('part', FOLLOW_UP_NODE_MAX)), { class: CLASS })
    await schedules.schedule({ drawing: wide })
    clock.advanceTo((Math.floor(clock.now() / MINUTE_MS) + 1) * MINUTE_MS)

    await fabric.duePass({ limit: 1 })

    expect((await schedules.look()).firedCount).toBe(1)
    expect(await schedules.flows()).toMatchObject([{ memberCount: 0, state: { phase: 'held' } }])
    for (let pass = 0; pass < 10 && (await schedules.flows())[0]?.state.phase === 'held'; pass++) {
      expect((await claimNext()).claimed).toBeUndefined()
      await fabric.duePass({ limit: 1 })
    }
    expect(await schedules.flows()).toMatchObject([{ memberCount: FOLLOW_UP_NODE_MAX, state: { phase: 'sealed' } }])
    expect((await claimNext()).claimed).toBeDefined()
  })

  test('skip drops a boundary while the earlier flow runs', async () => {
    await schedules.schedule({ drawing: draw(), overlap: 'skip' })

    await passMinutes(3)
    const first = await schedules.flows()
    await completeAll()
    await passMinutes(1)

    expect(first).toHaveLength(1)
    expect(await schedules.flows()).toHaveLength(2)
    expect((await schedules.look()).skipped).toMatchObject({ reason: 'overlap' })
  })

  test('queue starts the next flow when the earlier one has ended', async () => {
    await schedules.schedule({ drawing: draw(), overlap: 'queue' })
    await passMinutes(3)
    expect((await schedules.look()).waiting).toHaveLength(2)

    const counts: number[] = []
    for (let i = 0; i < 3; i++) {
      await completeAll()
      await schedules.engine()
      counts.push((await schedules.flows()).length)
    }

    expect(counts).toEqual([2, 3, 3])
    expect((await schedules.look()).waiting).toEqual([])
  })

  test('a flow that is cancelled lets the boundary that waits fire', async () => {
    await schedules.schedule({ drawing: draw(), overlap: 'queue' })
    await passMinutes(2)
    const [first] = await schedules.flows()

    await fabric.run('cancelFlow', {
      flowId: first!.id,
      policy: 'cancel_all',
      reason: 'by hand',
      by: 'ada',
      force: false,
      graceMs: 0,
    })
    await schedules.engine()

    expect(ended(await schedules.flows())).toEqual(['cancelled', 'sealed'])
  })

  test('cancel_previous cancels the earlier flow, and starts the next one after its end', async () => {
    await schedules.schedule({ drawing: draw(), overlap: 'cancel_previous' })
    await passMinutes(1)
    const { claimed } = await claimNext(2 * MINUTE_MS)
    await passMinutes(1)
    const during = ended(await schedules.flows())

    await fabric.run('completeExecution', heldOf(claimed!))
    await schedules.engine()

    expect(during).toEqual(['cancelled'])
    expect(ended(await schedules.flows())).toEqual(['cancelled', 'sealed'])
  })

  test('a flow of many members is cancelled over several passes before the next one starts', async () => {
    const wide = flows.draw(nodes(names('part', FOLLOW_UP_NODE_MAX)), { class: CLASS })
    await schedules.schedule({ drawing: wide, overlap: 'cancel_previous' })

    await passMinutes(3)

    expect(ended(await schedules.flows())).toEqual(['cancelled', 'cancelled', 'sealed'])
  })

  test('a change of inputs keeps what waits, and a change of nodes drops it', async () => {
    await schedules.schedule({ drawing: draw(), overlap: 'queue' })
    await passMinutes(3)

    await schedules.schedule({ drawing: draw('"other"'), overlap: 'queue' })
    const kept = (await schedules.look()).waiting.length
    await schedules.schedule({
      drawing: flows.draw(chain(['build', 'test', 'deploy']), { class: CLASS }),
      overlap: 'queue',
    })
    const dropped = (await schedules.look()).waiting.length
    await completeAll()
    await passMinutes(1)

    expect([kept, dropped]).toEqual([2, 0])
    expect((await schedules.flows()).map(({ memberCount }) => memberCount)).toEqual([2, 3])
  })

  test('a schedule changes from a task to a flow and back, and the earlier kind counts as an earlier firing', async () => {
    await schedules.schedule({ overlap: 'skip' })
    await passMinutes(1)
    await schedules.schedule({ drawing: draw(), overlap: 'skip' })
    await passMinutes(1)
    const whileRunning = await schedules.flows()
    const { executions } = await given.claim()
    await fabric.run('completeExecution', heldOf(executions[0]!))
    await passMinutes(1)
    await completeAll()
    await schedules.schedule({ overlap: 'skip' })
    await passMinutes(1)

    expect(whileRunning).toEqual([])
    expect(await schedules.flows()).toHaveLength(1)
    expect((await schedules.executions()).filter(({ member }) => member === undefined)).toHaveLength(2)
  })

  const trigger = async (timingDigest?: string) => {
    const schedule = await schedules.look()
    const { executionId, memberIds } = firingAt(schedule, 7, 0)
    const input: FireScheduleInput = {
      scheduleId: ID,
      cause: 'trigger',
      firings: [{ executionId, memberIds }],
      timingDigest: timingDigest ?? schedule.timingDigest,
    }
    return await fabric.run('fireSchedule', input)
  }

  test('a trigger starts a flow once, and one of another graph is answered with the schedule', async () => {
    await schedules.schedule({ drawing: draw() })

    const kinds = [(await trigger()).kind, (await trigger()).kind, (await trigger('other')).kind]
    await schedules.engine()

    expect(kinds).toEqual(['schedule_fired', 'schedule_fired', 'schedule_differs'])
    expect(await schedules.flows()).toMatchObject([{ memberCount: 2, schedule: { cause: 'trigger' } }])
  })

  test('a plan that lacks the ids of members is void', async () => {
    const result = await schedules.configure({ drawing: draw() })
    if (result.kind === 'refused') throw new Error(result.code)
    const { timingDigest, plannedUntil: after } = result.schedule
    const at = after + MINUTE_MS
    const boundaries = [{ at, fireAt: at, executionId: given.newId(), memberIds: undefined }]
    const plan = { scheduleId: ID, timingDigest, after, boundaries, floor: 0, isComplete: false }

    expect((await fabric.run('planSchedule', plan)).kind).toBe('plan_outdated')
  })

  test('a flow whose lane is disabled is refused by hand and skipped at a boundary', async () => {
    await schedules.schedule({ drawing: draw() })
    const lane = { type: 'lane', id: 'main', version: 1, tasks: [], weight: undefined, changedAt: 1 } as const
    const hold = { state: 'disabled', by: 'ada', at: 1, reason: 'tests' } as const
    await fabric.run('applyLane', { lane: { ...lane, hold, isCopying: undefined, limit: undefined } })

    const refused = await refusal(fabric, () => trigger())
    await passMinutes(1)

    expect(refused).toMatchObject({ code: 'lane_disabled' })
    expect((await schedules.look()).skipped).toMatchObject({ reason: 'lane_disabled' })
    expect(await schedules.flows()).toEqual([])
  })

  test('a graph beyond the limit is refused, and nothing is stored', async () => {
    const wide = flows.draw(nodes(names('part', FOLLOW_UP_NODE_MAX + 1)), { class: CLASS })
    const whole = { ...wide.calls[0]!, nodes: wide.calls.flatMap((call) => call.nodes) }

    const refused = await refusal(fabric, () => schedules.configure({ drawing: { ...wide, calls: [whole] } }))

    expect(refused).toEqual({ code: 'graph_limit_exceeded', detail: { limit: FOLLOW_UP_NODE_MAX } })
  })

  test('flows are listed by their schedule, newest first', async () => {
    await schedules.schedule({ drawing: draw() })
    await passMinutes(2)
    await flows.graph(chain(['alone']))

    const { flows: listed } = await fabric.run('listFlows', { scheduleId: ID, limit: 10 })
    const { executions } = await fabric.run('listExecutions', { scheduleId: ID, limit: 10 })

    expect(listed.map(({ flow }) => flow.schedule?.at)).toEqual(
      (await schedules.flows()).map(({ schedule }) => schedule?.at).reverse(),
    )
    expect(executions).toHaveLength(4)
  })

  test('deleting the schedule removes its inputs and leaves its flows', async () => {
    await schedules.schedule({ drawing: draw() })
    await passMinutes(1)

    await fabric.run('deleteSchedule', { scheduleId: ID })

    expect((await claimNext()).input).toBe('"input"')
    await completeAll()
    expect(await schedules.flows()).toHaveLength(1)
  })
})
