import { Command } from 'commander'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'
import { flowCancelCommand } from './flow-cancel.ts'
import { flowListCommand } from './flow-list.ts'
import { flowReplayCommand } from './flow-replay.ts'
import { flowSealCommand } from './flow-seal.ts'
import { flowShowCommand } from './flow-show.ts'

export function flowCommand(shell: Shell): Command {
  return new Command('flow')
    .description('graphs of executions: show, list, cancel, replay, seal')
    .addCommand(flowShowCommand(shell))
    .addCommand(flowListCommand(shell))
    .addCommand(flowCancelCommand(shell))
    .addCommand(flowReplayCommand(shell))
    .addCommand(flowSealCommand(shell))
    .addHelpText('after', examples(['flow show release:42', 'flow replay release:42 e2e']))
}
