import { Command } from 'commander'
import type { ExecutionPage, ExecutionSummary, ListOptions } from '../../client/index.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { collect, parseInteger, parseSince, parseState, parseTag } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import { firstLine, printable } from '../text/printable.ts'
import type { Output } from '../text/output.ts'
import type { Shell } from '../session/shell.ts'
import { stateText } from '../text/state-text.ts'
import { table } from '../text/table.ts'
import { isoTime } from '../text/time-text.ts'

interface ListFlags {
  readonly lane?: string
  readonly task?: readonly string[]
  readonly state?: readonly string[]
  readonly tag?: readonly string[]
  readonly since?: string
  readonly until?: string
  readonly endedSince?: string
  readonly endedUntil?: string
  readonly error?: string
  readonly keyPrefix?: string
  readonly flow?: string
  readonly schedule?: string
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
  return new Command('list')
    .description('executions, newest first; of all namespaces unless --namespace names one')
    .option('--lane <lane>', 'only of this lane')
    .option('--task <task>', 'only of this task; repeat it for one of several', collect)
    .option(
      '--state <state>',
      'only in this state: waiting, delayed, active, completed, failed, cancelled, expired, …; repeat it for one of several',
      collect,
    )
    .option('--tag <name=value>', 'only with this tag; repeat it for all of several', collect)
    .option('--since <time>', 'only created since: how long ago (30m, 2d) or a time in ISO 8601')
    .option('--until <time>', 'only created until then')
    .option('--ended-since <time>', 'only ended since')
    .option('--ended-until <time>', 'only ended until then')
    .option('--error <category>', 'only with a last failure of this category, such as timeout')
    .option('--key-prefix <text>', 'only with an own id that begins with this text')
    .option('--flow <id>', 'only members of the flow with this id or key, in their order')
    .option('--schedule <name>', 'only created by this schedule')
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
  const time = (flag: string, given: string | undefined) => parseGiven(given, (text) => parseSince(text, flag, now))
  return dropUndefined({
    lane: flags.lane,
    task: flags.task,
    state: flags.state?.map(parseState),
    tag: flags.tag?.map(parseTag),
    createdFrom: time('--since', flags.since),
    createdTo: time('--until', flags.until),
    endedFrom: time('--ended-since', flags.endedSince),
    endedTo: time('--ended-until', flags.endedUntil),
    error: flags.error,
    keyPrefix: flags.keyPrefix,
    flow: flags.flow,
    schedule: flags.schedule,
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
