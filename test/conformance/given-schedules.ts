/** Builders for schedules: each names only what its test is about. */
import { planSchedule } from '../../src/calendar/plan-schedule.ts'
import { scheduleId } from '../../src/kernel/index.ts'
import type {
  ConfigureScheduleInput,
  ConfigureScheduleResult,
  Execution,
  Flow,
  MissedPolicy,
  Overlap,
  Schedule,
  ScheduleTiming,
} from '../../src/kernel/index.ts'
import type { Batcher } from '../../src/stores/batcher.ts'
import type { TestFabric } from './fabric.ts'
import type { Drawing } from './given-flow.ts'
import { CLASS, LANE, RETENTION_MS, noRetry } from './given.ts'

export const NAME = 'nightly'
export const ID = scheduleId('default', NAME)
export const MINUTE_MS = 60_000
/** More than is made up for of any policy, and far less than the due pass of a test can handle. */
const ROUNDS_MAX = 200

export interface ScheduleDraft {
  readonly timing?: Partial<ScheduleTiming>
  readonly overlap?: Overlap
  readonly missed?: MissedPolicy
  readonly owner?: string
  readonly bytes?: Uint8Array
  readonly task?: string
  /** Starts this graph instead of an execution. */
  readonly drawing?: Drawing
}

export class GivenSchedules {
  readonly #fabric: TestFabric

  constructor(fabric: TestFabric) {
    this.#fabric = fabric
  }

  input({
    timing,
    overlap = 'allow',
    missed = 'all',
    owner,
    bytes,
    task = 'greet',
    drawing,
  }: ScheduleDraft): ConfigureScheduleInput {
    const whole: ScheduleTiming = {
      cron: undefined,
      timeZone: undefined,
      everyMs: MINUTE_MS,
      originAt: 0,
      jitterMs: 0,
      fromAt: undefined,
      untilAt: undefined,
      ...timing,
    }
    const flow = drawing?.calls[0]
    const timingDigest = JSON.stringify([whole, flow?.nodes.map(({ name }) => name)])
    return {
      scheduleId: ID,
      namespace: 'default',
      name: NAME,
      owner,
      digest: JSON.stringify([timingDigest, overlap, missed, task, bytes === undefined ? '' : [...bytes], flow]),
      timingDigest,
      timing: whole,
      work: {
        task,
        lane: LANE,
        class: CLASS,
        priority: 0,
        tags: [],
        retry: noRetry,
        retentionMs: RETENTION_MS,
        payload: bytes === undefined ? undefined : { blob: 0, size: bytes.byteLength, encoding: 'bytes' },
      },
      flow,
      overlap,
      missed,
      by: 'ada',
    }
  }

  configure(draft: ScheduleDraft = {}): Promise<ConfigureScheduleResult> {
    const { bytes, drawing } = draft
    const blobs = drawing?.blobs ?? (bytes === undefined ? [] : [bytes])
    return this.#fabric.run('configureSchedule', this.input(draft), blobs)
  }

  /** Creates or changes the schedule, and plans its boundaries as a client does. */
  async schedule(draft: ScheduleDraft = {}): Promise<Schedule> {
    const result = await this.configure(draft)
    if (result.kind === 'refused') throw new Error(`the test's schedule was refused: ${result.code}`)
    return await this.plan(result.schedule)
  }

  async plan(schedule: Schedule): Promise<Schedule> {
    const now = this.#fabric.runtime.now()
    return (await planSchedule(schedule, 0, now, (input) => this.#fabric.run('planSchedule', input))) ?? schedule
  }

  /** Does what an engine does: runs what is due, and plans the boundaries that are lacking, until nothing is left. */
  async engine(batcher?: Batcher): Promise<void> {
    const { partition, runtime } = this.#fabric
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const due = { limit: 100, seed: 1 }
      const pass =
        batcher === undefined
          ? await this.#fabric.run('runDue', due)
          : (await batcher.run(partition, 'runDue', due)).result
      const ids = pass.handled.filter((item) => item.case === 'schedule_planning').map((item) => item.executionId)
      const { schedules } = await this.#fabric.run('readUnplanned', { scheduleIds: ids })
      for (const schedule of schedules) await this.plan(schedule)
      if (pass.handled.length === 0 && (pass.nextDueAt === undefined || pass.nextDueAt > runtime.now())) return
    }
    throw new Error('the due pass of a schedule does not come to an end')
  }

  async look(): Promise<Schedule> {
    const result = await this.#fabric.run('describeSchedule', { scheduleId: ID })
    if (result.kind === 'refused') throw new Error('the test looks for a schedule that does not exist')
    return result.schedule
  }

  /** The executions that the schedule has created, oldest boundary first. */
  async executions(): Promise<Execution[]> {
    const { records } = await this.#fabric.dump()
    const found = records.filter((record) => record.type === 'execution' && record.schedule?.id === ID) as Execution[]
    return found.sort((a, b) => (a.schedule?.at ?? 0) - (b.schedule?.at ?? 0))
  }

  /** The flows that the schedule has started, oldest boundary first. */
  async flows(): Promise<Flow[]> {
    const { records } = await this.#fabric.dump()
    const found = records.filter((record) => record.type === 'flow' && record.schedule?.id === ID) as Flow[]
    return found.sort((a, b) => (a.schedule?.at ?? 0) - (b.schedule?.at ?? 0))
  }

  async boundaries(): Promise<number[]> {
    return (await this.executions()).map(({ schedule }) => schedule?.at ?? 0)
  }
}
