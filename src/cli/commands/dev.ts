import { Command } from 'commander'
import { KEYS_FILE_VARIABLE, checkNeeds } from '../../client/index.ts'
import type { Handler } from '../../client/index.ts'
import type { Fabric } from '../../fabric/fabric.ts'
import type { WorkerOptions } from '../../worker/worker-options.ts'
import type { Worker } from '../../worker/worker.ts'
import type { WorkerSummary } from '../../worker/worker-stats.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { subscriptionText } from '../text/event-text.ts'
import { exitCodes } from '../process/exit-codes.ts'
import { collect } from '../args/flags.ts'
import { followEvents } from './follow-events.ts'
import { loadHandlers } from '../args/handlers-file.ts'
import type { LoadedModule } from '../args/handlers-file.ts'
import { examples } from '../args/help.ts'
import { Interruption } from '../process/interruption.ts'
import type { CommandKeys } from '../session/keys-place.ts'
import { Supervised } from '../process/supervised.ts'
import { supervise } from '../process/supervisor.ts'
import { printable } from '../text/printable.ts'
import { pagesText } from './server.ts'
import type { HttpServer } from '../../server/node/http-server.ts'
import type { Session, Shell } from '../session/shell.ts'
import { packageVersion } from '../../runtime/index.ts'

interface DevFlags {
  readonly concurrency?: string
  readonly lane?: string[]
  readonly capability?: string[]
  readonly watch: boolean
  readonly port?: string
  readonly server: boolean
}

/** Whether and where to serve the HTTP API. */
interface ServerChoice {
  readonly isWanted: boolean
  readonly port: number | undefined
}

const ENDING = `
Ctrl-c or SIGTERM lets running handlers finish and exits with 0.
A second one aborts them, releases their executions and exits with 130 or 143.`

export function devCommand(shell: Shell): Command {
  return new Command('dev')
    .description(
      'run engine, worker, HTTP API and live tail, restart on a change; creates the store if it does not exist',
    )
    .argument('[handlers-file]', 'a module that exports handlers; without one, no worker is started')
    .option('--concurrency <number>', 'how many handlers run at once (default: 16)')
    .option('--lane <lane>', "a lane to serve instead of the tasks' own; can be repeated", collect)
    .option(
      '--capability <name>',
      'what the worker is capable of, for executions that need it; can be repeated',
      collect,
    )
    .option('--port <number>', 'the port of the HTTP API on 127.0.0.1 (default: 9090, if it is free)')
    .option('--no-server', 'do not serve the HTTP API')
    .option('--no-watch', 'do not restart when a file of the handlers changes')
    .addHelpText('after', ENDING)
    .addHelpText('after', examples(['dev handlers.ts', 'dev handlers.ts --concurrency 4', 'dev --store memory:']))
    .action(async (file: string | undefined, flags: DevFlags, command: Command) => {
      const configuration = shell.configuration(command, {
        'server.port': flags.port,
        'worker.concurrency': flags.concurrency,
        'worker.lanes': flags.lane,
        'worker.capabilities': flags.capability,
      })
      const options = dropUndefined({
        concurrency: configuration.value('worker.concurrency'),
        lanes: configuration.value('worker.lanes'),
        capabilities: parseGiven(configuration.value('worker.capabilities'), (names) =>
          checkNeeds(names, '--capability'),
        ),
      })
      const opening = { create: true, inProcess: true, makeKeys: true, needsStore: 'dev runs an engine and a server' }
      // Refuses a location before it watches files.
      shell.place(command, opening)
      const choice = { isWanted: flags.server, port: configuration.value('server.port') }
      const supervised = new Supervised()
      if (file !== undefined && flags.watch && !supervised.isSupervised) {
        shell.exitCode = await supervise(shell.runtime, shell.output(command))
        return
      }
      shell.runsForeignCode = file !== undefined
      const { handlers, flows } = file === undefined ? { handlers: [], flows: [] } : await load(file, supervised)
      await shell.withFabric(command, opening, async (session) => {
        await runUntilInterrupted(shell, session, handlers, { ...options, flows }, choice)
      })
    })
}

async function load(file: string, supervised: Supervised): Promise<LoadedModule> {
  try {
    return await loadHandlers(file, async (location) => {
      // Loaded lazily: the parser of TypeScript is large, and only this command needs it.
      const { loadProject } = await import('../modules/typescript.ts')
      return loadProject(location, (used) => supervised.file(used))
    })
  } catch (error) {
    await supervised.refused()
    throw error
  }
}

async function runUntilInterrupted(
  shell: Shell,
  session: Session,
  handlers: readonly Handler[],
  options: WorkerOptions,
  choice: ServerChoice,
): Promise<void> {
  const { fabric, output, namespace } = session
  using interruption = new Interruption()
  const server = choice.isWanted ? await openServer(session, choice.port, handlers) : undefined
  await announce(session, handlers, server)
  // The tail starts before the worker and outlives it, so it shows every event up to the end of the drain.
  const tail = new AbortController()
  const following = followEvents(
    fabric,
    {
      signal: tail.signal,
      onTrouble: (error) => fabric.log.warn({ code: error.code }, error.message),
      ...dropUndefined({ namespace }),
    },
    (item) => output.answer(item, () => subscriptionText(item, output)),
  )
  try {
    const worker = await start(fabric, handlers, options)
    await Promise.race([following, aborted(interruption.signal)])
    output.remark('Finishing running handlers. Interrupt again to release them.')
    interruption.hurry.addEventListener('abort', () => server?.drop(), { once: true })
    await server?.close()
    await output.record({ kind: 'stopped', ...(await stop(worker, interruption)) })
    output.remark('Stopped.')
  } finally {
    tail.abort()
    await Promise.allSettled([following, server?.close()])
  }
  if (interruption.hurry.aborted) shell.exitCode = interruption.exitCode ?? exitCodes.ok
}

/** Starts the engine in any case: other processes may submit work with delays and deadlines. */
async function start(
  fabric: Fabric,
  handlers: readonly Handler[],
  options: WorkerOptions,
): Promise<Worker | undefined> {
  if (handlers.length > 0) return await fabric.work(handlers, options)
  fabric.engine()
  return undefined
}

/** Serves the HTTP API. Another program may have the default port; then a remark is enough. */
async function openServer(
  { fabric, output }: Session,
  port: number | undefined,
  handlers: readonly Handler[],
): Promise<HttpServer | undefined> {
  // Loaded lazily: the schemas of the API are large.
  const [{ startServer }, { isPortTaken }] = await Promise.all([
    import('../../server/node/start-server.ts'),
    import('../../server/node/http-server.ts'),
  ])
  try {
    return await startServer(fabric, {
      engine: fabric.engine(),
      tasks: handlers.map(({ task }) => task),
      ...dropUndefined({ port }),
    })
  } catch (error) {
    if (port !== undefined || !isPortTaken(error)) throw error
    output.remark('The default port of the HTTP API is taken, so it is not served; choose another with --port.')
    return undefined
  }
}

async function announce(
  { fabric, output, keys }: Session,
  handlers: readonly Handler[],
  server: HttpServer | undefined,
): Promise<void> {
  const { kind, location, warnings } = await fabric.report()
  const tasks = handlers.map((handler) => handler.task.name)
  await output.record({
    kind: 'started',
    store: { kind, location, warnings },
    namespace: fabric.namespace,
    tasks,
    keys: { file: keys.file, isNew: keys.isNew },
    url: server?.url,
  })
  output.remark(`flowfabric ${packageVersion()} on ${kind}, ${printable(location)}`)
  for (const warning of warnings) output.remark(warning)
  output.remark(
    tasks.length === 0
      ? 'No handlers file: submitted work waits for a worker elsewhere.'
      : `A worker runs the tasks ${tasks.join(', ')}.`,
  )
  output.remark(keysText(keys))
  if (server !== undefined) output.remark(pagesText(server.url))
  output.remark('The engine runs. Events follow; press ctrl-c to stop.')
}

function keysText({ file, isNew }: CommandKeys): string {
  if (file === undefined) return 'Links are signed with a key that is lost when this process ends.'
  const keys = `Links are signed with the keys in ${printable(file)}`
  return isNew ? `${keys}, created now; other processes find them by ${KEYS_FILE_VARIABLE}.` : `${keys}.`
}

async function stop(worker: Worker | undefined, interruption: Interruption): Promise<WorkerSummary> {
  if (worker === undefined) return { finished: 0, released: 0, abandoned: 0 }
  const hurry = () => void worker.close({ drain: 0 })
  interruption.hurry.addEventListener('abort', hurry, { once: true })
  return await worker.close(interruption.hurry.aborted ? { drain: 0 } : {})
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
