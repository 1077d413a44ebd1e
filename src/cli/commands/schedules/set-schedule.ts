import { Command } from 'commander'
import { invalidInput, task } from '../../../client/index.ts'
import type { AnyFlowScheduleOptions, AnyScheduleOptions } from '../../../client/index.ts'
import type { Fabric } from '../../../fabric/fabric.ts'
import { validated } from '../../../server/http/validate.ts'
import { budgetUsesOf, flowOfGraph } from '../../../server/resources/graph-definition.ts'
import { scheduledGraph } from '../../../server/schemas/flow-graph.ts'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { parseTags } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { readInput } from '../../args/input-argument.ts'
import { loginName } from '../../args/operator-identity.ts'
import { addWorkOptions, budgetUsesIn, versionOf, workOptions } from '../../args/work-flags.ts'
import type { WorkFlags, WorkOptions } from '../../args/work-flags.ts'
import type { Shell } from '../../session/shell.ts'
import { timingText } from '../../text/schedule-text.ts'
import { addTimesOptions, timesIn } from './times-flags.ts'
import type { TimesFlags } from './times-flags.ts'

interface SetFlags extends WorkFlags, TimesFlags {
  readonly task?: string
  readonly flow?: string
}

export function setScheduleCommand(shell: Shell): Command {
  const command = new Command('set')
    .description('create a schedule of a task or a flow, or change it; what is not given has its default')
    .argument('<name>', 'the name of the schedule')
    .argument('[input]', 'the input of the task: JSON, @file, or - for standard input')
    .option('--task <name>', 'the task that it starts')
    .option('--flow <graph>', 'the flow that it starts instead: its graph as JSON, @file, or - for standard input')
  return addWorkOptions(addTimesOptions(command))
    .addHelpText(
      'after',
      examples([
        `schedules set nightly '{"all":true}' --task report --cron '0 3 * * *' --time-zone Europe/Berlin`,
        'schedules set poll --task sync --every 15m --overlap queue --attempts 5 --retention completed=1h,failed=30d',
        `schedules set weekly --flow @release.json --cron '0 6 * * 1'`,
      ]),
    )
    .action(async (name: string, argument: string | undefined, flags: SetFlags, self: Command) => {
      const tags = parseGiven(flags.tag, (texts) => parseTags(texts))
      const times = { ...timesIn(flags, shell.runtime.now()), ...dropUndefined({ tags }) }
      const start = await readStart(argument, flags)
      await shell.withFabric(self, { create: true }, async ({ fabric, output }) => {
        const options = { ...times, ...(await start(fabric)) }
        const { kind, schedule } = await fabric.configureSchedule(name, options, loginName())
        await output.answer({ kind, schedule }, () => `Schedule ${name} is ${kind}: ${timingText(schedule)}.`)
      })
    })
}

type Start =
  | Pick<AnyScheduleOptions, 'task' | 'input' | keyof WorkOptions>
  | Pick<AnyFlowScheduleOptions, 'flow' | 'retention' | 'outcome' | 'budgets'>

/** Reads what the schedule starts, before the store is opened. */
async function readStart(argument: string | undefined, flags: SetFlags): Promise<(fabric: Fabric) => Promise<Start>> {
  const options = workOptions(flags)
  const uses = budgetUsesIn(flags.budget ?? [])
  if (flags.task !== undefined && flags.flow === undefined) {
    const name = flags.task
    const input = await readInput(argument, process.stdin)
    return async (fabric) => {
      const budgets = await fabric.budgets.usesByName(uses)
      return { ...options, task: task(name, { ...versionOf(flags), budgets }), input }
    }
  }
  if (flags.flow === undefined || flags.task !== undefined) {
    throw invalidInput('--task', 'A schedule starts a task or a flow: give --task or --flow, and not both.')
  }
  if (argument !== undefined) throw invalidInput('input', 'Each node of a flow has an input of its own, in the graph.')
  const { retention, ...others } = { ...options, ...versionOf(flags) }
  if (Object.keys(others).length > 0) {
    const message = 'A flow takes --retention, --tag and --budget. Its nodes have the other settings, in the graph.'
    throw invalidInput('--flow', message)
  }
  if (typeof retention === 'object') throw invalidInput('--retention', '--retention of a flow is one duration.')
  const { name, nodes, outcome } = validated(scheduledGraph, await readInput(flags.flow, process.stdin), '--flow')
  return async (fabric) => ({
    ...dropUndefined({ outcome, retention }),
    flow: await flowOfGraph(fabric, name, nodes),
    budgets: await budgetUsesOf(fabric, uses),
  })
}
