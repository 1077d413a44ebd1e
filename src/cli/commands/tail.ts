import { Command, Option } from 'commander'
import { examples } from '../args/help.ts'
import type { Shell } from '../session/shell.ts'
import { addFilterOptions, printEvents } from './events.ts'
import type { FilterFlags } from './events.ts'

interface TailFlags extends FilterFlags {
  readonly fromStart?: boolean
  readonly cursor?: string
}

export function tailCommand(shell: Shell): Command {
  return addFilterOptions(
    new Command('tail')
      .description('events as they happen, until ctrl-c; of all namespaces unless --namespace names one')
      .argument('[id]', 'only of one execution: its id or key'),
  )
    .option('--from-start', 'start with the oldest event that is kept')
    .addOption(new Option('--cursor <cursor>', 'continue where an earlier tail stopped').conflicts('fromStart'))
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
      const { fromStart = false, cursor } = flags
      await printEvents(shell, command, id, flags, { fromStart, cursor, follow: true })
    })
}
