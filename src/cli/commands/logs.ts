import { Command, Option } from 'commander'
import { logLevels, unwrap } from '../../client/index.ts'
import type { LogLineLevel } from '../../client/index.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import { examples } from '../args/help.ts'
import { Interruption } from '../process/interruption.ts'
import type { Shell } from '../session/shell.ts'
import { logText } from '../text/log-text.ts'

interface LogsFlags {
  readonly follow?: boolean
  readonly from?: string
  readonly level?: LogLineLevel
}

export function logsCommand(shell: Shell): Command {
  return new Command('logs')
    .description('the log lines that the handlers of an execution have written')
    .argument('<id>', "the execution's id or key")
    .option('--follow', 'also those to come, until the execution ends or ctrl-c')
    .option('--from <cursor>', 'continue behind a line')
    .addOption(new Option('--level <level>', 'only lines of this level, or of a more important one').choices(logLevels))
    .addHelpText(
      'after',
      examples([
        'logs brief:acme',
        'logs brief:acme --follow --level warn',
        "logs brief:acme --json | jq -r 'select(.message).message'",
      ]),
    )
    .action(async (id: string, flags: LogsFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        unwrap((await fabric.try.describe(id)).result)
        const { follow = false, from, level } = flags
        using interruption = new Interruption()
        let cursor: string | undefined
        const items = fabric
          .execution(id)
          .logs({ follow, signal: interruption.signal, ...dropUndefined({ from, level }) })
        for await (const item of items) {
          cursor = item.cursor
          await output.answer(item, () => logText(item, output))
        }
        if (cursor === undefined) output.remark('No log lines are kept.')
        else if (interruption.signal.aborted) output.remark(`To continue from here: --from ${cursor}`)
        shell.exitCode = interruption.exitCode ?? shell.exitCode
      })
    })
}
