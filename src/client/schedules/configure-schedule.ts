/** Creates schedules and changes them, and plans their first boundaries. */
import { createHash } from 'node:crypto'
import { boundariesAfter, parseCron } from '../../calendar/boundaries.ts'
import { planSchedule } from '../../calendar/plan-schedule.ts'
import type { ConfigureScheduleInput, Schedule, ScheduleTiming } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidInput } from '../checks/names.ts'
import type { ScheduleDefinition } from '../define/schedule.ts'
import { digestOfBytes } from '../executions/input-digest.ts'
import { declaredLimitsOf } from '../limits/declared-limits.ts'
import { prepareParsed } from '../executions/submit.ts'
import type { Session } from '../session.ts'
import { mintExecutionId } from '../transport/ids.ts'
import { unwrap } from '../transport/unwrap.ts'
import { placeOf } from './schedule-place.ts'

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
  const { name, task, input, times } = definition
  const { cron, every, timeZone, jitter, from, until, overlap = 'skip', missed = 'last', ...options } = times
  const { scheduleId, number } = placeOf(session, name)
  // Executions get ids of their own when they are created.
  const ids = { executionId: mintExecutionId(number, session.runtime), requestId: undefined }
  const { namespace, settings, batcher, runtime } = session
  const setting = { namespace, indexedTags: settings.indexedTags, limits: declaredLimitsOf(batcher, runtime) }
  const submit = await prepareParsed({ task, input, options }, ids, setting)
  const timing: ScheduleTiming = {
    cron,
    timeZone: cron === undefined ? undefined : (timeZone ?? 'UTC'),
    everyMs: every,
    originAt: every === undefined ? undefined : (from ?? 0),
    jitterMs: jitter ?? 0,
    fromAt: from,
    untilAt: until,
  }
  checkTiming(timing)
  const work = submit.input
  const timingDigest = digestOf(timing)
  const { executionId: _id, payload, ...settingsOfWork } = work
  const parts = [timingDigest, settingsOfWork, payload?.encoding, submit.blobs.map(digestOfBytes), overlap, missed]
  return {
    input: {
      scheduleId,
      namespace,
      name,
      digest: digestOf(parts),
      timingDigest,
      timing,
      work,
      overlap,
      missed,
    },
    blobs: submit.blobs,
  }
}

/** Refuses an expression or a zone that cannot be read, and a timing that never fires. */
function checkTiming(timing: ScheduleTiming): void {
  const { cron, timeZone = 'UTC' } = timing
  if (cron !== undefined) {
    checkZone(timeZone)
    try {
      parseCron(cron, timeZone)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      const message = `cron ${JSON.stringify(cron)} is no cron expression of five or six fields: ${reason}`
      throw new EngineError('invalid_input', { field: 'cron', message }, { cause })
    }
  }
  if (boundariesAfter(timing, 0, 1).length > 0) return
  throw invalidInput(
    cron === undefined ? 'every' : 'cron',
    'The schedule would never fire: no boundary is between from and until.',
  )
}

function checkZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch (cause) {
    const message = `timeZone ${JSON.stringify(timeZone)} is not known here. Use an IANA name such as 'Europe/Berlin'.`
    throw new EngineError('invalid_input', { field: 'timeZone', message }, { cause })
  }
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}
