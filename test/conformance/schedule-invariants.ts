/** What must be true of schedules, whatever was done to them. */
import { SCHEDULE_PLAN_MAX, SCHEDULE_QUEUE_MAX } from '../../src/kernel/index.ts'
import type { Execution, Flow, Schedule } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'

type Fired = Execution | Flow

export function scheduleProblems({ records }: PartitionDump): string[] {
  const executions = new Map<string, Fired>()
  for (const record of records)
    if (record.type === 'execution' || record.type === 'flow') executions.set(record.id, record)
  const problems: string[] = []
  for (const record of records) {
    if (record.type !== 'schedule') continue
    for (const problem of problemsOf(record, executions)) problems.push(`schedule ${record.name}: ${problem}`)
  }
  return problems
}

function* problemsOf(schedule: Schedule, executions: ReadonlyMap<string, Fired>): Generator<string> {
  const { planned, waiting, plannedUntil, pause, isComplete, isStalled, planAt, wakeAt, open, fired, firedCount } =
    schedule
  if (planned.length > SCHEDULE_PLAN_MAX) yield 'more boundaries are stored than may be'
  if (waiting.length > SCHEDULE_QUEUE_MAX) yield 'more boundaries wait than may'
  const times = planned.map(({ fireAt }) => fireAt)
  if (times.some((at, i) => at < (times[i - 1] ?? 0))) yield 'its boundaries are not in the order of their firing'
  const ats = [...planned, ...waiting].map(({ at }) => at)
  if (new Set(ats).size !== ats.length) yield 'a boundary is stored twice'
  if (planned.some(({ at }) => at > plannedUntil)) yield 'a boundary lies beyond those that count as planned'
  if (planned.some(({ at, fireAt }) => fireAt < at)) yield 'a boundary fires before its time'
  if (isStalled && planAt === undefined) yield 'it is stalled and asks for no boundaries'
  if (pause === undefined && !isComplete && planned.length === 0 && planAt === undefined)
    yield 'it has stopped silently'
  if (fired !== undefined && firedCount === 0) yield 'it has fired and did not count that'
  const { flow } = schedule
  const lacksIds = [...planned, ...waiting].some(({ memberIds }) => memberIds?.length !== flow?.nodes.length)
  if (lacksIds) yield 'a boundary has the ids of another graph'
  if (waiting.length === 0 || pause !== undefined || wakeAt !== undefined) return
  const holders = open.map((id) => executions.get(id))
  const isAwaited = holders.some((one) => one?.awaitedBy === schedule.id && one.state.phase !== 'ended')
  if (!isAwaited) yield 'a boundary waits, and nothing wakes the schedule'
}
