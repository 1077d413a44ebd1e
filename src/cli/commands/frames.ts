import { Command } from 'commander'
import { unwrap } from '../../client/index.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import { examples } from '../args/help.ts'
import { Interruption } from '../process/interruption.ts'
import type { Shell } from '../session/shell.ts'
import { frameText } from '../text/frame-text.ts'
import { valueForJson } from '../text/value-text.ts'

interface FramesFlags {
  readonly follow?: boolean
  readonly from?: string
  readonly name?: string
}

export function framesCommand(shell: Shell): Command {
  return new Command('frames')
    .description('the frames that an execution has streamed, which may be confidential')
    .argument('<id>', "the execution's id or key")
    .option('--follow', 'also those to come, until the execution ends or ctrl-c')
    .option('--from <cursor>', 'continue behind a frame')
    .option('--name <name>', 'only frames of this name')
    .addHelpText(
      'after',
      examples([
        'frames brief:acme',
        'frames brief:acme --follow',
        "frames brief:acme --json | jq -rj 'select(.name).value'",
      ]),
    )
    .action(async (id: string, flags: FramesFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        unwrap((await fabric.try.describe(id)).result)
        const { follow = false, from, name } = flags
        using interruption = new Interruption()
        let cursor: string | undefined
        const items = fabric
          .execution(id)
          .frames({ follow, signal: interruption.signal, ...dropUndefined({ from, name }) })
        for await (const item of items) {
          cursor = item.cursor
          const document = item.kind === 'frame' ? { ...item, value: valueForJson(item.value) } : item
          await output.answer(document, () => frameText(item, output))
        }
        if (cursor === undefined) output.remark('It has streamed no frames.')
        else if (interruption.signal.aborted) output.remark(`To continue from here: --from ${cursor}`)
        shell.exitCode = interruption.exitCode ?? shell.exitCode
      })
    })
}
