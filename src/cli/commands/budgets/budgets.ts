import { Command } from 'commander'
import { examples } from '../../args/help.ts'
import { watch } from '../../process/watch.ts'
import type { Session, Shell } from '../../session/shell.ts'
import { budgetsText } from '../../text/budget-text.ts'
import { deleteCommand, freezeCommand, openCommand, raiseCommand, resetCommand } from './change-budget.ts'
import { budgetsHistoryCommand, budgetsShowCommand } from './budgets-show.ts'

interface BudgetsFlags {
  readonly watch?: boolean
}

export function budgetsCommand(shell: Shell): Command {
  return new Command('budgets')
    .description('the budgets of the store; show, raise, reset, freeze, open and delete them')
    .option('--watch', 'show them again every second, until ctrl-c')
    .addCommand(budgetsShowCommand(shell))
    .addCommand(budgetsHistoryCommand(shell))
    .addCommand(raiseCommand(shell))
    .addCommand(resetCommand(shell))
    .addCommand(freezeCommand(shell))
    .addCommand(openCommand(shell))
    .addCommand(deleteCommand(shell))
    .addHelpText(
      'after',
      examples(['budgets', 'budgets show tenants --key acme --watch', 'budgets history tenants --key acme']),
    )
    .action(async (flags: BudgetsFlags, command: Command) => {
      await shell.withFabric(command, {}, async (session) => {
        const isWatching = flags.watch === true
        const exitCode = await watch(shell.runtime, isWatching, () => show(session, shell.runtime.now(), isWatching))
        shell.exitCode = exitCode ?? shell.exitCode
      })
    })
}

async function show({ fabric, output }: Session, now: number, isWatching: boolean): Promise<void> {
  const items = await fabric.budgets.list()
  const text = () => (items.length === 0 ? 'There are none.' : budgetsText(items, output, now))
  if (isWatching) await output.picture({ items }, text)
  else if (output.isJson || items.length > 0) await output.answer({ items }, text)
  else output.remark('There are none.')
}
