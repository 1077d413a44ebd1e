import { Command } from 'commander'
import type { ExecutionPage, ExecutionSummary, ListOptions } from '../../client/index.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { parseInteger } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import { filterOf, withFilter } from '../args/list-filter.ts'
import type { FilterFlags } from '../args/list-filter.ts'
import { firstLine, printable } from '../text/printable.ts'
import type { Output } from '../text/output.ts'
import type { Shell } from '../session/shell.ts'
import { stateText } from '../text/state-text.ts'
import { table } from '../text/table.ts'
import { isoTime } from '../text/time-text.ts'

interface ListFlags extends FilterFlags {
  readonly parent?: string
  readonly limit?: string
  readonly cursor?: string
}

/** The column in which a reader recognises an execution. */
interface Label {
  readonly header: string
  readonly of: (item: ExecutionSummary) => string | undefined
}

const KEYS: Label = { header: 'KEY', of: ({ key }) => key }
/** Children have no keys, but a name in their parent. */
const NAMES: Label = { header: 'NAME', of: ({ parent }) => parent?.name }

export function listCommand(shell: Shell): Command {
  return withFilter(new Command('list'))
    .description('executions, newest first; of all namespaces unless --namespace names one')
    .option('--parent <id>', 'only children of the execution with this id or key, in the order of their start')
    .option('--limit <number>', 'at most this many, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'continue after the previous page')
    .addHelpText(
      'after',
      examples([
        'list --state failed --since 1h',
        'list --parent order:42 --state failed',
        'list --tag plan=pro --json | jq -r .items[].id',
      ]),
    )
    .action(async (flags: ListFlags, command: Command) => {
      const query = queryOf(flags, shell.runtime.now())
      await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
        const page = await fabric.list({ ...query, ...dropUndefined({ namespace }) })
        await answerPage(page, output, flags.parent === undefined ? KEYS : NAMES)
      })
    })
}

function queryOf(flags: ListFlags, now: number): ListOptions {
  return dropUndefined({
    ...filterOf(flags, now),
    parent: flags.parent,
    limit: parseGiven(flags.limit, (text) => parseInteger(text, '--limit')),
    cursor: flags.cursor,
  })
}

async function answerPage(page: ExecutionPage, output: Output, label: Label): Promise<void> {
  if (output.isJson || page.items.length > 0) await output.answer(page, () => pageText(page.items, output, label))
  if (page.cursor !== undefined) output.remark(`There may be more: add --cursor ${page.cursor}`)
  else if (page.items.length === 0) output.remark('There are none.')
}

/** The column NEEDS is present if an execution has needs, and ERROR if all executions failed, as with --state failed. */
function pageText(items: readonly ExecutionSummary[], output: Output, label: Label): string {
  const hasErrors = items.every(({ state }) => state === 'failed')
  const hasNeeds = items.some(({ needs }) => needs.length > 0)
  const names = ['ID', 'TASK', 'LANE', 'STATE', 'ATTEMPT', 'CREATED', label.header]
  if (hasNeeds) names.push('NEEDS')
  if (hasErrors) names.push('ERROR')
  const header = names.map((name) => output.style('dim', name))
  const rows = items.map((item) => [
    item.id,
    item.task,
    item.lane,
    stateText(item.state, output),
    String(item.attempt),
    isoTime(item.createdAt),
    printable(label.of(item) ?? ''),
    ...(hasNeeds ? [printable(item.needs.join(' '))] : []),
    ...(hasErrors ? [errorText(item)] : []),
  ])
  return table([header, ...rows], { alignRight: [4] })
}

function errorText({ failure }: ExecutionSummary): string {
  return failure === undefined ? '' : `${failure.category}: ${firstLine(failure.message)}`
}
