/** Failed executions in groups of the same cause. */
import { Command } from 'commander'
import type { FailureGroup } from '../../client/index.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { parseInteger } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import { filterOf, withFilter } from '../args/list-filter.ts'
import type { FilterFlags } from '../args/list-filter.ts'
import type { Shell } from '../session/shell.ts'
import { printable } from '../text/printable.ts'
import { table } from '../text/table.ts'
import { isoTime } from '../text/time-text.ts'

interface FailuresFlags extends Omit<FilterFlags, 'state'> {
  readonly examine?: string
}

export function failuresCommand(shell: Shell): Command {
  return withFilter(new Command('failures'), { hasState: false })
    .description('failed executions in groups: by task, category, and message without its numbers')
    .option('--examine <n>', 'look at most at so many, the newest first (default: 2000)')
    .addHelpText('after', examples(['failures --ended-since 1h', 'failures --task charge --json']))
    .action(async (flags: FailuresFlags, command: Command) => {
      const filter = filterOf(flags, shell.runtime.now())
      const examine = parseGiven(flags.examine, (text) => parseInteger(text, '--examine'))
      await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
        const found = await fabric.failures({ ...filter, ...dropUndefined({ examine, namespace }) })
        if (output.isJson || found.groups.length > 0) await output.answer(found, () => groupsText(found.groups))
        else output.remark('There are none.')
        if (found.isCut) output.remark(`Older ones were not examined: give --examine more than ${found.examined}.`)
      })
    })
}

function groupsText(groups: readonly FailureGroup[]): string {
  const rows = groups.map(({ count, task, category, message, lastAt, examples: [example = ''] }) => [
    String(count),
    task,
    category,
    lastAt === undefined ? '' : isoTime(lastAt),
    printable(example),
    printable(message),
  ])
  return table([['COUNT', 'TASK', 'CATEGORY', 'LAST', 'EXAMPLE', 'MESSAGE'], ...rows], { alignRight: [0] })
}
