import { Command } from 'commander'
import { describe, unwrap } from '../../client/index.ts'
import { executionText } from '../text/execution-text.ts'
import type { ShownExecution } from '../text/execution-text.ts'
import { examples } from '../args/help.ts'
import { flowInstead } from './flows/flow-instead.ts'
import { showFlow } from './flows/flow-show.ts'
import type { Shell } from '../session/shell.ts'
import { valueForJson } from '../text/value-text.ts'

interface ShowFlags {
  readonly payload?: boolean
}

export function showCommand(shell: Shell): Command {
  return new Command('show')
    .description('show one execution: state, timers, attempts, errors, progress')
    .argument('<id>', "the execution's id or key, or a flow's")
    .option('--payload', 'also show its input and result, which may be confidential')
    .addHelpText('after', examples(['show report:2026-01', 'show report:2026-01 --payload --json']))
    .action(async (id: string, flags: ShowFlags, command: Command) => {
      const withPayload = flags.payload === true
      await shell.withFabric(command, {}, async (session) => {
        const { fabric, output } = session
        if ((await flowInstead(session, id)) !== undefined) {
          await showFlow(session, id, false)
          return
        }
        const reply = await fabric.try.describe(id, { attempts: true, payload: withPayload, result: withPayload })
        const result = unwrap(reply.result)
        const hasSummary = result.execution.journal?.hasStreams === true
        const summary = hasSummary ? await fabric.execution(id).summary() : undefined
        const description = describe(result, reply.blobs)
        const shown = { description, execution: result.execution, summary, withPayload }
        await output.answer(document(shown), () => executionText(shown, output))
      })
    })
}

/** The description and the settings of the submit. */
function document({ description, execution, summary, withPayload }: ShownExecution): unknown {
  const { input, result, ...facts } = description
  const { retry, attemptTimeoutMs, totalTimeoutMs, retentionMs, retentions, state, payload } = execution
  return {
    ...facts,
    attemptTimeoutAt: state.phase === 'active' ? state.timeoutAt : undefined,
    settings: { retry, attemptTimeoutMs, totalTimeoutMs, retentionMs, retentions },
    inputSize: payload?.size,
    resultSize: execution.result?.size,
    summary,
    ...(withPayload ? { input: valueForJson(input), result: valueForJson(result) } : {}),
  }
}
