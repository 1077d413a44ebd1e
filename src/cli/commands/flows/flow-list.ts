import { Command } from 'commander'
import { publicFlowStates } from '../../../kernel/index.ts'
import type { FlowPage, FlowSummary, ListFlowsOptions } from '../../../client/index.ts'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { oneOf, parseInteger, parseTag } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { printable } from '../../text/printable.ts'
import type { Output } from '../../text/output.ts'
import type { Shell } from '../../session/shell.ts'
import { stateText } from '../../text/state-text.ts'
import { table } from '../../text/table.ts'
import { isoTime } from '../../text/time-text.ts'

interface FlowListFlags {
  readonly name?: string
  readonly state?: string
  readonly tag?: string
  readonly schedule?: string
  readonly limit?: string
  readonly cursor?: string
}

export function flowListCommand(shell: Shell): Command {
  return new Command('list')
    .description('flows, newest first; of all namespaces unless --namespace names one')
    .option('--name <name>', 'only of this definition')
    .option('--state <state>', `only in this state: ${publicFlowStates.join(', ')}`)
    .option('--tag <name=value>', 'only with this tag')
    .option('--schedule <name>', 'only those that this schedule has started')
    .option('--limit <number>', 'at most this many, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'continue after the previous page')
    .addHelpText('after', examples(['flow list --state failed', 'flow list --name release --json | jq -r .items[].id']))
    .action(async (flags: FlowListFlags, command: Command) => {
      const query = queryOf(flags)
      await shell.withFabric(command, {}, async ({ fabric, output, namespace }) => {
        await answerPage(await fabric.flows({ ...query, ...dropUndefined({ namespace }) }), output)
      })
    })
}

function queryOf(flags: FlowListFlags): ListFlowsOptions {
  return dropUndefined({
    name: flags.name,
    state: parseGiven(flags.state, (text) => oneOf(publicFlowStates, text, '--state')),
    tag: parseGiven(flags.tag, parseTag),
    schedule: flags.schedule,
    limit: parseGiven(flags.limit, (text) => parseInteger(text, '--limit')),
    cursor: flags.cursor,
  })
}

async function answerPage(page: FlowPage, output: Output): Promise<void> {
  if (output.isJson || page.items.length > 0) await output.answer(page, () => pageText(page.items, output))
  if (page.cursor !== undefined) output.remark(`There may be more: add --cursor ${page.cursor}`)
  else if (page.items.length === 0) output.remark('There are none.')
}

function pageText(items: readonly FlowSummary[], output: Output): string {
  const header = ['ID', 'NAME', 'STATE', 'MEMBERS', 'LEFT', 'CREATED', 'KEY'].map((name) => output.style('dim', name))
  const rows = items.map((item) => [
    item.id,
    item.name,
    stateText(item.state, output),
    String(item.memberCount),
    String(item.liveCount),
    isoTime(item.createdAt),
    printable(item.key ?? ''),
  ])
  return table([header, ...rows], { alignRight: [3, 4] })
}
