/** Reads a file of settings: JSON whose objects nest as the names of settings do, such as `{ "server": { "port": 8080 } }`. */
import { existsSync, readFileSync } from 'node:fs'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidConfiguration } from '../../options/invalid-input.ts'
import { suggestion } from '../../options/nearest.ts'
import { isSettingName, settingNames, settings } from './settings.ts'
import type { SettingName } from './settings.ts'

/** Read without being named, if the working directory has it. */
export const CONFIG_FILE_DEFAULT = 'flowfabric.config.json'

export interface ConfigFile {
  readonly path: string
  readonly values: ReadonlyMap<SettingName, unknown>
}

/** Reads the named file, which must exist, or the one of the working directory. `from` is what named the file. */
export function readConfigFile(named: string | undefined, from: string): ConfigFile | undefined {
  const path = named ?? CONFIG_FILE_DEFAULT
  if (named === undefined && !existsSync(path)) return undefined
  const values = new Map<SettingName, unknown>()
  collectValues(path, parse(path, readText(path, from)), '', values)
  return { path, values }
}

function readText(path: string, from: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const message = `The file of settings ${path} cannot be read: ${reason}.`
    throw new EngineError('invalid_configuration', { field: from, message }, { cause })
  }
}

/** Discards the error of the parser, which quotes the text: the file may contain a password. */
function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidConfiguration(
      path,
      `The file of settings ${path} is not JSON. Comments and trailing commas are not allowed.`,
    )
  }
}

function collectValues(path: string, found: unknown, prefix: string, values: Map<SettingName, unknown>): void {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) {
    const place = prefix === '' ? `The file of settings ${path}` : `${prefix.slice(0, -1)} in ${path}`
    throw invalidConfiguration(path, `${place} must be an object, such as { "server": { "port": 9090 } }.`)
  }
  for (const [key, value] of Object.entries(found)) {
    const name = prefix + key
    // Editors use it to complete and check the file.
    if (name === '$schema') continue
    if (isSettingName(name)) values.set(name, settings[name].kind.check(value, `${name} in ${path}`))
    else if (settingNames.some((known) => known.startsWith(`${name}.`))) collectValues(path, value, `${name}.`, values)
    else throw invalidConfiguration(path, `${path} has the unknown setting ${name}.${suggestion(name, settingNames)}`)
  }
}
