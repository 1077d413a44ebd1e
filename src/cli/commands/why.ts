import { Command } from 'commander'
import { examples } from '../args/help.ts'
import { printable } from '../text/printable.ts'
import { explainFlow, flowInstead } from './flows/flow-instead.ts'
import type { Shell } from '../session/shell.ts'

export function whyCommand(shell: Shell): Command {
  return new Command('why')
    .description('why an execution is not running, or what it is doing')
    .argument('<id>', "the execution's id or key, or a flow's")
    .addHelpText('after', examples(['why report:2026-01']))
    .action(async (id: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async (session) => {
        const { fabric, output } = session
        const flowId = await flowInstead(session, id)
        if (flowId !== undefined) {
          await explainFlow(session, flowId)
          return
        }
        const { explanation, text } = await fabric.why(id)
        await output.answer({ id: fabric.try.resolve(id), explanation, text }, () => printable(text))
      })
    })
}
