/** Writes scripts that complete the commands and options of the program in a shell. */
import type { Command } from 'commander'

/** A command with what can follow it. The path of the program itself is its name. */
interface Entry {
  readonly path: string
  readonly description: string
  readonly commands: readonly string[]
  readonly options: readonly { readonly flag: string; readonly takesValue: boolean; readonly description: string }[]
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type ShellName = (typeof shells)[number]

export function completionScript(shell: ShellName, program: Command): string {
  const entries = entriesOf(program, program.name())
  switch (shell) {
    case 'bash':
      return bashScript(program.name(), entries)
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(program.name(), entries)}`
    case 'fish':
      return fishScript(program.name(), entries)
  }
}

function entriesOf(command: Command, path: string): Entry[] {
  const { commands, options } = command
  const own = {
    path,
    description: command.description(),
    commands: commands.map((inner) => inner.name()),
    options: options.map(({ long, required, optional, description }) => ({
      flag: long ?? '',
      takesValue: required || optional,
      description,
    })),
  }
  return [own, ...commands.flatMap((inner) => entriesOf(inner, `${path} ${inner.name()}`))]
}

/** Finds the deepest command on the line, and offers its commands and options and those of the program. */
function bashScript(name: string, entries: readonly Entry[]): string {
  const [root] = entries
  const global = (root?.options ?? []).map(({ flag }) => flag)
  const paths = entries.map(({ path }) => `"${path}"`).join('|')
  const cases = entries.map(({ path, commands, options }) => {
    const words = [...commands, ...options.map(({ flag }) => flag), ...global, '--help']
    return `    "${path}") words="${[...new Set(words)].join(' ')}" ;;`
  })
  return `_${name}() {
  local path="${name}" words="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="$path \${COMP_WORDS[i]}"
    case "$word" in
      ${paths}) path="$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}
`
}

function fishScript(name: string, entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ path, commands, options }) => {
    const [, ...words] = path.split(' ')
    const condition = conditionOf(words, commands)
    return [
      ...commands.map((command) => {
        const about = entries.find((entry) => entry.path === `${path} ${command}`)?.description ?? ''
        return `complete -c ${name} -f -n ${quoted(condition)} -a ${command} -d ${quoted(about)}`
      }),
      ...options.map(
        ({ flag, takesValue, description }) =>
          `complete -c ${name} ${words.length === 0 ? '' : `-n ${quoted(seen(words))} `}-l ${flag.slice(2)}${takesValue ? ' -r' : ''} -d ${quoted(description)}`,
      ),
    ]
  })
  return `${lines.join('\n')}\n`
}

/** A command is offered behind its path, until one of its siblings is there. */
function conditionOf(words: readonly string[], commands: readonly string[]): string {
  if (words.length === 0) return '__fish_use_subcommand'
  return `${seen(words)}; and not __fish_seen_subcommand_from ${commands.join(' ')}`
}

function seen(words: readonly string[]): string {
  return words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
