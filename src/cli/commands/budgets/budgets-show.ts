/** The commands that show one budget and its ledger. */
import { Command } from 'commander'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { parseInteger } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { watch } from '../../process/watch.ts'
import type { Session, Shell } from '../../session/shell.ts'
import { budgetText, ledgerText } from '../../text/budget-text.ts'

interface ShowFlags {
  readonly key?: string
  readonly limit?: string
  readonly watch?: boolean
}

/** Rows that fit on a screen. */
const ROWS_DEFAULT = 20

export function budgetsShowCommand(shell: Shell): Command {
  return new Command('show')
    .description('one budget with what its keys have spent and reserved')
    .argument('<name>', 'the name of the budget')
    .option('--key <key>', "only this key; '' is the use without a key")
    .option('--limit <count>', 'at most this many keys', String(ROWS_DEFAULT))
    .option('--watch', 'show it again every second, until ctrl-c')
    .addHelpText('after', examples(['budgets show tenants', 'budgets show tenants --key acme --watch']))
    .action(async (name: string, flags: ShowFlags, command: Command) => {
      await shell.withFabric(command, {}, async (session) => {
        const isWatching = flags.watch === true
        const exitCode = await watch(shell.runtime, isWatching, () => show(session, name, flags))
        shell.exitCode = exitCode ?? shell.exitCode
      })
    })
}

async function show({ fabric, output }: Session, name: string, flags: ShowFlags): Promise<void> {
  const limit = parseGiven(flags.limit, (count) => parseInteger(count, '--limit'))
  const description = await fabric.budgets.describe(name, dropUndefined({ key: flags.key, limit }))
  const text = () => budgetText(description, output)
  if (flags.watch === true) await output.picture(description, text)
  else await output.answer(description, text)
}

export function budgetsHistoryCommand(shell: Shell): Command {
  return new Command('history')
    .description('the ledger of one key, the latest line first')
    .argument('<name>', 'the name of the budget')
    .option('--key <key>', 'the key, such as a tenant (default: the use without a key)')
    .option('--limit <count>', 'at most this many lines', String(ROWS_DEFAULT))
    .addHelpText('after', examples(['budgets history tenants --key acme']))
    .action(async (name: string, flags: ShowFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const limit = parseGiven(flags.limit, (count) => parseInteger(count, '--limit'))
        const history = await fabric.budgets.history(name, dropUndefined({ key: flags.key, limit }))
        await output.answer(history, () =>
          history.items.length === 0 ? 'Nothing was spent.' : ledgerText(history.items, output),
        )
      })
    })
}
