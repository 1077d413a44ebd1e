import { Command } from 'commander'
import type { ExecutionPage, ExecutionSummary, ListOptions } from '../../client/index.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { parseInteger, parseSince, parseState, parseTag } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import { firstLine, printable } from '../text/printable.ts'
import type { Output } from '../text/output.ts'
import type { Shell } from '../session/shell.ts'
import { stateText } from '../text/state-text.ts'
import { table } from '../text/table.ts'
import { isoTime } from '../text/time-text.ts'

interface ListFlags {
  readonly lane?: string
  readonly task?: string
  readonly state?: string
  readonly tag?: string
  readonly since?: string
  readonly limit?: string
  readonly cursor?: string
}

export function listCommand(shell: Shell): Command {
  return new Command('list')
    .description('executions, newest first; of all namespaces unless --namespace names one')
    .option('--lane <lane>', 'only of this lane')
    .option('--task <task>', 'only of this task')
    .option('--state <state>', 'only in this state: waiting, delayed, active, completed, failed, cancelled, expired, …')
    .option('--tag <name=value>', 'only with this tag')
    .option('--since <time>', 'only created since: how long ago (30m, 2d) or a time in ISO 8601')
    .option('--limit <number>', 'at most this many, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'continue after the previous page')
    .addHelpText(
      'after',
      examples(['list --state failed --since 1h', 'list --tag plan=pro --json | jq -r .items[].id']),
    )
    .action(async (flags: ListFlags, command: Command) => {
      const query = queryOf(flags, shell.runtime.now())
      await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
        const page = await fabric.list({ ...query, ...dropUndefined({ namespace }) })
        await answerPage(page, output)
      })
    })
}

function queryOf(flags: ListFlags, now: number): ListOptions {
  return dropUndefined({
    lane: flags.lane,
    task: flags.task,
    state: parseGiven(flags.state, parseState),
    tag: parseGiven(flags.tag, parseTag),
    createdFrom: parseGiven(flags.since, (text) => parseSince(text, '--since', now)),
    limit: parseGiven(flags.limit, (text) => parseInteger(text, '--limit')),
    cursor: flags.cursor,
  })
}

async function answerPage(page: ExecutionPage, output: Output): Promise<void> {
  if (output.isJson || page.items.length > 0) await output.answer(page, () => pageText(page.items, output))
  if (page.cursor !== undefined) output.remark(`There may be more: add --cursor ${page.cursor}`)
  else if (page.items.length === 0) output.remark('There are none.')
}

/** The column ERROR is present if all executions failed, as with --state failed. */
function pageText(items: readonly ExecutionSummary[], output: Output): string {
  const hasErrors = items.every(({ state }) => state === 'failed')
  const names = ['ID', 'TASK', 'LANE', 'STATE', 'ATTEMPT', 'CREATED', 'KEY', ...(hasErrors ? ['ERROR'] : [])]
  const header = names.map((name) => output.style('dim', name))
  const rows = items.map((item) => [
    item.id,
    item.task,
    item.lane,
    stateText(item.state, output),
    String(item.attempt),
    isoTime(item.createdAt),
    printable(item.key ?? ''),
    ...(hasErrors ? [errorText(item)] : []),
  ])
  return table([header, ...rows], { alignRight: [4] })
}

function errorText({ failure }: ExecutionSummary): string {
  return failure === undefined ? '' : `${failure.category}: ${firstLine(failure.message)}`
}
