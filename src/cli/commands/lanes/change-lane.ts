/** The commands that change the settings of a lane. */
import { Command } from 'commander'
import type { LaneStatus } from '../../../client/index.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import { loginName } from '../../args/operator-identity.ts'
import type { Shell } from '../../session/shell.ts'

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

function statusText({ lane, state, tasks }: LaneStatus, task: string | undefined): string {
  if (task === undefined) return `Lane ${lane} is ${state}.`
  const own = tasks.find((held) => held.task === task)?.hold.state ?? 'active'
  const rest = state === 'active' ? '' : ` The lane itself is ${state}.`
  return `Task ${task} of lane ${lane} is ${own}.${rest}`
}
