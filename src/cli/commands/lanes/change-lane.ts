/** The commands that change the settings of a lane. */
import { Command } from 'commander'
import type { LaneStatus } from '../../../client/index.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import { termsOf, withTerms } from '../../args/limit-terms.ts'
import type { TermFlags } from '../../args/limit-terms.ts'
import { loginName } from '../../args/operator-identity.ts'
import type { Shell } from '../../session/shell.ts'
import { rateText } from '../../text/limit-text.ts'

interface HoldFlags {
  readonly task?: string
  readonly reason?: string
}

export function holdCommand(
  shell: Shell,
  verb: 'pause' | 'drain' | 'disable' | 'resume',
  description: string,
): Command {
  return new Command(verb)
    .description(description)
    .argument('<lane>', 'the lane')
    .option('--task <task>', 'only this task of the lane')
    .option('--reason <text>', 'why, for those who ask why work is waiting')
    .addHelpText('after', examples([`lanes ${verb} slow`, `lanes ${verb} slow --task report`]))
    .action(async (lane: string, flags: HoldFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const { task, reason } = flags
        const status = await fabric.lane(lane)[verb]({ by: loginName(), ...dropUndefined({ task, reason }) })
        await output.answer(status, () => statusText(status, task))
      })
    })
}

export function weighCommand(shell: Shell): Command {
  return new Command('weigh')
    .description('set the share of a worker that serves several lanes')
    .argument('<lane>', 'the lane')
    .argument('<weight>', 'a number; other lanes have 1 unless set')
    .addHelpText('after', examples(['lanes weigh interactive 9']))
    .action(async (lane: string, weight: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const status = await fabric.lane(lane).configure({ weight: Number(weight), by: loginName() })
        await output.answer(status, () => `Lane ${lane} has weight ${status.weight}.`)
      })
    })
}

interface LimitFlags extends TermFlags {
  readonly reason?: string
}

export function limitCommand(shell: Shell): Command {
  return withTerms(new Command('limit'), '')
    .description('limit the executions of a namespace in a lane together; what is left out is not limited')
    .argument('<lane>', 'the lane')
    .option('--reason <text>', 'why')
    .addHelpText(
      'after',
      examples([
        'lanes limit mail --concurrency 20 --per-minute 600',
        'lanes limit mail --concurrency 5 --namespace acme',
      ]),
    )
    .action(async (lane: string, { reason, ...flags }: LimitFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const change = { by: loginName(), ...dropUndefined({ reason }) }
        const status = await fabric.lane(lane).limit(termsOf(flags), change)
        await output.answer(status, () => `Lane ${lane} is limited to ${laneLimitText(status.limit)}.`)
      })
    })
}

export function unlimitCommand(shell: Shell): Command {
  return new Command('unlimit')
    .description('remove the limit of a namespace in a lane')
    .argument('<lane>', 'the lane')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples(['lanes unlimit mail']))
    .action(async (lane: string, { reason }: Pick<LimitFlags, 'reason'>, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const status = await fabric.lane(lane).unlimit({ by: loginName(), ...dropUndefined({ reason }) })
        await output.answer(status, () => `Lane ${lane} has no limit.`)
      })
    })
}

/** Such as `600/1m, 20 at once`. */
export function laneLimitText(limit: LaneStatus['limit']): string {
  const rate = limit?.rate === undefined ? [] : [rateText(limit.rate)]
  const concurrency = limit?.concurrency === undefined ? [] : [`${limit.concurrency} at once`]
  return [...rate, ...concurrency].join(', ')
}

function statusText({ lane, state, tasks }: LaneStatus, task: string | undefined): string {
  if (task === undefined) return `Lane ${lane} is ${state}.`
  const own = tasks.find((held) => held.task === task)?.hold.state ?? 'active'
  const rest = state === 'active' ? '' : ` The lane itself is ${state}.`
  return `Task ${task} of lane ${lane} is ${own}.${rest}`
}
