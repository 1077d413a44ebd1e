/**
 * A year of many schedules with two engines that crash at random: the executions that were created are those of the oracle, each
 * once. FLOWFABRIC_SCHEDULE_YEAR=full runs 1,000 schedules for 8,760 hours, and FLOWFABRIC_SCHEDULE_YEAR=100 a year of so many.
 * Executions end and are removed soon, so the store stays small.
 */
import { expect, test } from 'vitest'
import { firingAt } from '../../src/calendar/firing.ts'
import { boundariesAfter } from '../../src/calendar/boundaries.ts'
import { planSchedule } from '../../src/calendar/plan-schedule.ts'
import type { ConfigureScheduleInput, Instant, Position, ScheduleTiming } from '../../src/kernel/index.ts'
import { virtualRuntime } from '../../src/runtime/index.ts'
import { Batcher } from '../../src/stores/batcher.ts'
import { MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Partition } from '../../src/stores/store.ts'

const wanted = process.env['FLOWFABRIC_SCHEDULE_YEAR']
const isFull = wanted !== undefined
const SCHEDULES = wanted === undefined ? 12 : wanted === 'full' ? 1_000 : Number(wanted)
/** From the middle of March, so that a short run has the changes of the clocks in March and April. */
const START = Date.parse(isFull ? '2026-01-01T00:00Z' : '2026-03-06T00:00Z')
const HOURS = isFull ? 8_760 : 900
const HOUR_MS = 3_600_000
/** The most that one engine does before the next hour. */
const ROUNDS_MAX = 1_000_000
/** Hours after which the log is read and trimmed. */
const EVENTS_EVERY = isFull ? 12 : 200
/** Both engines are down at most so long, so that no more boundaries are missed than are made up for. */
const OUTAGE_HOURS_MAX = 20
const PARTITION: Partition = 'fp:0'

const crons = ['0 * * * *', '30 2 * * *', '15 */6 * * *', '0 0 * * 1', '45 23 1 * *', '*/30 1-3 * * *'] as const
const timeZones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago'] as const

/** Numbers from 0 to 1 that follow from a seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const timings = Array.from({ length: SCHEDULES }, (_, i): ScheduleTiming => {
  const cron = crons[i % crons.length] ?? crons[0]
  const timeZone = timeZones[i % timeZones.length] ?? timeZones[0]
  const none = { everyMs: undefined, originAt: undefined, fromAt: undefined, untilAt: undefined }
  return { ...none, cron, timeZone, jitterMs: i % 3 === 0 ? 60_000 : 0 }
})

/** No worker runs: in a whole year an execution expires, and is removed in the next hour. */
const ends = isFull ? { totalTimeoutMs: 1, retentionMs: 1 } : { retentionMs: 1 }

function definition(timing: ScheduleTiming, i: number): ConfigureScheduleInput {
  const name = `schedule-${i}`
  const retry = { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] } as const
  const work = { task: 'greet', lane: 'main', class: 'greet', priority: 0, tags: [], retry, ...ends }
  const digests = { digest: name, timingDigest: name }
  const policies = { overlap: 'allow', missed: 'all' } as const
  return { scheduleId: `default\u001f${name}`, namespace: 'default', name, timing, work, ...digests, ...policies }
}

test(
  'the executions of a simulated year are those of the oracle, each once',
  { timeout: isFull ? 43_200_000 : 240_000 },
  async () => {
    const random = randomFrom(Number(process.env['FLOWFABRIC_TEST_SEED'] ?? 7))
    const runtime = virtualRuntime(START)
    const store = new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] })
    const batcher = new Batcher(store, runtime)
    const run = async <T>(call: Promise<{ readonly result: T }>): Promise<T> => (await call).result

    async function plan(ids: readonly string[]): Promise<void> {
      const { schedules, at } = await run(batcher.run(PARTITION, 'readUnplanned', { scheduleIds: ids }))
      for (const schedule of schedules) {
        await planSchedule(schedule, 0, at, (input) => run(batcher.run(PARTITION, 'planSchedule', input)))
      }
    }

    /** One engine, up to a call after which it crashes. */
    async function engine(calls: number): Promise<void> {
      for (let call = 0; call < calls; call++) {
        const pass = await run(batcher.run(PARTITION, 'runDue', { limit: 100, seed: 1 }))
        const ids = pass.handled.filter((item) => item.case === 'schedule_planning').map((item) => item.executionId)
        if (pass.handled.length === 0 && pass.next === undefined) return
        call += 1
        // A crash between the two loses the report.
        if (call < calls && ids.length > 0) await plan(ids)
      }
    }

    for (const [i, timing] of timings.entries()) {
      await batcher.run(PARTITION, 'configureSchedule', definition(timing, i))
      await plan([definition(timing, i).scheduleId])
    }

    const created = new Map<string, number>()
    let read = 0
    async function readEvents(): Promise<void> {
      for (;;) {
        const { events } = await store.readEvents(PARTITION, read, 1_000)
        for (const event of events) {
          read = event.sequence
          if (event.type === 'execution_created')
            created.set(event.executionId, (created.get(event.executionId) ?? 0) + 1)
        }
        if (events.length < 1_000) break
      }
      await store.trimEvents(PARTITION, runtime.now(), 0)
    }

    async function purge(): Promise<void> {
      let from: Position | undefined
      do {
        from = (await run(batcher.run(PARTITION, 'purgeExecutions', { from }))).next
      } while (from !== undefined)
    }

    let outage = 0
    for (let hour = 0; hour < HOURS; hour++) {
      runtime.jump(HOUR_MS)
      outage = outage > 0 ? outage - 1 : random() < 0.01 ? Math.floor(random() * OUTAGE_HOURS_MAX) : 0
      if (outage > 0) continue
      const crashes = () => (random() < 0.3 ? Math.floor(random() * 6) : ROUNDS_MAX)
      await Promise.all([engine(crashes()), engine(crashes())])
      if (isFull) await purge()
      if (hour % EVENTS_EVERY === 0) await readEvents()
    }
    // Reports that were lost are asked for again, and what is still due is fired.
    for (let i = 0; i < 3; i++) {
      runtime.jump(6_000)
      await engine(ROUNDS_MAX)
    }
    const end = runtime.now()
    await readEvents()
    await batcher.close()
    await store.close()

    const boundaries = new Map<string, readonly Instant[]>()
    const boundariesOf = (timing: ScheduleTiming): readonly Instant[] => {
      const key = `${timing.cron} ${timing.timeZone}`
      const known = boundaries.get(key) ?? boundariesAfter({ ...timing, untilAt: end + 1 }, START, HOURS * 60)
      boundaries.set(key, known)
      return known
    }
    const expected = new Set<string>()
    for (const [i, timing] of timings.entries()) {
      const { scheduleId: id } = definition(timing, i)
      for (const at of boundariesOf(timing)) {
        const firing = firingAt({ id, timing }, at, 0)
        if (firing.fireAt > end) break
        expected.add(firing.executionId)
      }
    }
    if (isFull) console.log(`${expected.size} boundaries of ${SCHEDULES} schedules in ${HOURS} hours`)
    expect([...created].filter(([, count]) => count > 1)).toEqual([])
    expect([...created.keys()].filter((id) => !expected.has(id))).toEqual([])
    expect([...expected].filter((id) => !created.has(id))).toEqual([])
    expect(expected.size).toBeGreaterThan(HOURS)
  },
)
