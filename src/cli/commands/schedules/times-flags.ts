/** The flags for when a schedule fires. */
import type { Command } from 'commander'
import type { FiringTimes } from '../../../client/index.ts'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { oneOf, parseDurationFlag, parseSince } from '../../args/flags.ts'

export interface TimesFlags {
  readonly cron?: string
  readonly every?: string
  readonly timeZone?: string
  readonly jitter?: string
  readonly from?: string
  readonly until?: string
  readonly overlap?: string
  readonly missed?: string
}

export function addTimesOptions(command: Command): Command {
  return command
    .option('--cron <expression>', 'when: five fields, or six with seconds first')
    .option('--every <duration>', 'a period instead, of a second at least')
    .option('--time-zone <zone>', 'the zone of the expression, such as Europe/Berlin (default: UTC)')
    .option('--jitter <duration>', 'delay each firing by up to this much')
    .option('--from <time>', 'fire from this time on, in ISO 8601')
    .option('--until <time>', 'do not fire at this time or after, in ISO 8601')
    .option('--overlap <policy>', 'while an earlier execution runs: skip (default), queue, cancel_previous or allow')
    .option('--missed <policy>', 'of boundaries that passed without an engine: last (default), skip or all')
}

export function timesIn(flags: TimesFlags, now: number): FiringTimes {
  return dropUndefined({
    cron: flags.cron,
    every: parseGiven(flags.every, (text) => parseDurationFlag(text, '--every', 1)),
    timeZone: flags.timeZone,
    jitter: parseGiven(flags.jitter, (text) => parseDurationFlag(text, '--jitter')),
    from: parseGiven(flags.from, (text) => parseSince(text, '--from', now)),
    until: parseGiven(flags.until, (text) => parseSince(text, '--until', now)),
    overlap: parseGiven(flags.overlap, (text) =>
      oneOf(['skip', 'queue', 'cancel_previous', 'allow'] as const, text, '--overlap'),
    ),
    missed: parseGiven(flags.missed, (text) => oneOf(['skip', 'last', 'all'] as const, text, '--missed')),
  })
}
