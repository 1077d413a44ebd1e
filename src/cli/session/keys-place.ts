/**
 * Where the command line finds signing keys: in the file that is named, else beside the store. Commands that need none do
 * not care whether there are any, so a file is opened when it is first asked for.
 */
import { existsSync } from 'node:fs'
import { KEYS_FILE_VARIABLE, KeyFile, KeyRing, changeKeyFile } from '../../client/index.ts'
import type { KeySource } from '../../client/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { StoreLocation } from '../../stores/open/location.ts'
import type { Environment } from './store-access.ts'

/** Of a store on a server, which has no place beside it. */
const FILE_DEFAULT = './flowfabric.keys'

export interface KeysFlags {
  readonly file?: string
}

export const KEYS_FILE_FLAG = '--file <path>'
export const KEYS_FILE_TEXT = `the file of keys; ${KEYS_FILE_VARIABLE}, or the one beside the store, unless given`

/** The keys that a command has. */
export interface CommandKeys {
  readonly source: KeySource
  /** Undefined if they end with the process. */
  readonly file: string | undefined
  /** Whether they were made now. */
  readonly isNew: boolean
}

/** The file that the environment names. A variable that is set to nothing is not set. */
function namedFile(environment: Environment): string | undefined {
  const file = environment[KEYS_FILE_VARIABLE]
  return file === '' ? undefined : file
}

function fileBeside(location: StoreLocation): string | undefined {
  switch (location.kind) {
    case 'memory':
      return undefined
    case 'sqlite':
      return location.file === ':memory:' ? undefined : `${location.file}.keys`
    case 'valkey':
    case 'postgres':
      return FILE_DEFAULT
  }
}

/** The file that the commands for keys act on. */
export function keysFileOf(environment: Environment, location: StoreLocation, flag: string | undefined): string {
  const file = flag ?? namedFile(environment) ?? fileBeside(location)
  if (file !== undefined && file !== '') return file
  throw new EngineError('invalid_configuration', {
    field: '--file',
    message: `The store ends with its process, and no keys can be kept beside it: name a file with --file or ${KEYS_FILE_VARIABLE}.`,
  })
}

/** Keys that are there, if a command turns out to need them. */
export function findKeys(environment: Environment, location: StoreLocation, runtime: Runtime, log: Log): CommandKeys {
  const named = namedFile(environment)
  const file = named ?? fileBeside(location)
  const open = () =>
    file === undefined || (named === undefined && !existsSync(file)) ? undefined : new KeyFile(file, runtime, log)
  let opened: KeyFile | undefined
  return { source: { ring: () => (opened ??= open())?.ring() }, file, isNew: false }
}

/** Keys for a process that hands out links: made if nobody has named any and there are none yet. */
export async function makeKeys(
  environment: Environment,
  location: StoreLocation,
  runtime: Runtime,
  log: Log,
): Promise<CommandKeys> {
  const named = namedFile(environment)
  const file = named ?? fileBeside(location)
  if (file === undefined) return { source: KeyRing.begin(runtime.now()), file, isNew: true }
  const isNew = named === undefined && !existsSync(file)
  if (isNew) await changeKeyFile(file, runtime, (ring) => ring ?? KeyRing.begin(runtime.now()))
  return { source: new KeyFile(file, runtime, log), file, isNew }
}
