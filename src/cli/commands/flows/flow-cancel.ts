import { Command } from 'commander'
import type { FlowCancelled, FlowHandleCancelOptions } from '../../../client/index.ts'
import { COMMAND_LINE } from '../../args/operator-identity.ts'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { oneOf, parseDurationFlag } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import type { Session, Shell } from '../../session/shell.ts'

interface FlowCancelFlags {
  readonly reason: string
  readonly policy?: string
  readonly force?: boolean
  readonly grace?: string
  readonly wait?: true | string
}

const POLICIES = ['cancel_all', 'cancel_pending', 'flow_only'] as const

export function flowCancelCommand(shell: Shell): Command {
  return new Command('cancel')
    .description('cancel a flow; no further member is started')
    .argument('<id>', "the flow's id or key")
    .option('--reason <text>', 'why, for its history', 'cancelled from the command line')
    .option(
      '--policy <policy>',
      'cancel_all: every member; cancel_pending: those that do not run; flow_only: none (default: cancel_all)',
    )
    .option('--force', 'end running members immediately, without asking their workers')
    .option('--grace <duration>', 'how long their workers may take to stop (default: 30s)')
    .option('--wait [duration]', 'wait until all cancels are done, at most this long (default: 5m)')
    .addHelpText(
      'after',
      examples(['flow cancel release:42 --reason "superseded by 43"', 'flow cancel release:42 --wait 30s']),
    )
    .action(async (id: string, flags: FlowCancelFlags, command: Command) => {
      const { reason, force } = flags
      const options = {
        by: COMMAND_LINE,
        ...dropUndefined({
          force,
          policy: parseGiven(flags.policy, (text) => oneOf(POLICIES, text, '--policy')),
          grace: parseGiven(flags.grace, (text) => parseDurationFlag(text, '--grace')),
          wait: typeof flags.wait === 'string' ? parseDurationFlag(flags.wait, '--wait') : flags.wait,
        }),
      }
      await shell.withFabric(command, {}, (session) => cancelFlow(session, id, reason, options))
    })
}

/** Cancels a flow and prints what is left of it. */
export async function cancelFlow(
  { fabric, output }: Session,
  id: string,
  reason: string,
  options: FlowHandleCancelOptions,
): Promise<void> {
  const flowId = fabric.try.resolveFlow(id)
  const result = await fabric.cancelFlow(id, reason, options)
  await output.answer({ id: flowId, ...result }, () => answerText(flowId, result))
}

function answerText(id: string, result: FlowCancelled): string {
  const what = result.kind === 'cancelled' ? `${id} cancelled` : `${id} was cancelled already, by ${result.policy}`
  const dropped = result.droppedFollowUp === true ? '; its follow-up was dropped' : ''
  return `${what}; ${leftText(result)}${dropped}`
}

function leftText({ policy, liveCount }: FlowCancelled): string {
  if (liveCount === 0) return 'all its members have ended'
  const members = liveCount === 1 ? '1 member' : `${liveCount} members`
  switch (policy) {
    case 'cancel_all':
      return `${members} still to end`
    case 'cancel_pending':
      return `${members} that ran may finish`
    case 'flow_only':
      return `${members} keep running`
  }
}
