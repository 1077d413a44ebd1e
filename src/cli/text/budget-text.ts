/** Formats budgets as tables: all of them, or one with what its keys have spent, with a bar for each limit. */
import type { BudgetDescription, BudgetInfo, LedgerEntry } from '../../client/index.ts'
import type { Output } from './output.ts'
import { printable } from './printable.ts'
import { table } from './table.ts'
import { durationText } from './time-text.ts'

const BAR_WIDTH = 20

export function budgetsText(items: readonly BudgetInfo[], output: Output, now: number): string {
  const header = ['BUDGET', 'BELOW', 'HARD', 'SOFT', 'ON BREACH', 'RESETS IN', 'FROZEN BY']
  const rows = items.map(({ name, parent = '', hard, soft, onBreach, resetsAt, frozen }) => [
    name,
    parent,
    amountsText(hard),
    amountsText(soft),
    onBreach,
    resetsAt === undefined ? '-' : durationText(Math.max(0, resetsAt - now)),
    frozen === undefined ? '' : printable(frozen.by ?? 'an operator'),
  ])
  return table([header.map((name) => output.style('dim', name)), ...rows])
}

export function budgetText(item: BudgetDescription, output: Output): string {
  const { name, parent, onBreach, every, timeZone, resetsAt, frozen, keys, cursor, at } = item
  const period = every === undefined ? 'for ever' : `${every} in ${timeZone ?? 'UTC'}`
  const reset = resetsAt === undefined ? '' : `, resets in ${durationText(Math.max(0, resetsAt - at))}`
  const lines = [
    `${output.style('bold', name)}${parent === undefined ? '' : ` below ${parent}`}, ${period}${reset}, ${onBreach}`,
  ]
  if (frozen !== undefined) {
    const reason = frozen.reason === undefined ? '' : ` (${printable(frozen.reason)})`
    lines.push(`  frozen by ${printable(frozen.by ?? 'an operator')}${reason}`)
  }
  lines.push(keys.length === 0 ? '  nothing was spent' : keysText(item, output))
  if (cursor !== undefined) lines.push('  and more: give --key, or a larger --limit')
  return lines.join('\n')
}

function keysText({ keys }: BudgetDescription, output: Output): string {
  const header = ['KEY', 'DIMENSION', 'SPENT', 'RESERVED', 'OF', '', 'FORECAST', 'REPORTS', 'BREACHES']
  const rows = keys.flatMap(({ key, dimensions, chargeCount, breachCount }) =>
    dimensions.map(({ dimension, spent, reserved, hard, forecast }) => [
      key === '' ? '(none)' : printable(key),
      dimension,
      String(spent),
      String(reserved),
      hard === undefined ? '-' : String(hard),
      hard === undefined ? '' : barText(spent, reserved, hard),
      forecast === undefined ? '-' : String(forecast),
      String(chargeCount),
      String(breachCount),
    ]),
  )
  return table([header.map((name) => output.style('dim', name)), ...rows], {
    alignRight: [2, 3, 4, 6, 7, 8],
    indent: '  ',
  })
}

/** Spent, reserved and free parts of a hard limit. */
function barText(spent: number, reserved: number, hard: number): string {
  const part = (amount: number) => Math.min(BAR_WIDTH, Math.round((amount / hard) * BAR_WIDTH))
  const full = part(spent)
  const held = Math.max(0, part(spent + reserved) - full)
  return `${'#'.repeat(full)}${'+'.repeat(held)}${'.'.repeat(BAR_WIDTH - full - held)}`
}

export function ledgerText(items: readonly LedgerEntry[], output: Output): string {
  const header = ['AT', 'SPENT', 'TASK', 'EXECUTION', 'ATTEMPT', 'KEY']
  const rows = items.map(({ at, spent, task, executionId = '', attempt, key }) => [
    new Date(at).toISOString(),
    amountsText(spent),
    printable(task),
    executionId,
    String(attempt),
    printable(key),
  ])
  return table([header.map((name) => output.style('dim', name)), ...rows], { alignRight: [4] })
}

function amountsText(amounts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(amounts).map(([dimension, value]) => `${value} ${dimension}`)
  return parts.length === 0 ? '-' : parts.join(', ')
}
