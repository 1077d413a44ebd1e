/** The commands that define, change and delete a limit. */
import { Command } from 'commander'
import { invalidInput, show } from '../../../client/index.ts'
import type { LimitOptions } from '../../../client/index.ts'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { parseDurationFlag, parseInteger } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { loginName } from '../../args/operator-identity.ts'
import type { Shell } from '../../session/shell.ts'

interface SetFlags {
  readonly perSecond?: string
  readonly perMinute?: string
  readonly perHour?: string
  readonly perDay?: string
  readonly rate?: string
  readonly concurrency?: string
  readonly reason?: string
}

export function setCommand(shell: Shell): Command {
  return new Command('set')
    .description('define a limit, or change it; what is left out is not limited')
    .argument('<name>', 'the name of the limit')
    .option('--per-second <count>', 'how much may start in any second, for each key')
    .option('--per-minute <count>', 'the same in any minute')
    .option('--per-hour <count>', 'the same in any hour')
    .option('--per-day <count>', 'the same in any day')
    .option('--rate <count/duration>', 'the same in any interval of this length, such as 10/15s')
    .option('--concurrency <count>', 'how many executions may run at once, for each key')
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

function termsOf({ perSecond, perMinute, perHour, perDay, rate, concurrency }: SetFlags): LimitOptions {
  const number = (flag: string, text: string | undefined) => parseGiven(text, (given) => parseInteger(given, flag))
  return dropUndefined({
    perSecond: number('--per-second', perSecond),
    perMinute: number('--per-minute', perMinute),
    perHour: number('--per-hour', perHour),
    perDay: number('--per-day', perDay),
    rate: parseGiven(rate, parseRate),
    concurrency: number('--concurrency', concurrency),
  })
}

function parseRate(text: string): NonNullable<LimitOptions['rate']> {
  const [count = '', per, ...more] = text.split('/')
  if (per !== undefined && more.length === 0) {
    return { count: parseInteger(count, '--rate'), per: parseDurationFlag(per, '--rate', 1) }
  }
  throw invalidInput('--rate', `--rate is ${show(text)}, but must be a count and a duration, such as 10/15s.`)
}

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
