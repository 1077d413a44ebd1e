/** What stands below the options in a command's help. */
import { exitCodeTexts } from '../process/exit-codes.ts'
import { table } from '../text/table.ts'

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ flowfabric ${line}`).join('\n')}`
}

export function exitCodeHelp(): string {
  const rows = exitCodeTexts.map(({ code, text }) => [String(code), text])
  return `\nExit codes:\n${table(rows, { alignRight: [0], indent: '  ' })}`
}
