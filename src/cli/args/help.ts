/** The sections below the options in the help of a command. */
import { exitCodeTexts } from '../process/exit-codes.ts'
import { table } from '../text/table.ts'

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ flowfabric ${line}`).join('\n')}`
}

export function exitCodeHelp(): string {
  const rows = exitCodeTexts.map(({ code, text }) => [String(code), text])
  return `\nExit codes:\n${table(rows, { alignRight: [0], indent: '  ' })}`
}

/** Settings that only the environment can hold: other users of the machine can read a command line. */
export function environmentHelp(): string {
  return `
Environment, for a store on a server whose location names no password:
  FLOWFABRIC_VALKEY_USERNAME, FLOWFABRIC_POSTGRES_USERNAME            the user
  FLOWFABRIC_VALKEY_PASSWORD, FLOWFABRIC_POSTGRES_PASSWORD            the password
  FLOWFABRIC_VALKEY_PASSWORD_FILE, FLOWFABRIC_POSTGRES_PASSWORD_FILE  a file that holds the password

Environment, for links to waitpoints:
  FLOWFABRIC_KEYS_FILE                                                the file of keys that sign them

Environment, for the HTTP API:
  FLOWFABRIC_TOKENS_FILE                                              the file of tokens that it accepts`
}
