/** The commands that hold back one key of a limit, and end a hold. */
import { Command } from 'commander'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { parseDurationFlag } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { loginName } from '../../args/operator-identity.ts'
import type { Shell } from '../../session/shell.ts'
import { durationText } from '../../text/time-text.ts'

interface HoldFlags {
  readonly for: string
  readonly key?: string
  readonly reason?: string
}

const KEY = '--key <key>'
const KEY_TEXT = 'the key; without it, the use without a key'

export function holdCommand(shell: Shell): Command {
  return new Command('hold')
    .description('let nothing start with one key of a limit for a while; running executions continue')
    .argument('<name>', 'the name of the limit')
    .requiredOption('--for <duration>', 'how long, such as 5m; a day at most')
    .option(KEY, KEY_TEXT)
    .option('--reason <text>', 'why, for those who ask why work is waiting')
    .addHelpText('after', examples(['limits hold openai --for 5m --key acme --reason "the provider is down"']))
    .action(async (name: string, flags: HoldFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const { key, reason } = flags
        const options = {
          for: parseDurationFlag(flags.for, '--for'),
          by: loginName(),
          ...dropUndefined({ key, reason }),
        }
        const { kind, forMs } = await fabric.limits.hold(name, options)
        const verb = kind === 'held' ? 'is held' : 'was held before,'
        await output.answer(
          { name, key, kind, forMs },
          () => `${subject(name, key)} ${verb} for ${durationText(forMs)}.`,
        )
      })
    })
}

interface UnholdFlags {
  readonly key?: string
}

export function unholdCommand(shell: Shell): Command {
  return new Command('unhold')
    .description('end the hold of a key before its time, also one that a handler has set')
    .argument('<name>', 'the name of the limit')
    .option(KEY, KEY_TEXT)
    .addHelpText('after', examples(['limits unhold openai --key acme']))
    .action(async (name: string, { key }: UnholdFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const kind = await fabric.limits.unhold(name, dropUndefined({ key }))
        await output.answer({ name, key, kind }, () =>
          kind === 'lifted' ? `${subject(name, key)} is not held any more.` : `${subject(name, key)} was not held.`,
        )
      })
    })
}

function subject(name: string, key: string | undefined): string {
  return key === undefined || key === '' ? `Limit ${name}` : `Key ${key} of limit ${name}`
}
