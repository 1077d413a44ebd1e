/** Schedules of tasks and of flows through crashes, clock jumps, outages and changes of the clocks in four zones, beside an oracle. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firingAt } from '../../src/calendar/firing.ts'
import { SCHEDULE_PLAN_RETRY_MS } from '../../src/kernel/index.ts'
import type { ScheduleTiming } from '../../src/kernel/index.ts'
import { Batcher } from '../../src/stores/batcher.ts'
import { Clock } from '../conformance/clock.ts'
import { TestFabric } from '../conformance/fabric.ts'
import { GivenFlow, chain } from '../conformance/given-flow.ts'
import type { Drawing } from '../conformance/given-flow.ts'
import { GivenSchedules, ID } from '../conformance/given-schedules.ts'
import { CLASS, Given, heldOf } from '../conformance/given.ts'
import { derivationProblems } from '../conformance/index-invariants.ts'
import { scheduleProblems } from '../conformance/schedule-invariants.ts'
import type { StoreTarget } from '../conformance/store-target.ts'
import { storeTargets } from '../conformance/targets.ts'
import { holdsForAny } from './random-runs.ts'
import { ScheduleOracle } from './schedule-oracle.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const NODES = ['build', 'deploy']

/** Instants at which the clocks of the zones change, in both directions. */
const changes = [
  { timeZone: 'Europe/Berlin', at: '2026-03-29T01:00Z' },
  { timeZone: 'Europe/Berlin', at: '2026-10-25T01:00Z' },
  { timeZone: 'America/New_York', at: '2026-03-08T07:00Z' },
  { timeZone: 'America/New_York', at: '2026-11-01T06:00Z' },
  { timeZone: 'Australia/Lord_Howe', at: '2026-10-03T15:30Z' },
  { timeZone: 'Australia/Lord_Howe', at: '2026-04-04T15:00Z' },
  { timeZone: 'America/Santiago', at: '2026-09-06T04:00Z' },
  { timeZone: 'America/Santiago', at: '2026-04-05T03:00Z' },
]

const none = { originAt: undefined, fromAt: undefined, untilAt: undefined, everyMs: undefined }
/** The distance of two boundaries exceeds the jitter, so that they fire in their order. */
const jitterMs = fc.constantFrom(0, 0, 20_000)
const expression = fc.constantFrom('*/15 * * * *', '30 2 * * *', '5,35 0-3 * * *', '0 */2 * * *', '0 3 * * 0')
const timing: fc.Arbitrary<ScheduleTiming> = fc.oneof(
  fc
    .record({ cron: expression, change: fc.constantFrom(...changes), jitterMs })
    .map(({ cron, change, jitterMs: jitter }) => ({ ...none, cron, timeZone: change.timeZone, jitterMs: jitter })),
  fc
    .record({
      everyMs: fc.constantFrom(MINUTE_MS, 7 * MINUTE_MS, HOUR_MS),
      originAt: fc.constantFrom(0, 12_345),
      jitterMs,
    })
    .map((period) => ({ ...none, cron: undefined, timeZone: undefined, ...period })),
)

const drawn = fc.record({
  timing,
  change: fc.constantFrom(...changes),
  before: fc.integer({ min: 0, max: 5 * HOUR_MS }),
  missed: fc.constantFrom('skip' as const, 'last' as const, 'all' as const),
  overlap: fc.constantFrom('allow' as const, 'allow' as const, 'skip' as const, 'queue' as const),
  starts: fc.constantFrom('task' as const, 'task' as const, 'flow' as const),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer D> ? D : never

const command = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 20 * MINUTE_MS }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 6 * HOUR_MS }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('back' as const), ms: fc.integer({ min: 1, max: HOUR_MS }) }) },
  { weight: 6, arbitrary: fc.constant({ kind: 'engine' as const }) },
  // It fires and does not plan. Another engine takes over when the schedule asks again.
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('crash' as const), passes: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'both' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'complete' as const }) },
  // The process that has changed the schedule ends before it has planned.
  { weight: 1, arbitrary: fc.constant({ kind: 'same_definition' as const }) },
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

class Run {
  readonly #fabric: TestFabric
  readonly #clock: Clock
  readonly #given: Given
  readonly #schedules: GivenSchedules
  readonly #engines: readonly Batcher[]
  readonly #drawn: Drawn
  readonly #oracle: ScheduleOracle
  /** The graph that is started at each boundary, unless the schedule starts a task. */
  readonly #drawing: Drawing | undefined
  readonly #expected: number[] = []
  readonly #waiting: number[] = []
  #open: number | undefined

  constructor(fabric: TestFabric, one: Drawn) {
    this.#fabric = fabric
    this.#clock = new Clock(fabric)
    this.#given = new Given(fabric, this.#clock)
    this.#schedules = new GivenSchedules(fabric)
    const flows = new GivenFlow(fabric, this.#given)
    this.#drawing = one.starts === 'flow' ? flows.draw(chain(NODES), { class: CLASS }) : undefined
    this.#engines = [1, 2].map(() => new Batcher(fabric.store, fabric.runtime))
    this.#drawn = one
    this.#clock.advance(Date.parse(one.change.at) - one.before - this.#clock.now())
    const from = this.#clock.now()
    this.#oracle = new ScheduleOracle(ID, one.timing, one.missed, from)
  }

  get #draft() {
    const { timing: times, missed, overlap } = this.#drawn
    return { timing: times, missed, overlap, ...(this.#drawing === undefined ? {} : { drawing: this.#drawing }) }
  }

  async begin(): Promise<void> {
    await this.#schedules.schedule(this.#draft)
  }

  async do(one: Command): Promise<void> {
    switch (one.kind) {
      case 'pass':
        this.#clock.advance(one.ms)
        return
      case 'back':
        this.#clock.advance(-one.ms)
        return
      case 'engine':
        await this.#schedules.engine(this.#engines[0])
        this.#ran()
        return
      case 'crash':
        return this.#crash(one.passes)
      case 'both':
        await Promise.all(this.#engines.map((batcher) => this.#schedules.engine(batcher)))
        this.#ran()
        return
      case 'complete':
        return this.#complete()
      case 'same_definition':
        expect((await this.#schedules.configure(this.#draft)).kind).toBe('schedule_unchanged')
        return
    }
  }

  async #crash(passes: number): Promise<void> {
    const until = this.#clock.now() + SCHEDULE_PLAN_RETRY_MS
    // What the crash leaves depends on the order of its calls if a boundary comes or becomes missed meanwhile.
    if (this.#oracle.changesUntil(this.#clock.now(), until)) return this.do({ kind: 'engine' })
    for (let i = 0; i < passes; i++) await this.#fabric.duePass({ limit: 1 })
    this.#clock.advanceTo(until)
    await this.#schedules.engine(this.#engines[1])
    this.#ran()
  }

  /** Long enough for every policy to have decided. */
  async end(): Promise<void> {
    await this.do({ kind: 'pass', ms: SCHEDULE_PLAN_RETRY_MS })
    await this.do({ kind: 'engine' })
    const expected = [...this.#expected].sort((a, b) => a - b)
    if (this.#drawing === undefined) expect(await this.#schedules.boundaries()).toEqual(expected)
    else await this.#expectFlows(expected)
    const dump = await this.#fabric.dump()
    expect([...scheduleProblems(dump), ...derivationProblems(dump)]).toEqual([])
    await Promise.all(this.#engines.map((batcher) => batcher.close()))
  }

  /** Each flow has all its members, whatever crashed between its creation and theirs. */
  async #expectFlows(expected: readonly number[]): Promise<void> {
    const flows = await this.#schedules.flows()
    expect(flows.map(({ schedule }) => schedule?.at)).toEqual(expected)
    expect(new Set(flows.map(({ memberCount }) => memberCount))).toEqual(
      new Set(expected.length > 0 ? [NODES.length] : []),
    )
    const schedule = await this.#schedules.look()
    const memberIds = expected.flatMap((at) => firingAt(schedule, at, 0).memberIds ?? [])
    expect((await this.#schedules.executions()).map(({ id }) => id).sort()).toEqual(memberIds.sort())
  }

  #ran(): void {
    for (const { at } of this.#oracle.run(this.#clock.now())) {
      if (this.#drawn.overlap === 'allow') this.#expected.push(at)
      else if (this.#open === undefined && this.#waiting.length === 0) this.#fire(at)
      else if (this.#drawn.overlap === 'queue' && this.#waiting.length < 100) this.#waiting.push(at)
    }
    this.#next()
  }

  #fire(at: number): void {
    this.#expected.push(at)
    this.#open = at
  }

  #next(): void {
    if (this.#open !== undefined) return
    const next = this.#waiting.shift()
    if (next !== undefined) this.#fire(next)
  }

  /** Ends an execution. Of flows, as many members as one has: unless runs overlap, they are those of the one that is open. */
  async #complete(): Promise<void> {
    for (let left = this.#drawing === undefined ? 1 : NODES.length; left > 0; left--) {
      const { executions } = await this.#given.claim()
      const [claimed] = executions
      if (claimed === undefined) return
      await this.#fabric.run('completeExecution', heldOf(claimed))
    }
    this.#open = undefined
    await this.do({ kind: 'engine' })
  }
}

/** A store that a test has to itself, whichever it is. */
async function onFabric(target: StoreTarget, check: (fabric: TestFabric) => Promise<void>): Promise<void> {
  const fabric = new TestFabric(target)
  await fabric.open()
  try {
    await check(fabric)
  } finally {
    await fabric.close()
  }
}

test.each(storeTargets)('no boundary fires twice, and none is lost that its policy keeps, on $name', async (target) => {
  const commands = fc.array(command, { minLength: 5, maxLength: 30 })
  const check = (one: Drawn, all: Command[]) =>
    onFabric(target, async (fabric) => {
      const run = new Run(fabric, one)
      await run.begin()
      for (const each of all) await run.do(each)
      await run.end()
    })
  const isMemory = target.name.startsWith('memory')
  await holdsForAny<[Drawn, Command[]]>([drawn, commands], check, {
    same: isMemory ? 40 : 6,
    newForMs: isMemory ? 2_000 : 1_000,
  })
})

test.each(storeTargets)(
  'the latest hundred missed boundaries fire, also those of a short jitter, on $name',
  async (target) => {
    const period = { ...none, cron: undefined, timeZone: undefined, everyMs: MINUTE_MS, originAt: 0, jitterMs: 20_000 }
    const one = {
      timing: period,
      change: changes[0]!,
      before: 0,
      missed: 'all',
      overlap: 'allow',
      starts: 'task',
    } as const
    await onFabric(target, async (fabric) => {
      const run = new Run(fabric, one)
      await run.begin()
      // The last boundary is missed only because it would have fired within two seconds.
      await run.do({ kind: 'pass', ms: 18_961_844 })
      await run.do({ kind: 'engine' })
      await run.end()
    })
  },
)
