import { Command } from 'commander'
import { dropUndefined } from '../args/drop-undefined.ts'
import { examples } from '../args/help.ts'
import { watch } from '../process/watch.ts'
import type { Session, Shell } from '../session/shell.ts'
import type { LaneSummary, WorkerInfo } from '../../client/index.ts'
import { printable } from '../text/printable.ts'
import { durationText, isoTime } from '../text/time-text.ts'
import { lanesText } from './lanes/lanes.ts'
import { allWorkers } from './workers/find-worker.ts'
import { workersText } from './workers/workers.ts'

/** Rows of each table: a screen has few lines. */
const ROWS_MAX = 15

interface TopFlags {
  readonly once?: boolean
}

export function topCommand(shell: Shell): Command {
  return new Command('top')
    .description('lanes with their rates and oldest waiting, and the busiest workers, again every second until ctrl-c')
    .option('--once', 'print them once')
    .addHelpText('after', examples(['top', 'top --once --json | jq .totals']))
    .action(async (flags: TopFlags, command: Command) => {
      await shell.withFabric(command, {}, async (session) => {
        const exitCode = await watch(shell.runtime, flags.once !== true, () =>
          show(session, shell.runtime.now(), flags),
        )
        shell.exitCode = exitCode ?? shell.exitCode
      })
    })
}

async function show(session: Session, now: number, { once = false }: TopFlags): Promise<void> {
  const { fabric, output, namespace } = session
  const [lanes, workers] = await Promise.all([
    fabric.lanes(undefined, { rates: true }),
    allWorkers(fabric, dropUndefined({ namespace })),
  ])
  const totals = totalsOf(lanes, workers, now)
  const value = { at: now, totals, lanes, workers }
  const text = () => screen(session, now, value)
  if (once) await output.answer(value, text)
  else await output.picture(value, text)
}

function totalsOf(lanes: readonly LaneSummary[], workers: readonly WorkerInfo[], now: number) {
  const count = (state: 'waiting' | 'active' | 'suspended') =>
    lanes.reduce((sum, { counts }) => sum + (counts[state] ?? 0), 0)
  const live = workers.filter(({ state }) => state === 'running' || state === 'draining')
  const since = Math.min(...lanes.map(({ waitingSince }) => waitingSince ?? Infinity))
  return {
    waiting: count('waiting'),
    active: count('active'),
    suspended: count('suspended'),
    inPerMinute: lanes.reduce((sum, { rates }) => sum + (rates?.inPerMinute ?? 0), 0),
    outPerMinute: lanes.reduce((sum, { rates }) => sum + (rates?.outPerMinute ?? 0), 0),
    oldestWaitingMs: since === Infinity ? undefined : Math.max(0, now - since),
    workers: live.length,
    running: live.reduce((sum, { running }) => sum + running, 0),
    slots: live.reduce((sum, { slots }) => sum + slots, 0),
  }
}

interface Screen {
  readonly totals: ReturnType<typeof totalsOf>
  readonly lanes: readonly LaneSummary[]
  readonly workers: readonly WorkerInfo[]
}

function screen({ fabric, output }: Session, now: number, { totals, lanes, workers }: Screen): string {
  const { oldestWaitingMs } = totals
  const oldest = oldestWaitingMs === undefined ? 'none waits' : `the oldest waits for ${durationText(oldestWaitingMs)}`
  const waiting = (lane: LaneSummary) => lane.counts.waiting ?? 0
  const byDepth = lanes.toSorted((a, b) => waiting(b) - waiting(a) || a.lane.localeCompare(b.lane))
  const byLoad = workers.toSorted((a, b) => b.running - a.running || a.workerId.localeCompare(b.workerId))
  return [
    `${output.style('bold', printable(fabric.namespace))}  ${isoTime(now)}`,
    `${totals.waiting} waiting (${oldest}), ${totals.active} active, ${totals.suspended} suspended; ` +
      `${Math.round(totals.inPerMinute)} in/min, ${Math.round(totals.outPerMinute)} out/min`,
    `${totals.workers} workers, ${totals.running} of ${totals.slots} slots busy`,
    '',
    lanes.length === 0 ? 'There are no lanes.' : shortened(byDepth, (rows) => lanesText(rows, output, now)),
    '',
    workers.length === 0 ? 'There are no workers.' : shortened(byLoad, (rows) => workersText(rows, now, output)),
  ].join('\n')
}

function shortened<Item>(items: readonly Item[], text: (items: readonly Item[]) => string): string {
  const more = items.length - ROWS_MAX
  return more > 0 ? `${text(items.slice(0, ROWS_MAX))}\nand ${more} more` : text(items)
}
