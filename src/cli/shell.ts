/** What the commands share: the process they run in, how they open the store, and the exit code they leave. */
import type { Command } from 'commander'
import { checkNamespace } from '../client/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import { parseLocation } from '../stores/location.ts'
import type { StoreLocation } from '../stores/location.ts'
import { createFabric } from '../worker/fabric.ts'
import type { Fabric } from '../worker/fabric.ts'
import { defined } from './defined.ts'
import { exitCodes } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { globalsOf } from './globals.ts'
import { OpeningLog } from './opening-log.ts'
import { Output } from './output.ts'
import { accessFrom } from './store-access.ts'
import { terminalLog } from './terminal-log.ts'

export interface Session {
  readonly fabric: Fabric
  readonly output: Output
  /** The namespace that was asked for; absent if none was. */
  readonly namespace: string | undefined
}

export interface OpenOptions {
  /** Make the store if there is none. Only commands that bring work do. */
  readonly create?: boolean
  /** Accept a store that ends with the process. Only a command that does everything in one process can use one. */
  readonly inProcess?: boolean
}

export class Shell {
  readonly runtime: Runtime
  exitCode: ExitCode = exitCodes.ok
  /** Whether a user's module was loaded: what it leaves running must not keep the process alive. */
  runsForeignCode = false

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  /** Opens the store that the command line names, lends it to the command and closes it, whatever happens. */
  async withFabric(command: Command, options: OpenOptions, use: (session: Session) => Promise<void>): Promise<void> {
    const { store: location, namespace, json } = globalsOf(command)
    if (namespace !== undefined) checkNamespace(namespace, '--namespace')
    const parsed = usableLocation(location, options)
    const output = new Output(process.stdout, process.stderr, json === true)
    const { runtime } = this
    const log = new OpeningLog(terminalLog(output, runtime))
    // Looking at a store must not make one: a typing error would then answer "nothing there" and leave something behind.
    const { create = false } = options
    await using fabric = await createFabric({
      store: location,
      runtime,
      log,
      create,
      valkey: await accessFrom(process.env, parsed),
      ...defined({ namespace }),
    })
    log.end()
    await use({ fabric, output, namespace })
  }
}

function usableLocation(text: string, { inProcess = false }: OpenOptions): StoreLocation {
  const location = parseLocation(text)
  if (inProcess || !isInProcess(location)) return location
  throw new EngineError('invalid_configuration', {
    field: '--store',
    message: `--store is ${text}, which lives and ends with one process: only dev can use it. Name a file, for example sqlite:./flowfabric.db.`,
  })
}

function isInProcess(location: StoreLocation): boolean {
  return location.kind === 'memory' || (location.kind === 'sqlite' && location.file === ':memory:')
}
