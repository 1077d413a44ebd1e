/** The source of the signing keys: the option, else the environment. */
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KeyFile } from './key-file.ts'
import { noKeys } from './key-ring.ts'
import type { KeySource } from './key-ring.ts'

/**
 * A file that `flowfabric keys` manages; a ring, or an object that returns the current ring; or `none` for a program that
 * issues no tokens.
 */
export type KeysOption = { readonly file: string } | KeySource | 'none'

export const KEYS_FILE_VARIABLE = 'FLOWFABRIC_KEYS_FILE'

/** Opens the source of keys; undefined if none is set. Throws if the keys cannot be used. */
export function openKeys(
  option: KeysOption | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  runtime: Runtime,
  log: Log,
): KeySource | undefined {
  if (option === undefined) {
    const file = environment[KEYS_FILE_VARIABLE]
    // An empty variable counts as unset, since deployment templates often set it so.
    return file === undefined || file === '' ? undefined : new KeyFile(file, runtime, log)
  }
  if (option === 'none') return noKeys
  if (isKeySource(option)) return option
  const given: unknown = option
  if (isObject(given) && typeof given.file === 'string' && given.file !== '')
    return new KeyFile(given.file, runtime, log)
  // The value may contain secrets, so it is not shown.
  throw new EngineError('invalid_configuration', {
    field: 'keys',
    message: "keys must be { file: './flowfabric.keys' }, a ring from KeyRing.parse(…), or 'none'.",
  })
}

function isKeySource(value: unknown): value is KeySource {
  return isObject(value) && typeof value.ring === 'function'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
