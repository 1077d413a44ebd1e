/** The context that commands share: the runtime, access to the store, and the exit code. */
import type { Command } from 'commander'
import { checkNamespace } from '../../client/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { parseLocation } from '../../stores/open/location.ts'
import type { StoreLocation } from '../../stores/open/location.ts'
import type { Fabric } from '../../fabric/fabric.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import { exitCodes } from '../process/exit-codes.ts'
import { STORE_DEFAULT, globalsOf } from '../args/globals.ts'
import { Configuration } from '../config/configuration.ts'
import type { SettingFlags } from '../config/configuration.ts'
import { codecFrom } from './codec-access.ts'
import { findKeys, keysFileOf, makeKeys } from './keys-place.ts'
import type { CommandKeys, KeysFlags } from './keys-place.ts'
import { MutedLog } from '../process/muted-log.ts'
import { Output } from '../text/output.ts'
import { accessFrom } from './store-access.ts'
import type { StoreAccess } from './store-access.ts'
import { terminalLog } from '../process/terminal-log.ts'

export interface Session {
  readonly parsed: StoreLocation
  readonly access: StoreAccess
  readonly configuration: Configuration
  readonly fabric: Fabric
  readonly output: Output
  /** The namespace that is set, if any. */
  readonly namespace: string | undefined
  readonly keys: CommandKeys
}

/** The store of a command, with its credentials. */
export interface Place {
  readonly configuration: Configuration
  readonly location: string
  readonly parsed: StoreLocation
  readonly access: StoreAccess
  readonly output: Output
}

export interface PlaceOptions {
  /** Overrides the global --store. */
  readonly location?: string | undefined
  /** Accepts a store in memory. Only useful for a command that does everything in one process. */
  readonly inProcess?: boolean
  /** What the command does that a server does not do for it. Refuses the address of a server. */
  readonly needsStore?: string
}

export interface OpenOptions extends Pick<PlaceOptions, 'inProcess' | 'needsStore'> {
  /** Creates the store if it does not exist. Only for commands that submit work. */
  readonly create?: boolean
  /** Creates signing keys if there are none. */
  readonly makeKeys?: boolean
  /** Logs warnings and errors alone: the command prints what its worker has done. */
  readonly isQuiet?: boolean
}

export class Shell {
  readonly runtime: Runtime
  exitCode: number = exitCodes.ok
  /** Whether a module of the user was loaded. Its leftover timers must not keep the process alive. */
  runsForeignCode = false

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  /** Resolves the settings of the command line. `flags` are those of the command that belong to settings. */
  configuration(command: Command, flags: SettingFlags = {}): Configuration {
    const { config, store, namespace } = globalsOf(command)
    return Configuration.read(process.env, config, { store, namespace, ...dropUndefined(flags) })
  }

  output(command: Command): Output {
    return new Output(process.stdout, process.stderr, globalsOf(command).json === true)
  }

  /** Resolves the store of the command line. */
  place(command: Command, options: PlaceOptions): Place {
    const configuration = this.configuration(command, { store: options.location })
    const location = configuration.value('store') ?? STORE_DEFAULT
    const parsed = usableLocation(location, options)
    const output = this.output(command)
    return { configuration, location, parsed, access: accessFrom(configuration, parsed), output }
  }

  /** Resolves the key file of the command line. Does not need the store. */
  keysPlace(command: Command, { file }: KeysFlags): { readonly file: string; readonly output: Output } {
    const configuration = this.configuration(command, { keysFile: file })
    const location = parseLocation(configuration.value('store') ?? STORE_DEFAULT)
    return { file: keysFileOf(configuration, location), output: this.output(command) }
  }

  /** Makes the log of a command, on standard error. */
  log({ configuration, output }: Pick<Place, 'configuration' | 'output'>): Log {
    return terminalLog(output, this.runtime, configuration.value('logLevel'))
  }

  /** Opens the store of the command line for the duration of `use`. Closes it in any case. */
  async withFabric(command: Command, options: OpenOptions, use: (session: Session) => Promise<void>): Promise<void> {
    const place = this.place(command, options)
    const { configuration, location, parsed, access, output } = place
    const { runtime } = this
    const namespace = namespaceOf(configuration)
    for (const warning of configuration.warnings()) output.remark(warning)
    const terminal = this.log(place)
    const log = new MutedLog(terminal)
    // Loaded lazily: help and usage errors need no engine, which takes most of the load time.
    const { createFabric } = await import('../../fabric/fabric.ts')
    const collect = options.makeKeys === true ? makeKeys : findKeys
    const keys = await collect(configuration, parsed, runtime, terminal)
    // A command that reads must not create a store: a typo would then find nothing and leave an empty store.
    const { create = false } = options
    await using fabric = await createFabric({
      store: location,
      runtime,
      log,
      create,
      keys: keys.source,
      ...access,
      ...(await codecFrom(configuration)),
      // An operator who names no namespace acts on all of them by id.
      allNamespaces: namespace === undefined,
      ...dropUndefined({ namespace }),
    })
    log.unmute(dropUndefined({ isQuiet: options.isQuiet }))
    await use({ configuration, parsed, access, fabric, output, namespace, keys })
  }
}

/** Returns the namespace that is set, if any. */
export function namespaceOf(configuration: Configuration): string | undefined {
  const given = configuration.resolve('namespace')
  return given === undefined ? undefined : checkNamespace(given.value, given.source.name)
}

function usableLocation(text: string, { inProcess = false, needsStore }: PlaceOptions): StoreLocation {
  const location = parseLocation(text)
  if (needsStore !== undefined && location.kind === 'remote') {
    throw new EngineError('invalid_configuration', {
      field: '--store',
      message: `${needsStore}, so it needs the location of the store, not the address of a server.`,
    })
  }
  if (inProcess || !isInProcess(location)) return location
  throw new EngineError('invalid_configuration', {
    field: '--store',
    message: `--store is ${text}, which is in the memory of one process: only dev can use it. Use a file, for example sqlite:./flowfabric.db.`,
  })
}

function isInProcess(location: StoreLocation): boolean {
  return location.kind === 'memory' || (location.kind === 'sqlite' && location.file === ':memory:')
}
