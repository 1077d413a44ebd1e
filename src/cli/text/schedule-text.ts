/** Schedules as text. */
import type { ScheduleDescription, ScheduleSummary } from '../../client/index.ts'
import { printable } from './printable.ts'
import { table } from './table.ts'
import { durationText, isoTime } from './time-text.ts'

/** When it fires: the cron expression with its zone, or the period. */
export function timingText({ cron, timeZone, everyMs, jitterMs }: ScheduleSummary): string {
  const times = cron === undefined ? `every ${durationText(everyMs ?? 0)}` : `${cron} ${timeZone ?? ''}`.trim()
  return jitterMs === 0 ? times : `${times}, jitter ${durationText(jitterMs)}`
}

export function scheduleText(description: ScheduleDescription): string {
  const { next, latest, skipped } = description
  const rows: (readonly [string, string | undefined])[] = [
    ['schedule', description.name],
    ['state', description.state],
    ['times', timingText(description)],
    ['from', instantText(description.from)],
    ['until', instantText(description.until)],
    [description.starts, description.task],
    ['lane', description.lane],
    ['overlap', description.overlap],
    ['missed', description.missed],
    ['owner', description.owner],
    ['fired', String(description.firedCount)],
    ['waiting', description.waitingCount === 0 ? undefined : String(description.waitingCount)],
    ['skipped', skipped === undefined ? undefined : `${isoTime(skipped.at)}: ${skipped.reason}`],
  ]
  const facts = rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, printable(value)]]))
  const firings = latest.map((one) => [isoTime(one.at), one.state, one.flowId ?? one.executionId])
  return [
    table(facts),
    ...(firings.length === 0 ? [] : ['', 'latest', table(firings)]),
    ...(next.length === 0 ? [] : ['', 'next', nextText(description)]),
    '',
    printable(description.text),
  ].join('\n')
}

/** One line for each firing to come. */
export function nextText({ next }: Pick<ScheduleDescription, 'next'>): string {
  return next.map(({ fireAt }) => isoTime(fireAt)).join('\n')
}

function instantText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : isoTime(at)
}
