/** The flags that say what a limit allows: a rate, a concurrency, or both. */
import type { Command } from 'commander'
import { invalidInput, show } from '../../client/index.ts'
import type { LimitOptions } from '../../client/index.ts'
import { dropUndefined, parseGiven } from './drop-undefined.ts'
import { parseDurationFlag, parseInteger } from './flags.ts'

export interface TermFlags {
  readonly perSecond?: string
  readonly perMinute?: string
  readonly perHour?: string
  readonly perDay?: string
  readonly rate?: string
  readonly concurrency?: string
}

/** Adds the flags that say what a limit allows. */
export function withTerms(command: Command, unit: string): Command {
  return command
    .option('--per-second <count>', `how much may start in any second${unit}`)
    .option('--per-minute <count>', 'the same in any minute')
    .option('--per-hour <count>', 'the same in any hour')
    .option('--per-day <count>', 'the same in any day')
    .option('--rate <count/duration>', 'the same in any interval of this length, such as 10/15s')
    .option('--concurrency <count>', `how many executions may run at once${unit}`)
}

/** What the flags of a limit say. */
export function termsOf({ perSecond, perMinute, perHour, perDay, rate, concurrency }: TermFlags): LimitOptions {
  const number = (flag: string, text: string | undefined) => parseGiven(text, (given) => parseInteger(given, flag))
  return dropUndefined({
    perSecond: number('--per-second', perSecond),
    perMinute: number('--per-minute', perMinute),
    perHour: number('--per-hour', perHour),
    perDay: number('--per-day', perDay),
    rate: parseGiven(rate, parseRate),
    concurrency: number('--concurrency', concurrency),
  })
}

function parseRate(text: string): NonNullable<LimitOptions['rate']> {
  const [count = '', per, ...more] = text.split('/')
  if (per !== undefined && more.length === 0) {
    return { count: parseInteger(count, '--rate'), per: parseDurationFlag(per, '--rate', 1) }
  }
  throw invalidInput('--rate', `--rate is ${show(text)}, but must be a count and a duration, such as 10/15s.`)
}
