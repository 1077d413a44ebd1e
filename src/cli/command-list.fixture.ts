/** All commands of the program, for tests that none may escape. */
import type { Command } from 'commander'

export interface NamedCommand {
  readonly command: Command
  /** With the names of the commands above it, such as `lanes pause`. */
  readonly name: string
}

export function commandsOf({ commands }: Command, path: readonly string[] = []): NamedCommand[] {
  return commands.flatMap((command) => {
    const own = [...path, command.name()]
    return [{ command, name: own.join(' ') }, ...commandsOf(command, own)]
  })
}
