import { Command } from 'commander'
import { invalidInput } from '../../../client/index.ts'
import type { ConsumerSummary } from '../../../client/index.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'
import { consumerText, filterText } from '../../text/consumer-text.ts'
import type { Output } from '../../text/output.ts'
import { table } from '../../text/table.ts'
import { isoTime } from '../../text/time-text.ts'

const NAME = 'the name of the consumer'

interface SeekFlags {
  readonly fromStart?: boolean
  readonly toEnd?: boolean
  readonly cursor?: string
}

export function consumersCommand(shell: Shell): Command {
  return new Command('consumers')
    .description('the durable consumers of events, with their lag; show, move or delete one')
    .addCommand(showCommand(shell))
    .addCommand(seekCommand(shell))
    .addCommand(deleteCommand(shell))
    .addHelpText('after', examples(['consumers', 'consumers show billing', 'consumers seek billing --from-start']))
    .action(async (_flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
        const items = await fabric.consumers(dropUndefined({ namespace }))
        if (output.isJson || items.length > 0) await output.answer({ items }, () => listText(items, output))
        else output.remark('There are none.')
      })
    })
}

function showCommand(shell: Shell): Command {
  return new Command('show')
    .description('one consumer: its filter, its position in each partition, and the event that it fails to handle')
    .argument('<name>', NAME)
    .addHelpText('after', examples(['consumers show billing']))
    .action(async (name: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const description = await fabric.consumer(name).describe()
        await output.answer(description, () => consumerText(description))
      })
    })
}

function seekCommand(shell: Shell): Command {
  return new Command('seek')
    .description('move a consumer to another place in the log; its processes continue there')
    .argument('<name>', NAME)
    .option('--from-start', 'before the oldest event that is kept: all of them are handled again')
    .option('--to-end', 'after the newest event: what waits is not handled')
    .option('--cursor <cursor>', 'after the event with this cursor')
    .addHelpText('after', examples(['consumers seek billing --from-start']))
    .action(async (name: string, flags: SeekFlags, command: Command) => {
      const { fromStart, toEnd, cursor } = flags
      if ([fromStart, toEnd, cursor].filter((flag) => flag !== undefined).length !== 1) {
        throw invalidInput('arguments', 'Give exactly one of --from-start, --to-end and --cursor.')
      }
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        await fabric.consumer(name).seek(dropUndefined({ fromStart, toEnd, cursor }))
        await output.answer({ name, moved: true }, () => `Consumer ${name} was moved.`)
      })
    })
}

function deleteCommand(shell: Shell): Command {
  return new Command('delete')
    .description('delete a consumer with its position; its processes stop consuming')
    .argument('<name>', NAME)
    .addHelpText('after', examples(['consumers delete billing']))
    .action(async (name: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        await fabric.consumer(name).delete()
        await output.answer({ name, deleted: true }, () => `Consumer ${name} is deleted.`)
      })
    })
}

/** The column NAMESPACE is present if they differ. */
function listText(items: readonly ConsumerSummary[], output: Output): string {
  const hasNamespaces = new Set(items.map(({ namespace }) => namespace)).size > 1
  const names = ['NAME', 'LAG', 'WAITING SINCE', 'PROCESSES', 'HANDLED', 'SKIPPED', 'MISSED', 'FAILING', 'FILTER']
  if (hasNamespaces) names.push('NAMESPACE')
  const rows = items.map((item) => [
    item.name,
    String(item.lagCount),
    item.waitingSince === undefined ? '' : isoTime(item.waitingSince),
    String(item.memberCount),
    String(item.handledCount),
    String(item.skippedCount),
    String(item.missedCount),
    item.failure === undefined ? '' : `try ${item.failure.tryCount}`,
    filterText(item),
    ...(hasNamespaces ? [item.namespace] : []),
  ])
  return table([names.map((name) => output.style('dim', name)), ...rows], { alignRight: [1, 3, 4, 5, 6] })
}
