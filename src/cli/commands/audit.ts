import { Command } from 'commander'
import type { AuditedAction } from '../../client/index.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { parseInteger } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import type { Shell } from '../session/shell.ts'
import type { Output } from '../text/output.ts'
import { firstLine, printable } from '../text/printable.ts'
import { table } from '../text/table.ts'
import { isoTime } from '../text/time-text.ts'

interface AuditFlags {
  readonly action?: string
  readonly by?: string
  readonly target?: string
  readonly limit?: string
  readonly cursor?: string
}

export function auditCommand(shell: Shell): Command {
  return new Command('audit')
    .description('what operators did over servers, with who and why, the latest first')
    .option('--action <name>', 'only this action, such as cancelExecution')
    .option('--by <name>', 'only of these credentials, or in this name')
    .option('--target <id>', 'only what concerned this id or name')
    .option('--limit <number>', 'at most this many, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'continue after the previous page')
    .addHelpText('after', examples(['audit', 'audit --by ada', 'audit --action cancelExecution --json']))
    .action(async ({ action, by, target, limit, cursor }: AuditFlags, command: Command) => {
      const count = parseGiven(limit, (text) => parseInteger(text, '--limit'))
      await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
        const page = await fabric.audit(dropUndefined({ action, by, target, limit: count, cursor, namespace }))
        if (output.isJson || page.items.length > 0) await output.answer(page, () => pageText(page.items, output))
        if (page.cursor !== undefined) output.remark(`There may be more: add --cursor ${page.cursor}`)
        else if (page.items.length === 0) output.remark('There are none.')
      })
    })
}

function pageText(items: readonly AuditedAction[], output: Output): string {
  const header = ['WHEN', 'WHO', 'CREDENTIAL', 'ACTION', 'TARGET', 'OUTCOME', 'NAMESPACE', 'REASON']
  const rows = items.map(({ at, by, credential, action, target, status, code, namespace, reason }) => [
    isoTime(at),
    printable(by ?? credential),
    printable(credential),
    printable(action),
    printable(Object.values(target).join(' ')),
    code ?? (status < 400 ? 'done' : String(status)),
    printable(namespace ?? ''),
    firstLine(reason ?? ''),
  ])
  return table([header.map((name) => output.style('dim', name)), ...rows])
}
