import { Command } from 'commander'
import { unwrap } from '../../../client/index.ts'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'

export function flowSealCommand(shell: Shell): Command {
  return new Command('seal')
    .description('seal a flow: held members start, none can be added, and the flow ends with its last member')
    .argument('<id>', "the flow's id or key")
    .addHelpText('after', examples(['flow seal import:7']))
    .action(async (id: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const flowId = fabric.try.resolveFlow(id)
        const result = unwrap(await fabric.try.sealFlow(id))
        const what = result.kind === 'sealed' ? 'sealed' : 'was sealed already'
        await output.answer(
          { id: flowId, ...result },
          () => `${flowId} ${what} (${result.state}, ${result.memberCount} members)`,
        )
      })
    })
}
