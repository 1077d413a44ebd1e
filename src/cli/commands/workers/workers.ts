import { Command } from 'commander'
import type { WorkerInfo } from '../../../client/index.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import { watch } from '../../process/watch.ts'
import type { Session, Shell } from '../../session/shell.ts'
import type { Output, Style } from '../../text/output.ts'
import { table } from '../../text/table.ts'
import { durationText } from '../../text/time-text.ts'
import { allWorkers } from './find-worker.ts'
import { workersDeadCommand } from './workers-dead.ts'
import { workersDrainCommand } from './workers-drain.ts'

interface WorkersFlags {
  readonly watch?: boolean
}

/** Tasks that a row names. */
const NAMED_TASKS_MAX = 4

const stateStyles: Readonly<Record<WorkerInfo['state'], Style>> = {
  running: 'green',
  draining: 'yellow',
  lost: 'red',
  dead: 'red',
}

export function workersCommand(shell: Shell): Command {
  return new Command('workers')
    .description('the workers of the store, with what they serve and how busy they are; drain one, or declare one dead')
    .option('--watch', 'show them again every second, until ctrl-c')
    .addCommand(workersDrainCommand(shell))
    .addCommand(workersDeadCommand(shell))
    .addHelpText('after', examples(['workers', 'workers --watch', 'workers drain host.4711 --reason deploy']))
    .action(async (flags: WorkersFlags, command: Command) => {
      await shell.withFabric(command, {}, async (session) => {
        const isWatching = flags.watch === true
        const exitCode = await watch(shell.runtime, isWatching, () => show(session, shell.runtime.now(), isWatching))
        shell.exitCode = exitCode ?? shell.exitCode
      })
    })
}

async function show({ fabric, output, namespace }: Session, now: number, isWatching: boolean): Promise<void> {
  const items = await allWorkers(fabric, dropUndefined({ namespace }))
  const text = () => (items.length === 0 ? 'There are none.' : workersText(items, now, output))
  if (isWatching) await output.picture({ items }, text)
  else if (output.isJson || items.length > 0) await output.answer({ items }, text)
  else output.remark('There are none.')
}

export function workersText(items: readonly WorkerInfo[], now: number, output: Output): string {
  const header = ['INSTANCE', 'WORKER', 'STATE', 'BUSY', 'HEARTBEAT', 'UP', 'HOST', 'PID', 'VERSION', 'TASKS']
  const rows = items.map((item) => [
    item.instanceId,
    item.workerId,
    output.style(stateStyles[item.state], stateOf(item)),
    `${item.running}/${item.slots}`,
    `${durationText(Math.max(0, now - item.heartbeatAt))} ago`,
    durationText(Math.max(0, now - item.startedAt)),
    item.host,
    String(item.pid),
    item.version,
    tasksOf(item),
  ])
  return table([header.map((name) => output.style('dim', name)), ...rows], { alignRight: [3, 7] })
}

function stateOf({ state, drain }: WorkerInfo): string {
  return state === 'running' && drain !== undefined ? 'to drain' : state
}

function tasksOf({ tasks }: WorkerInfo): string {
  const names = [...new Set(tasks.map(({ name }) => name))]
  const more = names.length - NAMED_TASKS_MAX
  return more > 0 ? `${names.slice(0, NAMED_TASKS_MAX).join(', ')} and ${more} more` : names.join(', ')
}
