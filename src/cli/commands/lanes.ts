import { Command } from 'commander'
import { publicStates } from '../../kernel/index.ts'
import type { LaneSummary } from '../../client/index.ts'
import { examples } from '../args/help.ts'
import type { Output } from '../text/output.ts'
import type { Shell } from '../session/shell.ts'
import { table } from '../text/table.ts'

export function lanesCommand(shell: Shell): Command {
  return new Command('lanes')
    .description('the lanes that have executions, with the number in each state')
    .argument('[lane]', 'only this lane')
    .addHelpText('after', examples(['lanes', 'lanes slow --json']))
    .action(async (lane: string | undefined, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const items = await fabric.lanes(lane)
        if (output.isJson || items.length > 0) await output.answer({ items }, () => lanesText(items, output))
        if (items.length === 0) output.remark('There are none.')
      })
    })
}

/** Shows a column for each state that occurs. */
function lanesText(items: readonly LaneSummary[], output: Output): string {
  const states = publicStates.filter((state) => items.some((item) => (item.counts[state] ?? 0) > 0))
  const header = ['LANE', ...states.map((state) => state.toUpperCase()), 'TASKS']
  const rows = items.map((item) => [
    item.lane,
    ...states.map((state) => String(item.counts[state] ?? 0)),
    item.tasks.join(', '),
  ])
  const numeric = states.map((_, i) => i + 1)
  return table([header.map((name) => output.style('dim', name)), ...rows], { alignRight: numeric })
}
