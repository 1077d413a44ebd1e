/** Changes many executions by a filter, and runs the change to its end. */
import { Command } from 'commander'
import type { ExecutionHandle } from '../../client/index.ts'
import type { Bulk, BulkOptions } from '../../fabric/bulk.ts'
import type { BulkOutcome } from '../../fabric/bulk-task.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { collect, parseInteger, parseTags } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import { filterOf, withFilter } from '../args/list-filter.ts'
import type { FilterFlags } from '../args/list-filter.ts'
import { Interruption } from '../process/interruption.ts'
import type { Session, Shell } from '../session/shell.ts'
import { printable } from '../text/printable.ts'

interface BulkFlags extends FilterFlags {
  readonly message?: string
  readonly dryRun?: boolean
  readonly perSecond?: string
  readonly id?: string
}

type Start = (bulk: Bulk, options: BulkOptions) => Promise<ExecutionHandle<BulkOutcome>>

export function bulkCommand(shell: Shell): Command {
  return new Command('bulk')
    .description('change many executions of a namespace; --dry-run counts them first')
    .addHelpText('after', examples(['bulk replay --state failed --since 1d --dry-run']))
    .addCommand(
      change('cancel', 'cancel them', 'bulk cancel --state waiting --task report --reason outdated')
        .requiredOption('--reason <text>', 'why, for their histories')
        .action(
          action<{ reason: string }>(
            shell,
            ({ reason }) =>
              (bulk, options) =>
                bulk.cancel(reason, options),
          ),
        ),
    )
    .addCommand(
      change('replay', 'run ended ones again', 'bulk replay --state failed --task charge --error timeout').action(
        action(shell, () => (bulk, options) => bulk.replay(options)),
      ),
    )
    .addCommand(
      change(
        'delete',
        'remove ended ones before their retention is over',
        'bulk delete --state completed --task report',
      ).action(action(shell, () => (bulk, options) => bulk.delete(options))),
    )
    .addCommand(
      change('priority', 'change their priority', 'bulk priority --set 10 --tag plan=pro --state waiting')
        .requiredOption('--set <priority>', '0 to 9000; the highest is claimed first')
        .action(
          action<{ set: string }>(shell, ({ set }) => {
            const priority = parseInteger(set, '--set')
            return (bulk, options) => bulk.changePriority(priority, options)
          }),
        ),
    )
    .addCommand(
      change('tag', 'set tags', 'bulk tag --set incident=42 --state failed --since 2h')
        .requiredOption('--set <name=value>', 'a tag to set; can be repeated', collect)
        .action(
          action<{ set: readonly string[] }>(shell, ({ set }) => {
            const tags = parseTags(set, '--set')
            return (bulk, options) => bulk.setTags(tags, options)
          }),
        ),
    )
}

function change(name: string, description: string, example: string): Command {
  return withFilter(new Command(name))
    .description(description)
    .option('--message <shape>', 'only with a failure of this message, as the command failures prints it')
    .option('--dry-run', 'count them and show the newest ones, and change nothing')
    .option('--per-second <n>', 'change at most so many in a second (default: 100)')
    .option('--id <key>', 'your own id of the change: the same id continues or joins it')
    .addHelpText('after', examples([`${example} --dry-run`, example]))
}

function action<Own>(shell: Shell, startOf: (own: Own) => Start) {
  return async (flags: BulkFlags & Own, command: Command): Promise<void> => {
    const start = startOf(flags)
    const filter = dropUndefined({ ...filterOf(flags, shell.runtime.now()), message: flags.message })
    const perSecond = parseGiven(flags.perSecond, (text) => parseInteger(text, '--per-second'))
    await shell.withFabric(command, { isQuiet: true }, async (session) => {
      const bulk = session.fabric.bulk(filter)
      if (flags.dryRun === true) await answerPreview(bulk, session)
      else await runToEnd(shell, session, await start(bulk, dropUndefined({ perSecond, id: flags.id })))
    })
  }
}

async function answerPreview(bulk: Bulk, { output }: Session): Promise<void> {
  const { count, isMore, examples: newest } = await bulk.preview()
  await output.answer({ count, isMore, examples: newest }, () =>
    [
      `${isMore ? 'More than ' : ''}${count} would be changed${count === 0 ? '.' : '; the newest are:'}`,
      ...newest.map(({ id, task, state, key }) => [id, task, state, printable(key ?? '')].join(' ').trimEnd()),
    ].join('\n'),
  )
}

async function runToEnd(shell: Shell, { output }: Session, handle: ExecutionHandle<BulkOutcome>): Promise<void> {
  using interruption = new Interruption()
  output.remark(`The change runs as ${handle.id}. Ctrl-c leaves it to the next bulk command of this namespace.`)
  try {
    const result = await handle.result({ signal: interruption.signal })
    const { changed, examined, refused, isCut } = result
    const others = Object.entries(refused).map(([code, count]) => `${count} ${code}`)
    const rest = others.length === 0 ? '' : ` Not changed: ${others.join(', ')}.`
    const cut = isCut ? ' There are more: run the command again.' : ''
    await output.answer({ id: handle.id, ...result }, () => `${changed} of ${examined} changed.${rest}${cut}`)
  } catch (error) {
    if (interruption.exitCode === undefined) throw error
    shell.exitCode = interruption.exitCode
  }
}
