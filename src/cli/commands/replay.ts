import { Command } from 'commander'
import { accept } from '../../client/index.ts'
import { COMMAND_LINE } from '../actor.ts'
import { defined } from '../defined.ts'
import { examples } from '../help.ts'
import type { Shell } from '../shell.ts'

interface ReplayFlags {
  readonly reason?: string
}

export function replayCommand(shell: Shell): Command {
  return new Command('replay')
    .description('run an ended execution again; its history is kept')
    .argument('<id>', "the execution's id or key")
    .option('--reason <text>', 'why, for its history')
    .addHelpText('after', examples(['replay report:2026-01 --reason "the database is back"']))
    .action(async (id: string, { reason }: ReplayFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const result = accept(await fabric.try.replay(id, { by: COMMAND_LINE, ...defined({ reason }) }))
        const executionId = fabric.try.resolve(id)
        await output.answer(
          { id: executionId, ...result },
          () => `${executionId} runs again (replay ${result.replayCount})`,
        )
      })
    })
}
