import { Command } from 'commander'
import { unwrap } from '../../client/index.ts'
import { COMMAND_LINE } from '../args/operator-identity.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import { examples } from '../args/help.ts'
import type { Shell } from '../session/shell.ts'

interface ContinueFlags {
  readonly reason?: string
}

export function continueCommand(shell: Shell): Command {
  return new Command('continue')
    .description('let the executions of an order run that wait behind a failed one')
    .argument('<id>', 'the id of the failed execution; "flowfabric why" of one that waits prints it')
    .option('--reason <text>', 'why, for its history')
    .addHelpText('after', examples(['continue 3-0198f… --reason "booked by hand"']))
    .action(async (id: string, flags: ContinueFlags, command: Command) => {
      const options = { by: COMMAND_LINE, ...dropUndefined({ reason: flags.reason }) }
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const { kind } = unwrap(await fabric.try.continueOrder(id, options))
        const executionId = fabric.try.resolve(id)
        await output.answer({ id: executionId, kind }, () =>
          kind === 'order_continued'
            ? `the executions after ${executionId} run now`
            : `${executionId} holds back no other execution`,
        )
      })
    })
}
