import { Command } from 'commander'
import { invalidInput } from '../../../client/index.ts'
import type { WaitpointPage, WaitpointSummary } from '../../../client/index.ts'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { parseInteger } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { printable } from '../../text/printable.ts'
import type { Output } from '../../text/output.ts'
import type { Shell } from '../../session/shell.ts'
import { table } from '../../text/table.ts'
import { isoTime, relativeTime } from '../../text/time-text.ts'

interface WaitpointsFlags {
  readonly all?: boolean
  readonly limit?: string
  readonly cursor?: string
}

export function waitpointsCommand(shell: Shell): Command {
  return new Command('waitpoints')
    .description('open waitpoints, oldest first; never their tokens')
    .argument('[id]', 'only of this execution: its id or key')
    .option('--all', 'with an execution: also closed waitpoints and mailboxes')
    .option('--limit <number>', 'at most this many, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'continue after the previous page')
    .addHelpText('after', examples(['waitpoints', 'waitpoints deploy:42 --all', 'waitpoints --json | jq .items[].key']))
    .action(async (id: string | undefined, flags: WaitpointsFlags, command: Command) => {
      const { all, cursor } = flags
      if (all === true && id === undefined) throw invalidInput('--all', '--all needs an execution: name one.')
      const page = dropUndefined({ limit: parseGiven(flags.limit, (text) => parseInteger(text, '--limit')), cursor })
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const options = { ...page, ...dropUndefined({ all }) }
        const found = id === undefined ? await fabric.waitpoints(page) : await fabric.waitpoints(id, options)
        await answerPage(found, output, shell.runtime.now())
      })
    })
}

async function answerPage(page: WaitpointPage, output: Output, now: number): Promise<void> {
  if (output.isJson || page.items.length > 0) await output.answer(page, () => pageText(page.items, output, now))
  if (page.cursor !== undefined) output.remark(`There may be more: add --cursor ${page.cursor}`)
  else if (page.items.length === 0) output.remark('There are none.')
}

function pageText(items: readonly WaitpointSummary[], output: Output, now: number): string {
  const header = ['EXECUTION', 'TASK', 'WAITPOINT', 'STATE', 'AWAITED', 'SIGNALS', 'OPENED', 'UNTIL'].map((name) =>
    output.style('dim', name),
  )
  const rows = items.map((item) => [
    item.executionId,
    item.task,
    printable(item.key),
    item.state,
    printable(awaitedText(item)),
    String(item.signalCount),
    isoTime(item.openedAt),
    untilText(item, now),
  ])
  return table([header, ...rows], { alignRight: [5] })
}

function awaitedText({ state, names }: WaitpointSummary): string {
  if (state !== 'awaited') return ''
  return names.length === 0 ? 'anything' : names.join(', ')
}

function untilText({ expiresAt, closedAt, closeReason }: WaitpointSummary, now: number): string {
  if (closedAt !== undefined) return `closed ${relativeTime(closedAt, now)}: ${printable(closeReason ?? '')}`
  return expiresAt === undefined ? '' : relativeTime(expiresAt, now)
}
