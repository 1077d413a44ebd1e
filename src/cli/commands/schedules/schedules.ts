import { Command } from 'commander'
import type { ScheduleSummary } from '../../../client/index.ts'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { parseInteger } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'
import type { Output } from '../../text/output.ts'
import { timingText } from '../../text/schedule-text.ts'
import { table } from '../../text/table.ts'
import { isoTime } from '../../text/time-text.ts'
import {
  backfillCommand,
  deleteCommand,
  holdCommand,
  nextCommand,
  retimeCommand,
  showScheduleCommand,
  triggerCommand,
} from './one-schedule.ts'
import { setScheduleCommand } from './set-schedule.ts'

interface ListFlags {
  readonly owner?: string
  readonly limit?: string
  readonly cursor?: string
}

export function schedulesCommand(shell: Shell): Command {
  return new Command('schedules')
    .description(
      'the schedules, with their next firing; set, retime, show, pause, resume, trigger, backfill or delete one',
    )
    .option('--owner <name>', 'only those that this owner declares in code')
    .option('--limit <number>', 'at most this many, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'continue after the previous page')
    .addCommand(showScheduleCommand(shell))
    .addCommand(setScheduleCommand(shell))
    .addCommand(retimeCommand(shell))
    .addCommand(nextCommand(shell))
    .addCommand(holdCommand(shell, 'pause', 'stop firing; executions that were created run on'))
    .addCommand(holdCommand(shell, 'resume', 'end a pause: fire again at the next boundary'))
    .addCommand(triggerCommand(shell))
    .addCommand(backfillCommand(shell))
    .addCommand(deleteCommand(shell))
    .addHelpText(
      'after',
      examples(['schedules', 'schedules show nightly', 'schedules pause nightly --reason maintenance']),
    )
    .action(async (flags: ListFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
        const { owner, cursor } = flags
        const limit = parseGiven(flags.limit, (text) => parseInteger(text, '--limit'))
        const page = await fabric.schedules(dropUndefined({ owner, limit, cursor, namespace }))
        if (output.isJson || page.items.length > 0) await output.answer(page, () => pageText(page.items, output))
        if (page.cursor !== undefined) output.remark(`There may be more: add --cursor ${page.cursor}`)
        else if (page.items.length === 0) output.remark('There are none.')
      })
    })
}

/** The columns NAMESPACE and OWNER are present if they differ, or if there is one. */
function pageText(items: readonly ScheduleSummary[], output: Output): string {
  const hasNamespaces = new Set(items.map(({ namespace }) => namespace)).size > 1
  const hasOwners = items.some(({ owner }) => owner !== undefined)
  const names = ['NAME', 'STATE', 'TIMES', 'TASK', 'NEXT', 'LAST', 'FIRED']
  if (hasNamespaces) names.push('NAMESPACE')
  if (hasOwners) names.push('OWNER')
  const rows = items.map((item) => [
    item.name,
    item.state,
    timingText(item),
    item.task,
    item.nextAt === undefined ? '' : isoTime(item.nextAt),
    item.fired === undefined ? '' : isoTime(item.fired.firedAt),
    String(item.firedCount),
    ...(hasNamespaces ? [item.namespace] : []),
    ...(hasOwners ? [item.owner ?? ''] : []),
  ])
  return table([names.map((name) => output.style('dim', name)), ...rows], { alignRight: [6] })
}
