/** Formats limits as tables: all of them with their busiest key, or one with its keys and the workers that hold permits. */
import { DEFAULT_NAMESPACE } from '../../kernel/index.ts'
import type { KeyUsage, Rate } from '../../kernel/index.ts'
import type { LimitDescription, LimitKeyUsage } from '../../client/index.ts'
import type { Output } from './output.ts'
import { printable } from './printable.ts'
import { table } from './table.ts'
import { durationText } from './time-text.ts'

const NOTHING = '-'

export function limitsText(items: readonly LimitDescription[], output: Output): string {
  const header = ['LIMIT', 'RATE', 'CONCURRENCY', 'BUSIEST KEY', 'USED', 'RUNNING', 'HELD BACK', 'CHANGED', 'BY']
  const rows = items.map((item) => {
    const [busiest] = item.keys
    const cells = busiest === undefined ? [NOTHING, '', '', ''] : keyCells(item, busiest)
    const { name, rate, concurrency, changedAt, changedBy = '', at } = item
    const terms = [name, rateText(rate), concurrency?.toString() ?? NOTHING]
    return [...terms, ...cells, `${ageText(changedAt, at)} ago`, printable(changedBy)]
  })
  return table([header.map((name) => output.style('dim', name)), ...rows], { alignRight: [1, 2, 4, 5] })
}

export function limitText(item: LimitDescription, output: Output): string {
  const { name, rate, concurrency, changedAt, changedBy, reason, at, keys, holders, cursor } = item
  const terms = [
    rate === undefined ? undefined : `${rateText(rate)} for each key`,
    concurrency === undefined ? undefined : `${concurrency} at once for each key`,
  ]
  const by = changedBy === undefined ? '' : ` by ${printable(changedBy)}`
  const why = reason === undefined ? '' : ` (${printable(reason)})`
  const lines = [
    `${output.style('bold', name)} ${terms.filter((term) => term !== undefined).join(', ')}`,
    `  changed ${ageText(changedAt, at)} ago${by}${why}`,
    keys.length === 0 ? '  no key is in use' : keysText(item, output),
  ]
  if (cursor !== undefined) lines.push('  and more: give --key, or a larger --limit')
  if (holders.length > 0) lines.push(holdersText(item, output))
  return lines.join('\n')
}

function keysText(item: LimitDescription, output: Output): string {
  const header = ['KEY', 'USED', 'RUNNING', 'HELD BACK', 'WORKERS', 'ROOM']
  const rows = item.keys.map((usage) => [...keyCells(item, usage), String(usage.holders), roomText(usage)])
  return table([header.map((name) => output.style('dim', name)), ...rows], { alignRight: [1, 2, 4], indent: '  ' })
}

function holdersText({ holders, at }: LimitDescription, output: Output): string {
  const header = ['WORKER INSTANCE', 'PERMITS', 'LAPSE IN']
  const rows = holders.map(({ workerInstanceId, count, expiresAt }) => [
    workerInstanceId,
    String(count),
    durationText(expiresAt - at),
  ])
  return table([header.map((name) => output.style('dim', name)), ...rows], { alignRight: [1], indent: '  ' })
}

/** The key, how much of its window and its cap is used, and who holds it back. */
function keyCells(
  { rate, concurrency, at }: LimitDescription,
  { namespace, key, used, held, hold }: LimitKeyUsage,
): string[] {
  const back =
    hold === undefined
      ? ''
      : `${durationText(hold.until - at)}${hold.by === undefined ? '' : ` by ${printable(hold.by)}`}${hold.reason === undefined ? '' : ` (${printable(hold.reason)})`}`
  return [
    `${key === '' ? '(none)' : printable(key)}${namespace === DEFAULT_NAMESPACE ? '' : ` in ${namespace}`}`,
    rate === undefined ? NOTHING : `${used}/${rate.count}`,
    concurrency === undefined ? String(held) : `${held}/${concurrency}`,
    back,
  ]
}

function roomText({ next }: KeyUsage): string {
  if (next === undefined) return 'when one ends'
  return next.afterMs === 0 ? 'now' : `in ${durationText(next.afterMs)}`
}

export function rateText(rate: Rate | undefined): string {
  return rate === undefined ? NOTHING : `${rate.count}/${durationText(rate.windowMs)}`
}

function ageText(since: number, now: number): string {
  return durationText(Math.max(0, now - since))
}
