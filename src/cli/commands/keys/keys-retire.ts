import { Command } from 'commander'
import { changeKeyFile, readKeyFile } from '../../../client/index.ts'
import { examples } from '../../args/help.ts'
import { KEYS_FILE_FLAG, KEYS_FILE_TEXT } from '../../session/keys-place.ts'
import type { KeysFlags } from '../../session/keys-place.ts'
import type { Shell } from '../../session/shell.ts'

export function keysRetireCommand(shell: Shell): Command {
  return new Command('retire')
    .description('remove a key before its grace is over: links that it signed become invalid immediately')
    .argument('<key>', "the key's id")
    .option(KEYS_FILE_FLAG, KEYS_FILE_TEXT)
    .addHelpText('after', examples(['keys retire k5f0c2a9b1e3d4786']))
    .action(async (id: string, flags: KeysFlags, command: Command) => {
      const { file, output } = shell.keysPlace(command, flags)
      await changeKeyFile(file, shell.runtime, (ring) => (ring ?? readKeyFile(file).ring).retire(id))
      await output.answer({ file, id }, () => `${id} is retired. Links that it signed are refused from now on.`)
    })
}
