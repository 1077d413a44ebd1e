import { Command } from 'commander'
import { unwrap } from '../../client/index.ts'
import type { CancelResult, Refused } from '../../kernel/index.ts'
import { COMMAND_LINE } from '../args/operator-identity.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { examples } from '../args/help.ts'
import { cancelFlow } from './flows/flow-cancel.ts'
import { flowInstead } from './flows/flow-instead.ts'
import type { Session, Shell } from '../session/shell.ts'
import { timeText } from '../text/time-text.ts'
import { parseDurationFlag } from '../args/flags.ts'

interface CancelFlags {
  readonly reason: string
  readonly force?: boolean
  readonly grace?: string
}

export function cancelCommand(shell: Shell): Command {
  return new Command('cancel')
    .description('cancel an execution; a running one is asked to stop first')
    .argument('<id>', "the execution's id or key, or a flow's")
    .option('--reason <text>', 'why, for its history', 'cancelled from the command line')
    .option('--force', 'end a running execution immediately, without asking its worker')
    .option('--grace <duration>', 'how long its worker may take to stop (default: 30s)')
    .addHelpText(
      'after',
      examples(['cancel report:2026-01 --reason "wrong month"', 'cancel report:2026-01 --grace 2m']),
    )
    .action(async (id: string, flags: CancelFlags, command: Command) => {
      const { reason, force } = flags
      const grace = parseGiven(flags.grace, (text) => parseDurationFlag(text, '--grace'))
      await shell.withFabric(command, {}, async (session) => {
        const { fabric, output } = session
        const options = { by: COMMAND_LINE, ...dropUndefined({ force, grace }) }
        if ((await flowInstead(session, id)) !== undefined) {
          await cancelFlow(session, id, reason, options)
          return
        }
        const result = unwrap(await fabric.try.cancel(id, reason, options))
        const executionId = fabric.try.resolve(id)
        const isUndoing = result.kind === 'cancel_requested' && (await undoesSteps(session, executionId))
        const now = shell.runtime.now()
        await output.answer({ id: executionId, ...result }, () =>
          answerText({ id: executionId, now, isUndoing }, result),
        )
      })
    })
}

/** Whether the handler of a cancelled execution undoes its steps first, or waits for a worker to do so. */
async function undoesSteps({ fabric }: Session, id: string): Promise<boolean> {
  const { result } = await fabric.try.describe(id)
  return result.kind !== 'refused' && result.execution.unwinding !== undefined
}

interface Cancelled {
  readonly id: string
  readonly now: number
  readonly isUndoing: boolean
}

function answerText(cancelled: Cancelled, result: Exclude<CancelResult, Refused>): string {
  const dropped = 'droppedFollowUp' in result
  return dropped ? `${stateText(cancelled, result)}; its follow-up was dropped` : stateText(cancelled, result)
}

function stateText({ id, now, isUndoing }: Cancelled, result: Exclude<CancelResult, Refused>): string {
  switch (result.kind) {
    case 'cancelled':
      return `${id} cancelled`
    case 'already_cancelled':
      return `${id} was cancelled already`
    case 'cancel_requested':
      return isUndoing
        ? `${id} undoes its completed steps and ends then; if no worker does that, it ends by ${timeText(result.forceAt, now)}`
        : `${id} asked to stop; it ends by ${timeText(result.forceAt, now)} at the latest`
  }
}
