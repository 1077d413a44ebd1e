import { Command } from 'commander'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { parseInteger } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { watch } from '../../process/watch.ts'
import type { Session, Shell } from '../../session/shell.ts'
import { limitText } from '../../text/limit-text.ts'

interface ShowFlags {
  readonly key?: string
  readonly limit?: string
  readonly watch?: boolean
}

/** Rows that fit on a screen. */
const KEYS_DEFAULT = 20

export function limitsShowCommand(shell: Shell): Command {
  return new Command('show')
    .description('one limit with the keys that are in use, the busiest first')
    .argument('<name>', 'the name of the limit')
    .option('--key <key>', "only this key, with the workers that hold its permits; '' is the use without a key")
    .option('--limit <count>', 'at most this many keys', String(KEYS_DEFAULT))
    .option('--watch', 'show it again every second, until ctrl-c')
    .addHelpText('after', examples(['limits show openai', 'limits show openai --key acme --watch']))
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
  const description = await fabric.limits.describe(name, dropUndefined({ key: flags.key, limit }))
  const text = () => limitText(description, output)
  if (flags.watch === true) await output.picture(description, text)
  else await output.answer(description, text)
}
