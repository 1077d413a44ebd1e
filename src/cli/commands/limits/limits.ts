import { Command } from 'commander'
import type { LimitDescription } from '../../../client/index.ts'
import { examples } from '../../args/help.ts'
import { watch } from '../../process/watch.ts'
import type { Session, Shell } from '../../session/shell.ts'
import { limitsText } from '../../text/limit-text.ts'
import { deleteCommand, setCommand } from './change-limit.ts'
import { holdCommand, unholdCommand } from './hold-limit.ts'
import { limitsShowCommand } from './limits-show.ts'

interface LimitsFlags {
  readonly watch?: boolean
}

/** Limits of which the table shows the busiest key. */
const DESCRIBED_MAX = 100

export function limitsCommand(shell: Shell): Command {
  return new Command('limits')
    .description('the limits of the store, each with its busiest key; define, change, hold and delete them')
    .option('--watch', 'show them again every second, until ctrl-c')
    .addCommand(limitsShowCommand(shell))
    .addCommand(setCommand(shell))
    .addCommand(deleteCommand(shell))
    .addCommand(holdCommand(shell))
    .addCommand(unholdCommand(shell))
    .addHelpText(
      'after',
      examples([
        'limits --watch',
        'limits show openai --key acme',
        'limits set openai --per-minute 400 --concurrency 50',
      ]),
    )
    .action(async (flags: LimitsFlags, command: Command) => {
      await shell.withFabric(command, {}, async (session) => {
        const isWatching = flags.watch === true
        const exitCode = await watch(shell.runtime, isWatching, () => show(session, isWatching))
        shell.exitCode = exitCode ?? shell.exitCode
      })
    })
}

async function show({ fabric, output }: Session, isWatching: boolean): Promise<void> {
  const limits = await fabric.limits.list()
  const described = limits.slice(0, DESCRIBED_MAX).map(({ name }) => fabric.limits.describe(name, { limit: 1 }))
  const items: LimitDescription[] = []
  // One that was deleted meanwhile is left out.
  for (const one of await Promise.allSettled(described)) if (one.status === 'fulfilled') items.push(one.value)
  const more = limits.length - described.length
  const rest = more === 0 ? '' : `\nand ${more} more`
  const text = () => (items.length === 0 ? 'There are none.' : `${limitsText(items, output)}${rest}`)
  const answer = { items: items.map(({ holders: _, cursor: __, ...item }) => item) }
  if (isWatching) await output.picture(answer, text)
  else if (output.isJson || items.length > 0) await output.answer(answer, text)
  else output.remark('There are none.')
}
