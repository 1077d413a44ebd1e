/** Formats a log line: time, level, attempt, step, message and fields. */
import type { LogItem } from '../../client/index.ts'
import type { Output } from './output.ts'
import { printable } from './printable.ts'
import { isoTime } from './time-text.ts'

const LEVEL_STYLES = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' } as const
const LEVEL_WIDTH = 5

export function logText(item: LogItem, output: Output): string {
  if (item.kind === 'trimmed') {
    const { count } = item
    const text =
      count === undefined ? 'the lines of an earlier run were removed' : `${count} lines are not kept any more`
    return output.style('yellow', text)
  }
  const { level, message, fields, step, attempt, at, isCut } = item
  return [
    output.style('dim', isoTime(at)),
    output.style(LEVEL_STYLES[level], level.padEnd(LEVEL_WIDTH)),
    `#${attempt}`,
    step === undefined ? undefined : output.style('dim', `[${printable(step)}]`),
    printable(message),
    Object.keys(fields).length === 0 ? undefined : output.style('dim', printable(JSON.stringify(fields))),
    isCut ? output.style('yellow', '(cut)') : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' ')
}
