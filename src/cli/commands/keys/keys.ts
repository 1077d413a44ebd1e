import { Command } from 'commander'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'
import { keysListCommand } from './keys-list.ts'
import { keysRetireCommand } from './keys-retire.ts'
import { keysRotateCommand } from './keys-rotate.ts'

export function keysCommand(shell: Shell): Command {
  return new Command('keys')
    .description('the keys that sign links to waitpoints: list, rotate, retire')
    .addCommand(keysListCommand(shell))
    .addCommand(keysRotateCommand(shell))
    .addCommand(keysRetireCommand(shell))
    .addHelpText('after', examples(['keys list', 'keys rotate --grace 7d']))
}
