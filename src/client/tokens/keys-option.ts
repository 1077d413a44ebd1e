/** Where a program says that its signing keys are: in its options, else in the environment. */
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KeyFile } from './key-file.ts'
import { noKeys } from './key-ring.ts'
import type { KeySource } from './key-ring.ts'

/**
 * A file, which `flowfabric keys` looks after; a ring from elsewhere, or what answers the present one; or `none` for a
 * program that hands out no tokens.
 */
export type KeysOption = { readonly file: string } | KeySource | 'none'

export const KEYS_FILE_VARIABLE = 'FLOWFABRIC_KEYS_FILE'

/** Undefined if nobody has said anything. Whatever was said is there and can be used, or it is refused now. */
export function openKeys(
  option: KeysOption | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  runtime: Runtime,
  log: Log,
): KeySource | undefined {
  if (option === undefined) {
    const file = environment[KEYS_FILE_VARIABLE]
    // A variable that is set to nothing is not set: templates of deployments write it so.
    return file === undefined || file === '' ? undefined : new KeyFile(file, runtime, log)
  }
  if (option === 'none') return noKeys
  if (isKeySource(option)) return option
  const given: unknown = option
  if (isObject(given) && typeof given.file === 'string' && given.file !== '')
    return new KeyFile(given.file, runtime, log)
  // What was given may have secrets in it, so it is not shown.
  throw new EngineError('invalid_configuration', {
    field: 'keys',
    message: "keys must be { file: './flowfabric.keys' }, a ring as KeyRing.parse makes it, or 'none'.",
  })
}

function isKeySource(value: unknown): value is KeySource {
  return isObject(value) && typeof value.ring === 'function'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
