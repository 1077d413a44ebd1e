import { Command, Option } from 'commander'
import type { EngineError } from '../../kernel/engine-error.ts'
import { eventFamilyNames, unwrap } from '../../client/index.ts'
import type { EventFilterOptions } from '../../client/index.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { collect, oneOf, parseEventType, parseTag } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import { Interruption } from '../process/interruption.ts'
import type { Shell } from '../session/shell.ts'
import { subscriptionText } from '../text/event-text.ts'
import { followEvents } from './follow-events.ts'

export interface FilterFlags {
  readonly flow?: string
  readonly type?: string[]
  readonly family?: string[]
  readonly task?: string
  readonly lane?: string
  readonly tag?: string
}

interface EventFlags extends FilterFlags {
  readonly follow?: boolean
  readonly cursor?: string
}

/** Where the command begins, and whether it continues at the end of the log. */
interface EventRange {
  readonly fromStart?: boolean
  readonly cursor?: string | undefined
  readonly follow: boolean
}

export function addFilterOptions(command: Command): Command {
  return command
    .option('--flow <id>', 'only of one flow and its members: its id or key')
    .option('--type <type>', 'only events of this type; can be repeated', collect)
    .option('--family <family>', `only events about this: ${eventFamilyNames.join(', ')}; can be repeated`, collect)
    .option('--task <task>', 'only of executions of this task')
    .option('--lane <lane>', 'only of executions in this lane')
    .option('--tag <name=value>', 'only of executions with this tag')
}

function filterOf(flags: FilterFlags): EventFilterOptions {
  return dropUndefined({
    types: flags.type?.map(parseEventType),
    families: flags.family?.map((text) => oneOf(eventFamilyNames, text, '--family')),
    task: flags.task,
    lane: flags.lane,
    tag: parseGiven(flags.tag, parseTag),
  })
}

export function eventsCommand(shell: Shell): Command {
  return addFilterOptions(
    new Command('events')
      .description('the events that are kept, oldest first; of all namespaces unless --namespace names one')
      .argument('[id]', 'only of one execution: its id or key'),
  )
    .option('--follow', 'continue with new events, until ctrl-c')
    .addOption(new Option('--cursor <cursor>', 'only events after this place in the log'))
    .addHelpText(
      'after',
      examples(['events --family leases', 'events --task report --tag plan=pro --follow', 'events report:42 --json']),
    )
    .action(async (id: string | undefined, flags: EventFlags, command: Command) => {
      const { cursor, follow } = flags
      await printEvents(shell, command, id, flags, { cursor, follow: follow === true, fromStart: cursor === undefined })
    })
}

/** Prints events until the range ends or the process is interrupted. */
export async function printEvents(
  shell: Shell,
  command: Command,
  id: string | undefined,
  flags: FilterFlags,
  range: EventRange,
): Promise<void> {
  const { flow } = flags
  const filter = filterOf(flags)
  await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
    // Refuses an unknown id, for which the command would wait forever.
    if (id !== undefined) unwrap((await fabric.try.describe(id)).result)
    if (flow !== undefined) unwrap(await fabric.try.describeFlow(flow))
    using interruption = new Interruption()
    const options = {
      signal: interruption.signal,
      onTrouble: (error: EngineError) => output.remark(`${error.code}: ${error.message} Retrying.`),
      ...filter,
      ...dropUndefined({ executionId: id, flowId: flow, namespace, ...range }),
    }
    const position = await followEvents(fabric, options, (item) =>
      output.answer(item, () => subscriptionText(item, output)),
    )
    if (range.follow && position !== undefined) output.remark(`To continue from here: --cursor ${position}`)
    shell.exitCode = interruption.exitCode ?? shell.exitCode
  })
}
