/** The commands that make secrets, which they print once. */
import { Command } from 'commander'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { collect, oneOf, parseEventType, parseTag } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { eventFamilyNames } from '../../../client/index.ts'
import type { Duration } from '../../../client/index.ts'
import type { Shell } from '../../session/shell.ts'

interface DefineFlags {
  readonly type?: string[]
  readonly family?: string[]
  readonly task?: string
  readonly lane?: string
  readonly tag?: string
  readonly disableAfter?: string
  readonly allowPrivate?: boolean
}

export function defineCommand(shell: Shell): Command {
  return new Command('define')
    .description('send the events that match to a URL, from now on; prints the secret of a new webhook once')
    .argument('<name>', 'the name of the webhook')
    .argument('<url>', 'https, and a public host')
    .option('--type <type>', 'only events of this type; can be repeated', collect)
    .option('--family <family>', `only events about this: ${eventFamilyNames.join(', ')}; can be repeated`, collect)
    .option('--task <task>', 'only of executions of this task')
    .option('--lane <lane>', 'only of executions in this lane')
    .option('--tag <name=value>', 'only of executions with this tag')
    .option('--disable-after <duration>', 'how long every try may fail before it is disabled (default: 3d)')
    .option('--allow-private', 'accept http and private hosts, for tests')
    .addHelpText('after', examples(['webhooks define crm https://crm.example.com/hooks --type execution_ended']))
    .action(async (name: string, url: string, flags: DefineFlags, command: Command) => {
      const options = dropUndefined({
        types: flags.type?.map(parseEventType),
        families: flags.family?.map((text) => oneOf(eventFamilyNames, text, '--family')),
        task: flags.task,
        lane: flags.lane,
        tag: parseGiven(flags.tag, parseTag),
        disableAfter: flags.disableAfter as Duration | undefined,
        allowPrivate: flags.allowPrivate,
      })
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const defined = await fabric.webhooks.define(name, { url, ...options })
        await output.answer(defined, () => defined.secret ?? `Webhook ${name} is ${defined.state}.`)
        if (defined.secret !== undefined) output.remark('This is the secret of the receiver. It is not shown again.')
      })
    })
}

export function rotateCommand(shell: Shell): Command {
  return new Command('rotate')
    .description('make a new secret and print it once; earlier ones sign beside it for a while')
    .argument('<name>', 'the name of the webhook')
    .option('--grace <duration>', 'for how long (default: 1d)')
    .addHelpText('after', examples(['webhooks rotate crm --grace 7d']))
    .action(async (name: string, { grace }: { readonly grace?: string }, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const rotated = await fabric.webhooks.rotate(name, dropUndefined({ grace: grace as Duration | undefined }))
        await output.answer(rotated, () => rotated.secret)
        output.remark('This is the new secret of the receiver. It is not shown again.')
      })
    })
}
