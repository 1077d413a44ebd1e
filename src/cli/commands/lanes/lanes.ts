import { Command } from 'commander'
import { publicStates } from '../../../kernel/index.ts'
import type { LaneHold } from '../../../kernel/index.ts'
import type { LaneSummary } from '../../../client/index.ts'
import { examples } from '../../args/help.ts'
import { watch } from '../../process/watch.ts'
import type { Output } from '../../text/output.ts'
import type { Session, Shell } from '../../session/shell.ts'
import { table } from '../../text/table.ts'
import { durationText } from '../../text/time-text.ts'
import { holdCommand, laneLimitText, limitCommand, unlimitCommand, weighCommand } from './change-lane.ts'

export function lanesCommand(shell: Shell): Command {
  return new Command('lanes')
    .description('the lanes, with the number of executions in each state; pause, drain, resume, weigh and limit them')
    .argument('[lane]', 'only this lane')
    .option('--rates', 'also how many executions came and ended in the last minute')
    .option('--watch', 'show them again every second, until ctrl-c')
    .addCommand(holdCommand(shell, 'pause', 'stop claims; submits are accepted, and running executions continue'))
    .addCommand(holdCommand(shell, 'drain', 'refuse submits; waiting and running executions continue'))
    .addCommand(holdCommand(shell, 'disable', 'refuse submits and stop claims'))
    .addCommand(holdCommand(shell, 'resume', 'end a pause, a drain or a disablement'))
    .addCommand(weighCommand(shell))
    .addCommand(limitCommand(shell))
    .addCommand(unlimitCommand(shell))
    .addHelpText('after', examples(['lanes', 'lanes --watch', 'lanes pause slow --reason "the provider is down"']))
    .action(async (lane: string | undefined, flags: LanesFlags, command: Command) => {
      await shell.withFabric(command, {}, async (session) => {
        const exitCode = await watch(shell.runtime, flags.watch === true, () =>
          show(session, shell.runtime.now(), lane, flags),
        )
        shell.exitCode = exitCode ?? shell.exitCode
      })
    })
}

interface LanesFlags {
  readonly rates?: boolean
  readonly watch?: boolean
}

async function show(
  { fabric, output }: Session,
  now: number,
  lane: string | undefined,
  { rates = false, watch: isWatching = false }: LanesFlags,
): Promise<void> {
  const items = await fabric.lanes(lane, { rates })
  const text = () => (items.length === 0 ? 'There are none.' : lanesText(items, output, now))
  if (isWatching) await output.picture({ items }, text)
  else if (output.isJson || items.length > 0) await output.answer({ items }, text)
  else output.remark('There are none.')
}

/** Shows a column for each state that occurs, and those about settings and rates if any lane has them. */
export function lanesText(items: readonly LaneSummary[], output: Output, now: number): string {
  const states = publicStates.filter((state) => items.some((item) => (item.counts[state] ?? 0) > 0))
  const columns: Column[] = [
    ...states.map((state) => numbers(state, ({ counts }) => counts[state] ?? 0)),
    { name: 'waiting for', isNumber: true, text: ({ waitingSince }) => ageText(waitingSince, now) },
    numbers('in/min', ({ rates }) => rates?.inPerMinute),
    numbers('out/min', ({ rates }) => rates?.outPerMinute),
    { name: 'weight', isNumber: true, text: ({ weight }) => weight?.toString() },
    { name: 'limit', isNumber: false, text: limitsText },
    { name: 'held', isNumber: false, text: heldText },
  ]
  const shown = columns.filter(({ text }) => items.some((item) => text(item) !== undefined))
  const header = ['lane', ...shown.map(({ name }) => name), 'tasks']
  const rows = items.map((item) => [item.lane, ...shown.map(({ text }) => text(item) ?? ''), item.tasks.join(', ')])
  const alignRight = shown.flatMap(({ isNumber }, i) => (isNumber ? [i + 1] : []))
  return table([header.map((name) => output.style('dim', name.toUpperCase())), ...rows], { alignRight })
}

interface Column {
  readonly name: string
  readonly isNumber: boolean
  /** Undefined where there is nothing to show. */
  readonly text: (item: LaneSummary) => string | undefined
}

function numbers(name: string, valueOf: (item: LaneSummary) => number | undefined): Column {
  return { name, isNumber: true, text: (item) => roundedText(valueOf(item)) }
}

function roundedText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(Math.round(value))
}

function ageText(since: number | undefined, now: number): string | undefined {
  return since === undefined ? undefined : durationText(Math.max(0, now - since))
}

/** The limit of the namespace, and those of others. */
function limitsText({ limit, otherLimits }: LaneSummary): string | undefined {
  const own = limit === undefined ? [] : [laneLimitText(limit)]
  const all = [...own, ...otherLimits.map((other) => `${laneLimitText(other)} in ${other.namespace}`)]
  return all.length === 0 ? undefined : all.join('; ')
}

function heldText({ hold, heldTasks }: LaneSummary): string | undefined {
  if (hold !== undefined) return holdText(hold)
  return heldTasks.length === 0
    ? undefined
    : heldTasks.map(({ task, hold: own }) => `${task} ${holdText(own)}`).join('; ')
}

function holdText({ state, by, reason }: LaneHold): string {
  return `${state} by ${by}${reason === undefined ? '' : ` (${reason})`}`
}
