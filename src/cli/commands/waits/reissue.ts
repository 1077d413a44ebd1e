import { Command } from 'commander'
import { unwrap } from '../../../client/index.ts'
import type { TokenOptions } from '../../../client/index.ts'
import { COMMAND_LINE } from '../../args/operator-identity.ts'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { collect, parseDurationFlag } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'

interface ReissueFlags {
  readonly for?: string[]
  readonly expires?: string
  readonly name?: string[]
}

export function reissueCommand(shell: Shell): Command {
  return new Command('reissue')
    .description('create new tokens for a waitpoint; revokes all its earlier tokens')
    .argument('<id>', "the execution's id or key")
    .argument('<waitpoint>', "the waitpoint's key")
    .option('--for <name>', 'the holder of a token; can be repeated, one token each', collect)
    .option('--expires <duration>', 'how long the tokens are valid')
    .option('--name <signal>', 'a signal name that the tokens may send, and no other; can be repeated', collect)
    .addHelpText('after', examples(['reissue deploy:42 review --for ada --for bob --expires 2d']))
    .action(async (id: string, waitpoint: string, flags: ReissueFlags, command: Command) => {
      const expires = parseGiven(flags.expires, (text) => parseDurationFlag(text, '--expires', 1))
      const wanted = holdersOf(flags).map((holder) => dropUndefined({ for: holder, expires, names: flags.name }))
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        for (const options of wanted) fabric.try.checkTokenOptions(options)
        const { waitpoint: view } = unwrap(await fabric.try.reissueWaitpoint(id, waitpoint, COMMAND_LINE))
        const tokens = wanted.map((options) => ({ for: options.for, token: fabric.try.tokenFor(id, view, options) }))
        const document = { id: fabric.try.resolve(id), waitpoint, tokens }
        await output.answer(document, () => tokens.map(tokenLine).join('\n'))
      })
    })
}

/** Without --for there is one token without a named holder. */
function holdersOf(flags: ReissueFlags): readonly (TokenOptions['for'] | undefined)[] {
  return flags.for ?? [undefined]
}

/** Prints a token without a holder alone, so that it can be piped. */
function tokenLine({ for: holder, token }: { readonly for?: string | undefined; readonly token: string }): string {
  return holder === undefined ? token : `${holder}\t${token}`
}
