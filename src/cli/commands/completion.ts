import { Command } from 'commander'
import { oneOf } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import type { Shell } from '../session/shell.ts'
import { completionScript, shells } from '../text/completion.ts'

export function completionCommand(shell: Shell): Command {
  return new Command('completion')
    .description(`print a script that completes commands and options in a shell: ${shells.join(', ')}`)
    .argument('<shell>', shells.join(', '))
    .addHelpText(
      'after',
      examples([
        'completion bash > ~/.local/share/bash-completion/completions/flowfabric',
        'completion zsh >> ~/.zshrc',
        'completion fish > ~/.config/fish/completions/flowfabric.fish',
      ]),
    )
    .action(async (given: string, _flags: object, command: Command) => {
      const name = oneOf(shells, given, 'shell')
      const script = completionScript(name, rootOf(command))
      await shell.output(command).answer({ shell: name, script }, () => script.trimEnd())
    })
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}
