import { Command } from 'commander'
import { unwrap } from '../../../client/index.ts'
import { COMMAND_LINE } from '../../args/operator-identity.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { findMember } from './members.ts'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'

interface FlowReplayFlags {
  readonly subtree: boolean
  readonly reason?: string
}

export function flowReplayCommand(shell: Shell): Command {
  return new Command('replay')
    .description('run an ended node again, with everything that was skipped because of it')
    .argument('<id>', "the flow's id or key")
    .argument('<node>', "the node's name")
    .option('--no-subtree', 'the node alone')
    .option('--reason <text>', 'why, for its history')
    .addHelpText('after', examples(['flow replay release:42 e2e --reason "the browser is back"']))
    .action(async (id: string, node: string, flags: FlowReplayFlags, command: Command) => {
      const { subtree, reason } = flags
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const flowId = fabric.try.resolveFlow(id)
        const executionId = await findMember(fabric, flowId, node)
        const result = unwrap(
          await fabric.try.replay(executionId, { by: COMMAND_LINE, subtree, ...dropUndefined({ reason }) }),
        )
        await output.answer(
          { flowId, node, id: executionId, ...result },
          () => `${executionId} (${node}) runs again (replay ${result.replayCount})`,
        )
      })
    })
}
