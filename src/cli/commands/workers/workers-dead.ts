import { Command } from 'commander'
import { loginName } from '../../args/operator-identity.ts'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'
import { findWorker } from './find-worker.ts'

interface DeadFlags {
  readonly reason: string
}

export function workersDeadCommand(shell: Shell): Command {
  return new Command('dead')
    .description('declare that the process of a worker has ended; other workers continue its executions at once')
    .argument('<id>', 'the instance id, its beginning, or the name of the worker')
    .option('--reason <text>', 'why, for the event log', 'declared dead from the command line')
    .addHelpText('after', examples(['workers dead host.4711 --reason "the host is gone"']))
    .action(async (id: string, flags: DeadFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const instanceId = await findWorker(fabric, id)
        const { kind, revoked } = await fabric.worker(instanceId).markDead(flags.reason, { by: loginName() })
        await output.answer({ instanceId, kind, revoked }, () => {
          const state = kind === 'marked' ? 'is marked as dead' : 'was marked as dead before'
          return `${instanceId} ${state}. ${revoked.length} of its executions can be claimed by other workers.`
        })
      })
    })
}
