/** The commands that raise, reset, freeze, open and delete a budget. */
import { Command } from 'commander'
import { invalidInput, show } from '../../../client/index.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { parseInteger } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { loginName } from '../../args/operator-identity.ts'
import type { Shell } from '../../session/shell.ts'

interface ChangeFlags {
  readonly key?: string
  readonly reason?: string
}

export function raiseCommand(shell: Shell): Command {
  return new Command('raise')
    .description('add to the hard limits of one key until the budget begins anew, and wake the work that waits for it')
    .argument('<name>', 'the name of the budget')
    .argument('<amounts...>', 'what to add, such as tokens=5000; money in millionths, such as cost=2500000')
    .option('--key <key>', 'the key, such as a tenant (default: the use without a key)')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples(['budgets raise tenants tokens=5000 --key acme --reason "a launch"']))
    .action(async (name: string, given: string[], flags: ChangeFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const options = { amounts: amountsOf(given), by: loginName(), ...dropUndefined({ ...flags }) }
        const kind = await fabric.budgets.raise(name, options)
        await output.answer({ name, kind }, () => `Budget ${name} is raised.`)
      })
    })
}

export function resetCommand(shell: Shell): Command {
  return new Command('reset')
    .description('begin one key anew before its time, and wake the work that waits for it')
    .argument('<name>', 'the name of the budget')
    .option('--key <key>', 'the key, such as a tenant (default: the use without a key)')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples(['budgets reset tenants --key acme']))
    .action(async (name: string, flags: ChangeFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        await fabric.budgets.reset(name, { by: loginName(), ...dropUndefined({ ...flags }) })
        await output.answer({ name, kind: 'reset' }, () => `Budget ${name} begins anew.`)
      })
    })
}

export function freezeCommand(shell: Shell): Command {
  return new Command('freeze')
    .description('reserve nothing and start no new work until the budget is opened')
    .argument('<name>', 'the name of the budget')
    .option('--reason <text>', 'why, shown with the budget')
    .addHelpText('after', examples(['budgets freeze company --reason "an incident"']))
    .action(async (name: string, { reason }: ChangeFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const kind = await fabric.budgets.freeze(name, { by: loginName(), ...dropUndefined({ reason }) })
        await output.answer({ name, kind }, () => `Budget ${name} ${kind === 'frozen' ? 'is' : 'was'} frozen.`)
      })
    })
}

export function openCommand(shell: Shell): Command {
  return new Command('open')
    .description('open a frozen budget, and wake the work that waits for it')
    .argument('<name>', 'the name of the budget')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples(['budgets open company']))
    .action(async (name: string, { reason }: ChangeFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const kind = await fabric.budgets.open(name, { by: loginName(), ...dropUndefined({ reason }) })
        await output.answer({ name, kind }, () => `Budget ${name} is open.`)
      })
    })
}

export function deleteCommand(shell: Shell): Command {
  return new Command('delete')
    .description('delete a budget that has none below it: it bounds and counts nothing from now on')
    .argument('<name>', 'the name of the budget')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples(['budgets delete old-tenants']))
    .action(async (name: string, { reason }: ChangeFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        await fabric.budgets.delete(name, { by: loginName(), ...dropUndefined({ reason }) })
        await output.answer({ name, kind: 'deleted' }, () => `Budget ${name} is deleted.`)
      })
    })
}

function amountsOf(given: readonly string[]): Record<string, number> {
  const amounts: Record<string, number> = {}
  for (const text of given) {
    const [dimension = '', amount, ...more] = text.split('=')
    if (amount === undefined || more.length > 0 || dimension === '') {
      throw invalidInput('amounts', `The amount ${show(text)} must be a dimension and a number, such as tokens=5000.`)
    }
    amounts[dimension] = parseInteger(amount, dimension)
  }
  return amounts
}
