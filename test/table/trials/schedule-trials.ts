/** Calls that concern schedules: their definitions, their boundaries, and the executions that they create. */
import { SCHEDULE_PLAN_RETRY_MS } from '../../../src/kernel/index.ts'
import type { ConfigureScheduleInput, ExecutionId } from '../../../src/kernel/index.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { START_AT, newSubmit, step, submitRequest } from './world.ts'
import type { World } from './world.ts'

const ID = 'default\u001fnightly'
const only = { scheduleId: ID }
const MINUTE_MS = 60_000

const definition: ConfigureScheduleInput = {
  ...only,
  namespace: 'default',
  name: 'nightly',
  digest: 'one',
  timingDigest: 'each minute',
  timing: {
    cron: undefined,
    timeZone: undefined,
    everyMs: MINUTE_MS,
    originAt: 0,
    jitterMs: 0,
    fromAt: undefined,
    untilAt: undefined,
  },
  work: { ...newSubmit(submitRequest), payload: undefined },
  overlap: 'skip',
  missed: 'last',
  by: 'ada',
}
const boundary = {
  at: START_AT + SOON_MS,
  fireAt: START_AT + SOON_MS,
  executionId: '0-00000000-0000-7000-8000-0000000000f1' as ExecutionId,
  memberIds: undefined,
}
const plan = {
  ...only,
  timingDigest: definition.timingDigest,
  after: START_AT,
  boundaries: [boundary],
  floor: START_AT,
  isComplete: true,
}
const retiming = {
  ...only,
  basis: definition.digest,
  digest: 'two',
  timingDigest: 'each hour',
  timing: { ...definition.timing, everyMs: 60 * MINUTE_MS },
  overlap: 'queue',
  missed: 'all',
  by: 'ada',
} as const
const firings = [{ executionId: '0-00000000-0000-7000-8000-0000000000f2' as ExecutionId }]
const hold = { ...only, by: 'ada', reason: 'maintenance' } as const

function defined(world: World): void {
  step(world, 0, { operation: 'configureSchedule', input: definition })
}

function planned(world: World): void {
  defined(world)
  step(world, 0, { operation: 'planSchedule', input: plan })
}

function trial(call: OperationCall, manner = '', prepare?: (world: World) => void, atMs = SOON_MS): Trial {
  return { ...call, manner, atMs, blobs: [], about: 'registry', prepare }
}

export const scheduleTrials: readonly Trial[] = [
  trial({ operation: 'configureSchedule', input: definition }, 'a new one'),
  trial({ operation: 'configureSchedule', input: definition }, 'an equal one', defined),
  trial(
    { operation: 'configureSchedule', input: { ...definition, digest: 'two', overlap: 'allow' } },
    'another',
    planned,
  ),
  trial({ operation: 'configureSchedule', input: { ...definition, owner: 'ops' } }, 'of an owner', defined),
  trial({ operation: 'configureSchedule', input: { ...definition, owner: 'other' } }, 'of another owner', (world) => {
    step(world, 0, { operation: 'configureSchedule', input: { ...definition, owner: 'ops' } })
  }),
  trial({ operation: 'deleteSchedule', input: only }, 'none'),
  trial({ operation: 'deleteSchedule', input: only }, 'one that is planned', planned),
  trial({ operation: 'deleteSchedule', input: { ...only, owner: 'other' } }, 'of another owner', planned),
  trial({ operation: 'describeSchedule', input: only }, 'none'),
  trial({ operation: 'describeSchedule', input: only }, 'one that is planned', planned),
  trial({ operation: 'fireSchedule', input: { ...only, cause: 'trigger', firings } }, 'none'),
  trial({ operation: 'fireSchedule', input: { ...only, cause: 'trigger', firings } }, 'one that is planned', planned),
  trial({ operation: 'holdSchedule', input: { ...hold, state: 'paused' } }, 'none'),
  trial({ operation: 'holdSchedule', input: { ...hold, state: 'paused' } }, 'one that is planned', planned),
  trial({ operation: 'holdSchedule', input: { ...hold, state: 'active' } }, 'one that is not paused', planned),
  trial({ operation: 'listSchedules', input: { limit: 10 } }, '', planned),
  trial({ operation: 'planSchedule', input: plan }, 'none'),
  trial({ operation: 'planSchedule', input: plan }, 'one that lacks boundaries', defined),
  trial({ operation: 'planSchedule', input: plan }, 'one that is planned', planned),
  trial({ operation: 'readUnplanned', input: { scheduleIds: [ID] } }, '', defined),
  trial({ operation: 'retimeSchedule', input: retiming }, 'none'),
  trial({ operation: 'retimeSchedule', input: retiming }, 'one that is planned', planned),
  trial({ operation: 'retimeSchedule', input: { ...retiming, basis: 'other' } }, 'of another definition', planned),
  trial({ operation: 'runDue', input: { limit: 10, seed: 7 } }, 'a boundary has come', planned),
  trial({ operation: 'runDue', input: { limit: 10, seed: 7 } }, 'boundaries lack', defined, SCHEDULE_PLAN_RETRY_MS),
]
