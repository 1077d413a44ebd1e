import { Command } from 'commander'
import { unwrap } from '../../../client/index.ts'
import { loginName } from '../../args/operator-identity.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import { printable } from '../../text/printable.ts'
import type { Shell } from '../../session/shell.ts'

interface ResumeFlags {
  readonly by?: string
  readonly reason?: string
  readonly step?: string
}

export function resumeCommand(shell: Shell): Command {
  return new Command('resume')
    .description('end the wait of a suspended execution; its handler gets the reason "resumed"')
    .argument('<id>', "the execution's id or key")
    .option('--by <name>', 'the operator (default: your login name)')
    .option('--reason <text>', 'the reason, for its handler and its history')
    .option('--step <name>', 'only if it is in this wait')
    .addHelpText('after', examples(['resume deploy:42 --reason "approved by phone"']))
    .action(async (id: string, { by = loginName(), reason, step }: ResumeFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const result = unwrap(await fabric.try.resume(id, { by, ...dropUndefined({ reason, step }) }))
        const executionId = fabric.try.resolve(id)
        await output.answer({ id: executionId, ...result }, () =>
          printable(`${executionId} resumed; its wait '${result.step}' has ended (${result.state})`),
        )
      })
    })
}
