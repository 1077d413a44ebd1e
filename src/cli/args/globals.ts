/** The options that every command takes, before or after its name. */
import { Option } from 'commander'
import type { Command } from 'commander'

const STORE_DEFAULT = 'sqlite:./flowfabric.db'

export interface GlobalOptions {
  readonly store: string
  /** If absent, commands that write use `default`, and commands that read cover all namespaces. */
  readonly namespace?: string
  readonly json?: boolean
}

export function addGlobalOptions(program: Command): Command {
  return program
    .addOption(
      new Option(
        '--store <location>',
        'where the store is, such as valkey://localhost:6379 or postgres://localhost/shop',
      )
        .env('FLOWFABRIC_STORE')
        .default(STORE_DEFAULT),
    )
    .addOption(new Option('--namespace <name>', 'the namespace to act in').env('FLOWFABRIC_NAMESPACE'))
    .option('--json', 'print JSON: one document, or one object a line for streams; times are milliseconds since 1970')
}

export function globalsOf(command: Command): GlobalOptions {
  return command.optsWithGlobals<GlobalOptions>()
}

/** Whether --json is given. Works on a command line that cannot be parsed. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? args.length : end).includes('--json')
}
