import { Command } from 'commander'
import { invalidInput, unwrap } from '../../client/index.ts'
import type { ReplayOptions } from '../../client/index.ts'
import { COMMAND_LINE } from '../args/operator-identity.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import { examples } from '../args/help.ts'
import { flowInstead, refuseToReplayFlow } from './flows/flow-instead.ts'
import type { Shell } from '../session/shell.ts'

interface ReplayFlags {
  readonly reason?: string
  readonly from?: string
  readonly fromStart?: boolean
}

export function replayCommand(shell: Shell): Command {
  return new Command('replay')
    .description(
      'run an ended execution again; keeps its history, and its steps unless --from or --from-start is given',
    )
    .argument('<id>', "the execution's id or key")
    .option('--reason <text>', 'why, for its history')
    .option('--from <step>', 'run this step and all later ones again; "flowfabric steps" lists them')
    .option('--from-start', 'run every step again')
    .addHelpText(
      'after',
      examples(['replay report:2026-01 --reason "the database is back"', 'replay report:2026-01 --from write']),
    )
    .action(async (id: string, flags: ReplayFlags, command: Command) => {
      const options = { by: COMMAND_LINE, ...dropUndefined({ reason: flags.reason, from: fromOf(flags) }) }
      await shell.withFabric(command, {}, async (session) => {
        const { fabric, output } = session
        const flowId = await flowInstead(session, id)
        if (flowId !== undefined) await refuseToReplayFlow(session, id, flowId)
        const result = unwrap(await fabric.try.replay(id, options))
        const executionId = fabric.try.resolve(id)
        await output.answer(
          { id: executionId, ...result },
          () => `${executionId} runs again (replay ${result.replayCount})`,
        )
      })
    })
}

function fromOf({ from, fromStart }: ReplayFlags): ReplayOptions['from'] {
  if (from === undefined) return fromStart === true ? 'start' : undefined
  if (fromStart !== true) return { step: from }
  throw invalidInput('--from', '--from and --from-start are both given: choose one.')
}
