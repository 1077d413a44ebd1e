/**
 * Locates the signing keys: in the file that is named, else beside the store. The file is opened lazily, because most
 * commands need no keys.
 */
import { existsSync } from 'node:fs'
import { KEYS_FILE_VARIABLE, KeyFile, KeyRing, changeKeyFile } from '../../client/index.ts'
import type { KeySource } from '../../client/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { StoreLocation } from '../../stores/open/location.ts'
import type { Configuration } from '../config/configuration.ts'

/** For a store on a server, which has no folder. */
const FILE_DEFAULT = './flowfabric.keys'

export interface KeysFlags {
  readonly file?: string
}

export const KEYS_FILE_FLAG = '--file <path>'
export const KEYS_FILE_TEXT = `the key file (default: ${KEYS_FILE_VARIABLE}, else the one beside the store)`

/** The signing keys of a command. */
export interface CommandKeys {
  readonly source: KeySource
  /** Undefined if the keys exist only in memory. */
  readonly file: string | undefined
  /** Whether this process created the keys. */
  readonly isNew: boolean
}

function fileBeside(location: StoreLocation): string | undefined {
  switch (location.kind) {
    case 'memory':
      return undefined
    case 'sqlite':
      return location.file === ':memory:' ? undefined : `${location.file}.keys`
    case 'valkey':
    case 'postgres':
    case 'remote':
      return FILE_DEFAULT
  }
}

/** The file that the `keys` commands use. */
export function keysFileOf(configuration: Configuration, location: StoreLocation): string {
  const file = configuration.value('keysFile') ?? fileBeside(location)
  if (file !== undefined) return file
  throw new EngineError('invalid_configuration', {
    field: '--file',
    message: `A store in memory has no folder for keys: name a file with --file or ${KEYS_FILE_VARIABLE}.`,
  })
}

/** Finds existing keys. Opens the file on first use. */
export function findKeys(
  configuration: Configuration,
  location: StoreLocation,
  runtime: Runtime,
  log: Log,
): CommandKeys {
  const named = configuration.value('keysFile')
  const file = named ?? fileBeside(location)
  const open = () =>
    file === undefined || (named === undefined && !existsSync(file)) ? undefined : new KeyFile(file, runtime, log)
  let opened: KeyFile | undefined
  return { source: { isLazy: true, ring: () => (opened ??= open())?.ring() }, file, isNew: false }
}

/** Opens the keys of a process that issues links. Creates them unless a file is named or exists. */
export async function makeKeys(
  configuration: Configuration,
  location: StoreLocation,
  runtime: Runtime,
  log: Log,
): Promise<CommandKeys> {
  const named = configuration.value('keysFile')
  const file = named ?? fileBeside(location)
  if (file === undefined) return { source: KeyRing.begin(runtime.now()), file, isNew: true }
  const isNew = named === undefined && !existsSync(file)
  if (isNew) await changeKeyFile(file, runtime, (ring) => ring ?? KeyRing.begin(runtime.now()))
  return { source: new KeyFile(file, runtime, log), file, isNew }
}
