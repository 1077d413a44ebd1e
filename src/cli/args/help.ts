/** The sections below the options in the help of a command. */
import { CONFIG_FILE_DEFAULT } from '../config/config-file.ts'
import { exitCodeTexts } from '../process/exit-codes.ts'
import { table } from '../text/table.ts'

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ flowfabric ${line}`).join('\n')}`
}

export function exitCodeHelp(): string {
  const rows = exitCodeTexts.map(({ code, text }) => [String(code), text])
  return `\nExit codes:\n${table(rows, { alignRight: [0], indent: '  ' })}`
}

/** Secrets have no flags, because other users of the machine can read a command line. */
export function environmentHelp(): string {
  return `
Settings also come from the environment and from ${CONFIG_FILE_DEFAULT}: flowfabric config lists all of them, with their values
and where each comes from. For a store on a server whose location names no password, user and password come from:
  FLOWFABRIC_VALKEY_USERNAME, FLOWFABRIC_POSTGRES_USERNAME            the user
  FLOWFABRIC_VALKEY_PASSWORD, FLOWFABRIC_POSTGRES_PASSWORD            the password
  FLOWFABRIC_VALKEY_PASSWORD_FILE, FLOWFABRIC_POSTGRES_PASSWORD_FILE  a file that contains the password
The file of keys that sign links to waitpoints is FLOWFABRIC_KEYS_FILE, that of tokens for the HTTP API FLOWFABRIC_TOKENS_FILE.`
}
