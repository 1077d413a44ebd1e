/** Schedules: each boundary fires once, in one operation with the overlap check and with moving on. */
import { expect, test } from 'vitest'
import { SCHEDULE_MISSED_MAX, SCHEDULE_PLAN_MAX, SCHEDULE_PLAN_RETRY_MS } from '../../src/kernel/index.ts'
import { Batcher } from '../../src/stores/batcher.ts'
import { GivenSchedules, ID, MINUTE_MS, NAME } from './given-schedules.ts'
import { heldOf } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const BYTES = new TextEncoder().encode('"input"')
/** Longer than a boundary may be late. */
const OUTAGE_MS = 20 * MINUTE_MS

conforms('schedules', ({ fabric, given, clock }) => {
  const schedules = new GivenSchedules(fabric)
  /** The next whole minutes from now on. */
  const minutes = (count: number, from = clock.now()) => {
    const first = Math.floor(from / MINUTE_MS) + 1
    return Array.from({ length: count }, (_, i) => (first + i) * MINUTE_MS)
  }
  const eventsOf = async (type: string) =>
    (await fabric.events()).filter((event) => event.type === type && event.executionId === NAME)

  /** Lets time pass boundary by boundary, with an engine that runs. */
  async function passMinutes(count: number): Promise<void> {
    for (const at of minutes(count)) {
      clock.advanceTo(at)
      await schedules.engine()
    }
  }

  async function completeNext(): Promise<void> {
    const { executions } = await given.claim()
    await fabric.run('completeExecution', heldOf(executions[0]!))
  }

  test('a new schedule stores its next boundaries, and fires nothing before them', async () => {
    const expected = minutes(SCHEDULE_PLAN_MAX)

    const schedule = await schedules.schedule()
    await schedules.engine()

    expect(schedule.planned.map(({ at }) => at)).toEqual(expected)
    expect(await schedules.boundaries()).toEqual([])
    expect(await eventsOf('schedule_changed')).toMatchObject([{ effect: 'created', by: 'ada', task: 'greet' }])
  })

  test('each boundary creates one execution with the settings and the input of the schedule', async () => {
    const expected = minutes(20)
    await schedules.schedule({ bytes: BYTES })

    await passMinutes(20)

    const executions = await schedules.executions()
    expect(executions.map(({ schedule }) => schedule?.at)).toEqual(expected)
    expect(executions[0]).toMatchObject({
      task: 'greet',
      schedule: { id: ID, cause: 'boundary' },
      payload: { size: 7 },
    })
    expect((await schedules.look()).firedCount).toBe(20)
    const { executions: claimed, blobs } = await claimWithBlobs()
    expect(blobs.map((bytes) => new TextDecoder().decode(bytes))).toEqual(['"input"'])
    expect(claimed[0]?.executionId).toBe(executions[0]?.id)
  })

  async function claimWithBlobs() {
    const { result, blobs } = await fabric.reply('claimForWorker', given.claimInput())
    return { executions: result.executions, blobs }
  }

  test('many schedules of one partition fire in one pass', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `many-${i}`)
    for (const name of names) {
      const input = { ...schedules.input({}), scheduleId: `default\u001f${name}`, name }
      const result = await fabric.run('configureSchedule', input)
      if (result.kind !== 'refused') await schedules.plan(result.schedule)
    }
    clock.advanceTo(minutes(1)[0]!)

    await schedules.engine()

    const { records } = await fabric.dump()
    const fired = records.filter((record) => record.type === 'execution').map(({ schedule }) => schedule?.id)
    expect(fired.sort()).toEqual(names.map((name) => `default\u001f${name}`).sort())
  })

  test('two engines that find one boundary due fire it once', async () => {
    await schedules.schedule()
    const others = [new Batcher(fabric.store, fabric.runtime), new Batcher(fabric.store, fabric.runtime)]
    const expected = minutes(3)

    for (const at of expected) {
      clock.advanceTo(at)
      await Promise.all(others.map((batcher) => schedules.engine(batcher)))
    }
    await Promise.all(others.map((batcher) => batcher.close()))

    expect(await schedules.boundaries()).toEqual(expected)
    expect((await schedules.look()).firedCount).toBe(3)
  })

  test('a due pass that is repeated after a lost reply fires nothing more', async () => {
    await schedules.schedule()
    clock.advanceTo(minutes(1)[0]!)

    await fabric.duePass()
    await fabric.duePass()

    expect(await schedules.boundaries()).toHaveLength(1)
  })

  test('firing and moving on are one step: after each operation either both have happened or none', async () => {
    await schedules.schedule({ overlap: 'queue' })
    for (const at of minutes(6)) {
      clock.advanceTo(at)
      const before = await schedules.look()
      await fabric.duePass({ limit: 1 })
      const after = await schedules.look()
      const executions = await schedules.boundaries()
      const settled = [...executions, ...after.waiting.map((one) => one.at)]
      expect(new Set(settled).size).toBe(settled.length)
      expect(settled).toHaveLength(before.firedCount + before.waiting.length + 1)
      await schedules.plan(after)
    }
  })

  test('an equal definition changes nothing, and another one applies from the next boundary on', async () => {
    await schedules.schedule({ bytes: BYTES })
    const kinds = [(await schedules.configure({ bytes: BYTES })).kind]
    await passMinutes(2)
    const other = new TextEncoder().encode('"other"')

    kinds.push((await schedules.configure({ bytes: other })).kind)
    await passMinutes(1)

    expect(kinds).toEqual(['schedule_unchanged', 'schedule_changed'])
    const payloads: string[] = []
    for (let i = 0; i < 3; i++) {
      const { blobs } = await claimWithBlobs()
      payloads.push(new TextDecoder().decode(blobs[0]))
    }
    expect(payloads).toEqual(['"input"', '"input"', '"other"'])
  })

  test('a change of the timing fires what is due first, and then by the new timing only', async () => {
    await schedules.schedule()
    const [first] = minutes(1)
    clock.advanceTo(first!)

    await schedules.schedule({ timing: { everyMs: 7 * MINUTE_MS } })
    clock.advance(14 * MINUTE_MS)
    await schedules.engine()

    const sevenths = (await schedules.boundaries()).slice(1)
    expect((await schedules.boundaries())[0]).toBe(first)
    expect(sevenths).toHaveLength(2)
    for (const at of sevenths) expect(at % (7 * MINUTE_MS)).toBe(0)
  })

  test('other times keep what the schedule starts, with its input', async () => {
    const { digest, timing, work } = await schedules.schedule({ bytes: BYTES })
    const [first] = minutes(1)
    clock.advanceTo(first!)
    const input = {
      scheduleId: ID,
      basis: digest,
      digest: 'other',
      timingDigest: 'sevenths',
      timing: { ...timing, everyMs: 7 * MINUTE_MS },
      overlap: 'allow',
      missed: 'last',
      by: 'ada',
      reason: 'less load',
    } as const

    const outdated = await fabric.run('retimeSchedule', { ...input, basis: 'an earlier one' })
    const changed = await fabric.run('retimeSchedule', input)
    const again = await fabric.run('retimeSchedule', input)

    expect([outdated, changed, again].map(({ kind }) => kind)).toEqual([
      'schedule_outdated',
      'schedule_changed',
      'schedule_unchanged',
    ])
    expect(await eventsOf('schedule_changed')).toMatchObject([
      { effect: 'created' },
      { effect: 'changed', by: 'ada', reason: 'less load' },
    ])
    expect(await schedules.look()).toMatchObject({ work, missed: 'last', digest: 'other' })
    await schedules.plan(await schedules.look())
    await passMinutes(14)
    const boundaries = await schedules.boundaries()
    expect([boundaries[0], boundaries.slice(1).map((at) => at % (7 * MINUTE_MS))]).toEqual([first, [0, 0]])
    const payloads: string[] = []
    for (let i = 0; i < 3; i++) payloads.push(new TextDecoder().decode((await claimWithBlobs()).blobs[0]))
    expect(payloads).toEqual(['"input"', '"input"', '"input"'])
    expect((await schedules.configure({ bytes: BYTES })).kind).toBe('schedule_changed')
  })

  test('nothing fires from `until` on, and the schedule is complete', async () => {
    const [first, second, third] = minutes(3)
    await schedules.schedule({ timing: { untilAt: third! } })

    await passMinutes(5)

    expect(await schedules.boundaries()).toEqual([first, second])
    expect(await schedules.look()).toMatchObject({ isComplete: true, planned: [], planAt: undefined })
  })

  test('jitter delays a firing, always by the same for one boundary', async () => {
    const jitterMs = 30_000
    const [at] = minutes(1)
    const schedule = await schedules.schedule({ timing: { jitterMs } })
    const { fireAt } = schedule.planned[0]!

    clock.advanceTo(fireAt - 1)
    await schedules.engine()
    const before = await schedules.boundaries()
    clock.advanceTo(fireAt)
    await schedules.engine()

    expect(fireAt - at!).toBeGreaterThanOrEqual(0)
    expect(fireAt - at!).toBeLessThanOrEqual(jitterMs)
    expect([before.length, await schedules.boundaries()]).toEqual([fireAt === at ? 1 : 0, [at]])
    await fabric.run('deleteSchedule', { scheduleId: ID })
    expect((await schedules.schedule({ timing: { jitterMs } })).planned[0]?.at).toBe(at! + MINUTE_MS)
  })

  test('a pause stops firing, and boundaries of the pause do not fire after it', async () => {
    await schedules.schedule()
    await passMinutes(1)
    const hold = { scheduleId: ID, state: 'paused', by: 'ada', reason: 'maintenance' } as const

    const kinds = [(await fabric.run('holdSchedule', hold)).kind, (await fabric.run('holdSchedule', hold)).kind]
    await passMinutes(30)
    kinds.push((await fabric.run('holdSchedule', { ...hold, state: 'active' })).kind)
    const expected = minutes(3)
    await schedules.plan(await schedules.look())
    await passMinutes(3)

    expect(kinds).toEqual(['schedule_held', 'already_satisfied', 'schedule_resumed'])
    expect((await schedules.boundaries()).slice(1)).toEqual(expected)
  })

  test('a short pause keeps the plan', async () => {
    const { planned } = await schedules.schedule()
    const hold = { scheduleId: ID, by: 'ada' } as const
    await fabric.run('holdSchedule', { ...hold, state: 'paused' })
    clock.advanceTo(planned[1]!.at)

    await fabric.run('holdSchedule', { ...hold, state: 'active' })
    await schedules.engine()

    const after = await schedules.look()
    expect(after.planned.map(({ at }) => at)).toEqual(planned.slice(2).map(({ at }) => at))
    expect(await schedules.boundaries()).toEqual([])
  })

  test.for([
    ['skip', 0],
    ['last', 1],
    ['all', 20],
  ] as const)('after an outage the policy %s makes up for %i missed boundaries', async ([missed, count]) => {
    await schedules.schedule({ missed })
    const passed = minutes(20)
    // The latest one is late, too.
    clock.advance(OUTAGE_MS + MINUTE_MS + 1)
    await schedules.engine()
    const madeUp = (await schedules.boundaries()).filter((at) => passed.includes(at) && at + MINUTE_MS < clock.now())
    await passMinutes(2)

    expect(madeUp.length).toBeLessThanOrEqual(count)
    const all = await schedules.boundaries()
    const late = all.filter((at) => at <= passed[19]!)
    if (missed === 'skip') expect(late.every((at) => at + MINUTE_MS >= passed[19]!)).toBe(true)
    if (missed === 'last') expect(late.length).toBeLessThanOrEqual(2)
    if (missed === 'all') expect(late).toEqual(passed)
  })

  test('after a long outage the policy `last` runs one missed boundary, the latest, unless a later one is due', async () => {
    await schedules.schedule({ missed: 'last', timing: { everyMs: 10 * MINUTE_MS } })
    clock.advance(1_000 * MINUTE_MS)
    const latest = Math.floor((clock.now() - 2 * MINUTE_MS) / (10 * MINUTE_MS)) * 10 * MINUTE_MS
    clock.advanceTo(latest + 5 * MINUTE_MS)

    await schedules.engine()

    expect(await schedules.boundaries()).toEqual([latest])
  })

  test('the policy `all` makes up for a bounded number of missed boundaries, the latest ones', async () => {
    await schedules.schedule({ missed: 'all', timing: { everyMs: 10 * MINUTE_MS } })
    clock.advance(5_000 * MINUTE_MS)
    const latest = Math.floor(clock.now() / (10 * MINUTE_MS)) * 10 * MINUTE_MS
    clock.advanceTo(latest + 5 * MINUTE_MS)

    await schedules.engine()

    const found = await schedules.boundaries()
    expect(found).toHaveLength(SCHEDULE_MISSED_MAX)
    expect(found.at(-1)).toBe(latest)
    expect((await eventsOf('schedule_skipped')).map(({ reason }) => reason)).toEqual(['missed'])
  })

  test('a boundary that is a little late fires under every policy', async () => {
    await schedules.schedule({ missed: 'skip' })
    const [first] = minutes(1)
    clock.advanceTo(first! + MINUTE_MS - 1)

    await schedules.engine()

    expect(await schedules.boundaries()).toEqual([first])
  })

  test('without an engine nothing is lost: a schedule asks for boundaries again and again until it gets some', async () => {
    await schedules.schedule()
    for (const at of minutes(SCHEDULE_PLAN_MAX)) {
      clock.advanceTo(at)
      // A process that fires and never plans.
      await fabric.duePass()
    }
    const exhausted = await schedules.look()
    clock.advance(SCHEDULE_PLAN_RETRY_MS)
    const asks = await fabric.duePass()
    clock.advance(SCHEDULE_PLAN_RETRY_MS)
    const asksAgain = await fabric.duePass()
    const expected = minutes(2)
    await schedules.engine()
    await schedules.plan(await schedules.look())
    await passMinutes(2)

    expect(exhausted.planned).toEqual([])
    expect([asks, asksAgain].map(({ handled }) => handled.map((item) => item.case))).toEqual([
      ['schedule_planning'],
      ['schedule_planning'],
    ])
    expect((await schedules.boundaries()).slice(SCHEDULE_PLAN_MAX)).toEqual(expected)
  })

  test('overlap `skip` drops a boundary while an earlier execution has not ended', async () => {
    await schedules.schedule({ overlap: 'skip' })
    const [first, , third] = minutes(3)
    await passMinutes(2)
    await completeNext()
    await passMinutes(1)

    expect(await schedules.boundaries()).toEqual([first, third])
    expect(await eventsOf('schedule_skipped')).toMatchObject([{ reason: 'overlap', until: first! + MINUTE_MS }])
  })

  test('overlap `queue` runs boundaries one after the other, in order', async () => {
    await schedules.schedule({ overlap: 'queue' })
    const expected = minutes(3)
    await passMinutes(3)
    const counts = [(await schedules.boundaries()).length, (await schedules.look()).waiting.length]

    for (let i = 0; i < 3; i++) {
      await completeNext()
      await schedules.engine()
      counts.push((await schedules.boundaries()).length)
    }

    expect(counts).toEqual([1, 2, 2, 3, 3])
    expect(await schedules.boundaries()).toEqual(expected)
    expect((await schedules.look()).waiting).toEqual([])
  })

  test('what waits is woken however the earlier execution ends', async () => {
    await schedules.schedule({ overlap: 'queue' })
    await passMinutes(3)
    const [first] = await schedules.executions()

    await fabric.run('cancelExecution', { executionId: first!.id, reason: 'r', by: 'ada', force: false, graceMs: 0 })
    await schedules.engine()
    const [, second] = await schedules.executions()
    const { executions } = await given.claim()
    await fabric.run('failExecution', {
      ...heldOf(executions[0]!),
      failure: { category: 'permanent', message: 'no' },
      seed: 1,
    })
    await schedules.engine()

    expect(second?.id).toBe(executions[0]?.executionId)
    expect(await schedules.executions()).toHaveLength(3)
  })

  test('overlap `cancel_previous` cancels the earlier execution and runs the boundary then', async () => {
    await schedules.schedule({ overlap: 'cancel_previous' })
    await passMinutes(2)
    const [waiting, next] = await schedules.executions()
    const { executions } = await given.claim({ leaseTtlMs: 10 * MINUTE_MS })
    await passMinutes(1)
    const asked = await fabric.look(executions[0]!.executionId)
    const counts = [(await schedules.executions()).length]

    await fabric.run('cancelExecution', {
      ...heldOf(executions[0]!),
      reason: 'asked to',
      by: 'worker',
      force: false,
      graceMs: 0,
    })
    await schedules.engine()
    counts.push((await schedules.executions()).length)

    expect(waiting?.state).toMatchObject({ phase: 'ended', outcome: 'cancelled', by: 'schedule' })
    expect(next?.id).toBe(executions[0]?.executionId)
    expect(asked.state).toMatchObject({ phase: 'active', cancel: { by: 'schedule' } })
    expect(counts).toEqual([2, 3])
  })

  test('overlap `allow` runs all', async () => {
    await schedules.schedule({ overlap: 'allow' })
    await passMinutes(12)

    expect(await schedules.boundaries()).toHaveLength(12)
  })

  test('a drained lane takes no firing, and the schedule continues', async () => {
    await schedules.schedule()
    const lane = { id: 'main', version: 1, hold: { state: 'draining', at: 1, by: 'ada', reason: undefined } } as const
    const [, second] = minutes(2)
    await fabric.run('applyLane', {
      lane: {
        type: 'lane',
        ...lane,
        tasks: [],
        weight: undefined,
        changedAt: 1,
        isCopying: undefined,
        limit: undefined,
      },
    })
    await passMinutes(1)
    await fabric.run('applyLane', {
      lane: {
        type: 'lane',
        id: 'main',
        version: 2,
        hold: undefined,
        tasks: [],
        weight: undefined,
        changedAt: 2,
        isCopying: undefined,
        limit: undefined,
      },
    })
    await passMinutes(1)

    expect(await schedules.boundaries()).toEqual([second])
    expect(await eventsOf('schedule_skipped')).toMatchObject([{ reason: 'lane_draining' }])
  })

  test('a call by hand fires at once, once per id, also while the schedule is paused', async () => {
    await schedules.schedule({ overlap: 'skip' })
    await fabric.run('holdSchedule', { scheduleId: ID, state: 'paused', by: 'ada' })
    const executionId = given.newId()
    const input = { scheduleId: ID, cause: 'trigger', firings: [{ executionId }] } as const

    const first = await fabric.run('fireSchedule', input)
    const again = await fabric.run('fireSchedule', input)

    expect([first, again].map((result) => (result.kind === 'schedule_fired' ? result.created : undefined))).toEqual([
      [executionId],
      [],
    ])
    expect((await fabric.look(executionId)).schedule).toEqual({ id: ID, at: clock.now(), cause: 'trigger' })
    expect((await schedules.look()).firedCount).toBe(1)
  })

  test('a deleted schedule fires nothing, and what it has created runs on', async () => {
    await schedules.schedule({ overlap: 'queue', bytes: BYTES })
    await passMinutes(2)

    const kinds = [(await fabric.run('deleteSchedule', { scheduleId: ID, by: 'ada' })).kind]
    await passMinutes(3)
    const { executions, blobs } = await claimWithBlobs()
    await fabric.run('completeExecution', heldOf(executions[0]!))

    expect(kinds).toEqual(['schedule_deleted'])
    expect(await schedules.boundaries()).toHaveLength(1)
    expect(new TextDecoder().decode(blobs[0])).toBe('"input"')
    expect((await refusal(fabric, () => fabric.run('deleteSchedule', { scheduleId: ID }))).code).toBe(
      'schedule_not_found',
    )
    expect((await eventsOf('schedule_changed')).map(({ effect }) => effect)).toEqual(['created', 'deleted'])
  })

  test('a schedule of the same name begins anew, and no boundary fires a second time', async () => {
    await schedules.schedule()
    await passMinutes(3)
    await fabric.run('deleteSchedule', { scheduleId: ID })

    await schedules.schedule()
    await passMinutes(4)

    const found = await schedules.boundaries()
    expect(new Set(found).size).toBe(found.length)
    expect(found).toHaveLength(7)
  })

  test('only its owner declares and deletes a schedule', async () => {
    await schedules.schedule({ owner: 'billing' })

    const changed = await refusal(fabric, () => schedules.configure({ owner: 'reports', missed: 'skip' }))
    const deleted = await refusal(fabric, () => fabric.run('deleteSchedule', { scheduleId: ID, owner: 'reports' }))
    const byHand = await schedules.configure({ missed: 'skip' })

    expect([changed.code, deleted.code, byHand.kind]).toEqual(['schedule_owned', 'schedule_owned', 'schedule_changed'])
    expect((await schedules.look()).owner).toBe('billing')
  })

  test('a plan of an earlier definition, or one that was stored already, is void', async () => {
    const first = await schedules.configure()
    if (first.kind === 'refused') throw new Error('the schedule was refused')
    await schedules.schedule({ timing: { everyMs: 7 * MINUTE_MS } })
    const before = await schedules.look()

    await schedules.plan(first.schedule)

    expect(await schedules.look()).toEqual(before)
  })

  test.for(['describeSchedule', 'holdSchedule', 'fireSchedule', 'planSchedule'] as const)(
    '%s of an unknown schedule is refused',
    async (operation) => {
      const plan = { timingDigest: '', after: 0, boundaries: [], floor: 0, isComplete: true }
      const input = { scheduleId: ID, state: 'paused', by: 'ada', cause: 'trigger', firings: [], ...plan } as const
      expect((await refusal(fabric, () => fabric.run(operation, input))).code).toBe('schedule_not_found')
    },
  )

  test('lists schedules by id, page by page', async () => {
    for (const name of ['c', 'a', 'b']) {
      await fabric.run('configureSchedule', { ...schedules.input({}), scheduleId: `default\u001f${name}`, name })
    }

    const first = await fabric.run('listSchedules', { limit: 2 })
    const second = await fabric.run('listSchedules', { limit: 2, cursor: first.cursor })

    expect([first, second].map((page) => page.schedules.map(({ name }) => name))).toEqual([['a', 'b'], ['c']])
    expect(second.cursor).toBeUndefined()
  })
})
