/** Creates schedules and changes them, and plans their first boundaries. */
import { planSchedule } from '../../calendar/plan-schedule.ts'
import type { ConfigureScheduleInput, Schedule } from '../../kernel/index.ts'
import type { ScheduleDefinition } from '../define/schedule.ts'
import { digestOfBytes } from '../executions/input-digest.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { placeOf } from './schedule-place.ts'
import { digestOf, timingDigestOf, timingOf } from './schedule-timing.ts'
import { prepareStart } from './scheduled-start.ts'

export interface Configured {
  readonly kind: 'created' | 'changed' | 'unchanged'
  readonly schedule: Schedule
  readonly at: number
}

export interface ConfigureOptions {
  /** Who declares it in code. */
  readonly owner?: string | undefined
  readonly by?: string | undefined
}

export async function configureSchedule(
  session: Session,
  definition: ScheduleDefinition,
  { owner, by }: ConfigureOptions = {},
): Promise<Configured> {
  const place = placeOf(session, definition.name)
  const { input, blobs } = await prepare(session, definition)
  const { result } = await session.runIn(place.partition, 'configureSchedule', { ...input, owner, by }, blobs)
  const { kind, schedule, at } = unwrap(result)
  // The engine does the same later, if this process ends before.
  const planned = await planSchedule(schedule, place.number, at, async (plan) => {
    return (await session.runIn(place.partition, 'planSchedule', plan)).result
  })
  return { kind: changes[kind], schedule: planned ?? schedule, at }
}

const changes = { schedule_created: 'created', schedule_changed: 'changed', schedule_unchanged: 'unchanged' } as const

interface Prepared {
  readonly input: ConfigureScheduleInput
  readonly blobs: readonly Uint8Array[]
}

async function prepare(session: Session, definition: ScheduleDefinition): Promise<Prepared> {
  const { name, times } = definition
  const { overlap = 'skip', missed = 'last' } = times
  const place = placeOf(session, name)
  const { scheduleId } = place
  const { namespace } = session
  const timing = timingOf(times)
  const { work, flow, blobs, names, digested } = await prepareStart(session, definition, place)
  const timingDigest = timingDigestOf(timing, names)
  const parts = [
    timingDigest,
    ...digested,
    blobs.map((bytes) => digestOfBytes(bytes, session.batcher.codec)),
    overlap,
    missed,
  ]
  const digest = digestOf(parts)
  return {
    input: { scheduleId, namespace, name, digest, timingDigest, timing, work, flow, overlap, missed },
    blobs,
  }
}
