/** The commands about one schedule. */
import { Command } from 'commander'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { parseInteger, parseSince } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { loginName } from '../../args/operator-identity.ts'
import type { Shell } from '../../session/shell.ts'
import { nextText, scheduleText, timingText } from '../../text/schedule-text.ts'
import { addTimesOptions, timesIn } from './times-flags.ts'
import type { TimesFlags } from './times-flags.ts'

const NAME = 'the name of the schedule'
const NEXT_COUNT = '10'

export function showScheduleCommand(shell: Shell): Command {
  return new Command('show')
    .description('one schedule: its settings, its latest executions, what comes next, and why it does not fire')
    .argument('<name>', NAME)
    .addHelpText('after', examples(['schedules show nightly']))
    .action(async (name: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const description = await fabric.schedule(name).describe()
        await output.answer(description, () => scheduleText(description))
      })
    })
}

export function nextCommand(shell: Shell): Command {
  return new Command('next')
    .description('when a schedule fires next')
    .argument('<name>', NAME)
    .option('-n, --count <number>', 'how many firings', NEXT_COUNT)
    .addHelpText('after', examples(['schedules next nightly -n 3']))
    .action(async (name: string, { count }: { readonly count: string }, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const description = await fabric.schedule(name).describe({ next: parseInteger(count, '--count') })
        const { next, state, text } = description
        await output.answer({ name, state, next }, () => (next.length === 0 ? text : nextText(description)))
        if (state === 'paused') output.remark(text)
      })
    })
}

export function holdCommand(shell: Shell, verb: 'pause' | 'resume', description: string): Command {
  return new Command(verb)
    .description(description)
    .argument('<name>', NAME)
    .option('--reason <text>', 'why, for those who ask why it does not fire')
    .addHelpText('after', examples([`schedules ${verb} nightly`]))
    .action(async (name: string, { reason }: { readonly reason?: string }, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const schedule = await fabric.schedule(name)[verb]({ by: loginName(), ...dropUndefined({ reason }) })
        await output.answer(schedule, () => `Schedule ${name} is ${schedule.state}.`)
      })
    })
}

export function retimeCommand(shell: Shell): Command {
  const command = new Command('retime')
    .description('change when a schedule fires, and nothing else of it; a time that is not given has its default')
    .argument('<name>', NAME)
  return addTimesOptions(command)
    .option('--reason <text>', 'why, for the event')
    .addHelpText('after', examples([`schedules retime nightly --cron '0 4 * * *' --time-zone Europe/Berlin`]))
    .action(async (name: string, flags: TimesFlags & { readonly reason?: string }, self: Command) => {
      const times = timesIn(flags, shell.runtime.now())
      await shell.withFabric(self, {}, async ({ fabric, output }) => {
        const options = { by: loginName(), ...dropUndefined({ reason: flags.reason }) }
        const schedule = await fabric.schedule(name).retime(times, options)
        await output.answer(schedule, () => `Schedule ${name} fires at other times: ${timingText(schedule)}.`)
      })
    })
}

export function triggerCommand(shell: Shell): Command {
  return new Command('trigger')
    .description('start the task or the flow of a schedule now, whatever its state')
    .argument('<name>', NAME)
    .addHelpText('after', examples(['schedules trigger nightly']))
    .action(async (name: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const { id } = await fabric.schedule(name).trigger()
        await output.answer({ id }, () => id)
      })
    })
}

export function backfillCommand(shell: Shell): Command {
  return new Command('backfill')
    .description('create the executions or flows of past boundaries that have none')
    .argument('<name>', NAME)
    .requiredOption('--from <time>', 'the first boundary: how long ago (3d) or a time in ISO 8601')
    .requiredOption('--to <time>', 'boundaries are before this time')
    .addHelpText('after', examples(['schedules backfill nightly --from 7d --to 1d']))
    .action(async (name: string, flags: { readonly from: string; readonly to: string }, command: Command) => {
      const now = shell.runtime.now()
      const from = parseSince(flags.from, '--from', now)
      const to = parseSince(flags.to, '--to', now)
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const result = await fabric.schedule(name).backfill({ from, to })
        const { boundaryCount, created } = result
        await output.answer(result, () => `Created ${created.length} for ${boundaryCount} boundaries.`)
      })
    })
}

export function deleteCommand(shell: Shell): Command {
  return new Command('delete')
    .description('delete a schedule; executions and flows that were created run on')
    .argument('<name>', NAME)
    .addHelpText('after', examples(['schedules delete nightly']))
    .action(async (name: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        await fabric.schedule(name).delete({ by: loginName() })
        await output.answer({ name, deleted: true }, () => `Schedule ${name} is deleted.`)
      })
    })
}
