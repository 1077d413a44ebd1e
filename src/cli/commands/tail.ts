import { Command, Option } from 'commander'
import { unwrap } from '../../client/index.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import { subscriptionText } from '../text/event-text.ts'
import { collect, parseEventType } from '../args/flags.ts'
import { followEvents } from './follow-events.ts'
import { examples } from '../args/help.ts'
import { Interruption } from '../process/interruption.ts'
import type { EngineError } from '../../kernel/engine-error.ts'
import type { Shell } from '../session/shell.ts'

interface TailFlags {
  readonly flow?: string
  readonly fromStart?: boolean
  readonly cursor?: string
  readonly type?: string[]
}

export function tailCommand(shell: Shell): Command {
  return new Command('tail')
    .description('events as they happen, until ctrl-c; of all namespaces unless --namespace names one')
    .argument('[id]', 'only of one execution: its id or key')
    .option('--flow <id>', 'only of one flow and its members: its id or key')
    .option('--from-start', 'start with the oldest event that is kept')
    .addOption(new Option('--cursor <cursor>', 'continue where an earlier tail stopped').conflicts('fromStart'))
    .option('--type <type>', 'only events of this type; can be repeated', collect)
    .addHelpText(
      'after',
      examples([
        'tail',
        'tail report:2026-01 --from-start',
        'tail --flow release:42',
        'tail --type execution_ended --json | jq .event.outcome',
      ]),
    )
    .action(async (id: string | undefined, flags: TailFlags, command: Command) => {
      const { flow, fromStart, cursor } = flags
      const types = flags.type?.map(parseEventType)
      await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
        // Refuses an unknown id, for which the tail would wait forever.
        if (id !== undefined) unwrap((await fabric.try.describe(id)).result)
        if (flow !== undefined) unwrap(await fabric.try.describeFlow(flow))
        using interruption = new Interruption()
        const options = {
          signal: interruption.signal,
          onTrouble: (error: EngineError) => output.remark(`${error.code}: ${error.message} Retrying.`),
          ...dropUndefined({ executionId: id, flowId: flow, namespace, fromStart, cursor, types }),
        }
        const position = await followEvents(fabric, options, (item) =>
          output.answer(item, () => subscriptionText(item, output)),
        )
        if (position !== undefined) output.remark(`To continue from here: --cursor ${position}`)
        shell.exitCode = interruption.exitCode ?? shell.exitCode
      })
    })
}
