/** The options that every command takes, before or after its name. */
import type { Command } from 'commander'
import { CONFIG_FILE_DEFAULT } from '../config/config-file.ts'
import { CONFIG_FILE_VARIABLE } from '../config/settings.ts'

export const STORE_DEFAULT = 'sqlite:./flowfabric.db'

/** As typed. `Shell.configuration` adds what the environment and the file of settings say. */
export interface GlobalFlags {
  readonly store?: string
  /** If absent, commands that write use `default`, and commands that read cover all namespaces. */
  readonly namespace?: string
  readonly config?: string
  readonly json?: boolean
}

export function addGlobalOptions(program: Command): Command {
  return program
    .option(
      '--store <location>',
      `where the store is, such as valkey://localhost:6379 or postgres://localhost/shop (default: FLOWFABRIC_STORE, else ${STORE_DEFAULT})`,
    )
    .option('--namespace <name>', 'the namespace to act in (default: FLOWFABRIC_NAMESPACE)')
    .option(
      '--config <file>',
      `a file of settings (default: ${CONFIG_FILE_VARIABLE}, else ${CONFIG_FILE_DEFAULT} if there is one)`,
    )
    .option('--json', 'print JSON: one document, or one object a line for streams; times are milliseconds since 1970')
}

export function globalsOf(command: Command): GlobalFlags {
  return command.optsWithGlobals<GlobalFlags>()
}

/** Whether --json is given. Works on a command line that cannot be parsed. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? args.length : end).includes('--json')
}
