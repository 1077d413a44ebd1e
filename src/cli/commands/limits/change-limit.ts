/** The commands that define, change and delete a limit. */
import { Command } from 'commander'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import { termsOf, withTerms } from '../../args/limit-terms.ts'
import type { TermFlags } from '../../args/limit-terms.ts'
import { loginName } from '../../args/operator-identity.ts'
import type { Shell } from '../../session/shell.ts'

interface SetFlags extends TermFlags {
  readonly reason?: string
}

export function setCommand(shell: Shell): Command {
  return withTerms(new Command('set'), ', for each key')
    .description('define a limit, or change it; what is left out is not limited')
    .argument('<name>', 'the name of the limit')
    .option('--reason <text>', 'why, shown with the limit')
    .addHelpText(
      'after',
      examples(['limits set openai --per-minute 400 --concurrency 50', 'limits set crm --rate 10/15s']),
    )
    .action(async (name: string, flags: SetFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const change = { by: loginName(), ...dropUndefined({ reason: flags.reason }) }
        const kind = await fabric.limits.define(name, termsOf(flags), change)
        await output.answer({ name, kind }, () => `Limit ${name} ${changeTexts[kind]}.`)
      })
    })
}

const changeTexts = { defined: 'is defined', changed: 'is changed', unchanged: 'was the same before' } as const

interface DeleteFlags {
  readonly reason?: string
}

export function deleteCommand(shell: Shell): Command {
  return new Command('delete')
    .description('delete a limit; work that names it is not limited any more')
    .argument('<name>', 'the name of the limit')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples(['limits delete openai']))
    .action(async (name: string, flags: DeleteFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const kind = await fabric.limits.delete(name, { by: loginName(), ...dropUndefined({ reason: flags.reason }) })
        await output.answer({ name, kind }, () =>
          kind === 'deleted' ? `Limit ${name} is deleted.` : `Limit ${name} was deleted before.`,
        )
      })
    })
}
