/** What the commands share: the process they run in, how they open the store, and the exit code they leave. */
import type { Command } from 'commander'
import { checkNamespace } from '../../client/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { parseLocation } from '../../stores/open/location.ts'
import type { StoreLocation } from '../../stores/open/location.ts'
import type { Fabric } from '../../fabric/fabric.ts'
import { defined } from '../args/drop-undefined.ts'
import { exitCodes } from '../process/exit-codes.ts'
import type { ExitCode } from '../process/exit-codes.ts'
import { globalsOf } from '../args/globals.ts'
import { findKeys, keysFileOf, makeKeys } from './keys-place.ts'
import type { CommandKeys, KeysFlags } from './keys-place.ts'
import { OpeningLog } from '../process/buffered-log.ts'
import { Output } from '../text/output.ts'
import { accessFrom } from './store-access.ts'
import type { StoreAccess } from './store-access.ts'
import { terminalLog } from '../process/terminal-log.ts'

export interface Session {
  readonly fabric: Fabric
  readonly output: Output
  /** The namespace that was asked for; absent if none was. */
  readonly namespace: string | undefined
  readonly keys: CommandKeys
}

/** Where a command acts, and who it is there. */
export interface Place {
  readonly location: string
  readonly parsed: StoreLocation
  readonly access: StoreAccess
  readonly output: Output
}

export interface PlaceOptions {
  /** Counts instead of the one that all commands take. */
  readonly location?: string | undefined
  /** Accept a store that ends with the process. Only a command that does everything in one process can use one. */
  readonly inProcess?: boolean
}

export interface OpenOptions extends Pick<PlaceOptions, 'inProcess'> {
  /** Make the store if there is none. Only commands that bring work do. */
  readonly create?: boolean
  /** Make signing keys if there are none. */
  readonly makeKeys?: boolean
}

export class Shell {
  readonly runtime: Runtime
  exitCode: ExitCode = exitCodes.ok
  /** Whether a user's module was loaded: what it leaves running must not keep the process alive. */
  runsForeignCode = false

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  /** Where the command line says that the store is. */
  async place(command: Command, options: PlaceOptions): Promise<Place> {
    const { store, json } = globalsOf(command)
    const location = options.location ?? store
    const parsed = usableLocation(location, options)
    const output = new Output(process.stdout, process.stderr, json === true)
    return { location, parsed, access: await accessFrom(process.env, parsed), output }
  }

  /** Which file of keys the command line means. No store is needed for it. */
  keysPlace(command: Command, { file }: KeysFlags): { readonly file: string; readonly output: Output } {
    const { store, json } = globalsOf(command)
    const output = new Output(process.stdout, process.stderr, json === true)
    return { file: keysFileOf(process.env, parseLocation(store), file), output }
  }

  /** Opens the store that the command line names, lends it to the command and closes it, whatever happens. */
  async withFabric(command: Command, options: OpenOptions, use: (session: Session) => Promise<void>): Promise<void> {
    const { namespace } = globalsOf(command)
    if (namespace !== undefined) checkNamespace(namespace, '--namespace')
    const { location, parsed, access, output } = await this.place(command, options)
    const { runtime } = this
    const terminal = terminalLog(output, runtime)
    const log = new OpeningLog(terminal)
    // Help and wrong usage do without the engine, which takes most of the time to load.
    const { createFabric } = await import('../../fabric/fabric.ts')
    const collect = options.makeKeys === true ? makeKeys : findKeys
    const keys = await collect(process.env, parsed, runtime, terminal)
    // Looking at a store must not make one: a typing error would then answer "nothing there" and leave something behind.
    const { create = false } = options
    await using fabric = await createFabric({
      store: location,
      runtime,
      log,
      create,
      keys: keys.source,
      ...access,
      ...defined({ namespace }),
    })
    log.end()
    await use({ fabric, output, namespace, keys })
  }
}

function usableLocation(text: string, { inProcess = false }: PlaceOptions): StoreLocation {
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
