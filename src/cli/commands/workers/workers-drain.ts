import { Command } from 'commander'
import { loginName } from '../../args/operator-identity.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import type { Shell } from '../../session/shell.ts'
import { findWorker } from './find-worker.ts'

interface DrainFlags {
  readonly reason?: string
}

export function workersDrainCommand(shell: Shell): Command {
  return new Command('drain')
    .description('ask a worker to finish its current work and to stop')
    .argument('<id>', 'the instance id, its beginning, or the name of the worker')
    .option('--reason <text>', 'why, for the event log')
    .addHelpText('after', examples(['workers drain host.4711 --reason deploy']))
    .action(async (id: string, flags: DrainFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const instanceId = await findWorker(fabric, id)
        const options = { by: loginName(), ...dropUndefined({ reason: flags.reason }) }
        const kind = await fabric.worker(instanceId).drain(options)
        await output.answer({ instanceId, kind }, () =>
          kind === 'drain_requested'
            ? `${instanceId} was asked to drain. It finishes its work and stops.`
            : `${instanceId} was asked to drain before.`,
        )
      })
    })
}
