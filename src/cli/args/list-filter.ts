/** The flags that say which executions are meant, for commands that list and change them. */
import type { Command } from 'commander'
import type { ListOptions } from '../../client/index.ts'
import { dropUndefined, parseGiven } from './drop-undefined.ts'
import { collect, parseSince, parseState, parseTag } from './flags.ts'

export interface FilterFlags {
  readonly lane?: string
  readonly task?: readonly string[]
  readonly state?: readonly string[]
  readonly tag?: readonly string[]
  readonly since?: string
  readonly until?: string
  readonly endedSince?: string
  readonly endedUntil?: string
  readonly error?: string
  readonly keyPrefix?: string
  readonly flow?: string
  readonly schedule?: string
}

/** `hasState` is false for a command that is about one state. */
export function withFilter(command: Command, { hasState = true } = {}): Command {
  command
    .option('--lane <lane>', 'only of this lane')
    .option('--task <task>', 'only of this task; repeat it for one of several', collect)
  if (hasState) {
    command.option(
      '--state <state>',
      'only in this state: waiting, delayed, active, completed, failed, cancelled, expired, …; repeat it for one of several',
      collect,
    )
  }
  return command
    .option('--tag <name=value>', 'only with this tag; repeat it for all of several', collect)
    .option('--since <time>', 'only created since: how long ago (30m, 2d) or a time in ISO 8601')
    .option('--until <time>', 'only created until then')
    .option('--ended-since <time>', 'only ended since')
    .option('--ended-until <time>', 'only ended until then')
    .option('--error <category>', 'only with a last failure of this category, such as timeout')
    .option('--key-prefix <text>', 'only with an own id that begins with this text')
    .option('--flow <id>', 'only members of the flow with this id or key, in their order')
    .option('--schedule <name>', 'only created by this schedule')
}

/** What the flags of a filter say. */
export function filterOf(flags: FilterFlags, now: number) {
  const time = (flag: string, given: string | undefined) => parseGiven(given, (text) => parseSince(text, flag, now))
  return dropUndefined({
    lane: flags.lane,
    task: flags.task,
    state: flags.state?.map(parseState),
    tag: flags.tag?.map((text) => parseTag(text)),
    createdFrom: time('--since', flags.since),
    createdTo: time('--until', flags.until),
    endedFrom: time('--ended-since', flags.endedSince),
    endedTo: time('--ended-until', flags.endedUntil),
    error: flags.error,
    keyPrefix: flags.keyPrefix,
    flow: flags.flow,
    schedule: flags.schedule,
  } satisfies { readonly [K in keyof ListOptions]?: ListOptions[K] | undefined })
}
