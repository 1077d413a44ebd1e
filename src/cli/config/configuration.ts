/** Resolves settings: a flag overrides a variable of the environment, which overrides the file, which overrides the default. */
import { readFileSync } from 'node:fs'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidConfiguration } from '../../options/invalid-input.ts'
import { readConfigFile } from './config-file.ts'
import type { ConfigFile } from './config-file.ts'
import { CONFIG_FILE_VARIABLE, settings } from './settings.ts'
import type { Setting, SettingName, ValueOf } from './settings.ts'
import { misspeltVariables } from './unknown-variables.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Where the value of a setting comes from. `name` is what an error or a table calls the place. */
export interface Source {
  readonly kind: 'flag' | 'environment' | 'file'
  readonly name: string
}

/** Flags as the command line has them: texts, or values that commander made of them. */
export type SettingFlags = Readonly<Partial<Record<SettingName, unknown>>>

export interface Resolved<T = unknown> {
  readonly value: T
  readonly source: Source
}

/** The pair of settings of a secret: itself, and the file that contains it. */
const secretFiles = {
  'valkey.password': 'valkey.passwordFile',
  'postgres.password': 'postgres.passwordFile',
  'remote.token': 'remote.tokenFile',
} as const

export type SecretName = keyof typeof secretFiles

export class Configuration {
  readonly file: ConfigFile | undefined
  readonly #environment: Environment
  /** The flags of this command that belong to settings. */
  readonly #flags: SettingFlags

  constructor(environment: Environment, file?: ConfigFile, flags: SettingFlags = {}) {
    this.#environment = environment
    this.file = file
    this.#flags = flags
  }

  /** Reads the file that the flag or the environment names, or the one of the working directory. */
  static read(environment: Environment, flag?: string, flags?: SettingFlags): Configuration {
    const named = flag ?? given(environment[CONFIG_FILE_VARIABLE])
    const file = readConfigFile(named, flag === undefined ? CONFIG_FILE_VARIABLE : '--config')
    return new Configuration(environment, file, flags)
  }

  /** Returns undefined if the setting has no value, so that its default applies. */
  value<Name extends SettingName>(name: Name): ValueOf<Name> | undefined {
    return this.resolve(name)?.value
  }

  resolve<Name extends SettingName>(name: Name): Resolved<ValueOf<Name>> | undefined {
    const { kind, variable, flag } = settings[name] as Setting<ValueOf<Name>>
    const typed = this.#flags[name]
    if (typed !== undefined) {
      const option = flag ?? name
      const value = typeof typed === 'string' ? kind.parse(typed, option) : kind.check(typed, option)
      return { value, source: { kind: 'flag', name: option } }
    }
    const text = given(this.#environment[variable])
    if (text !== undefined) {
      return { value: kind.parse(text, variable), source: { kind: 'environment', name: variable } }
    }
    const { file } = this
    if (!file?.values.has(name)) return undefined
    return { value: file.values.get(name) as ValueOf<Name>, source: { kind: 'file', name: file.path } }
  }

  /** Returns a secret, or the content of the file that contains it. */
  secret(name: SecretName): string | undefined {
    const plain = this.resolve(name)
    const named = this.resolve(secretFiles[name])
    if (named === undefined) return plain?.value
    const place = this.#placeOf(secretFiles[name], named.source)
    if (plain !== undefined) {
      throw invalidConfiguration(
        place,
        `${this.#placeOf(name, plain.source)} and ${place} are both set: leave one out.`,
      )
    }
    // Editors and secret stores append a line break, which is not part of the secret.
    const content = readNamedFile(named.value, place).replace(/\r?\n$/, '')
    if (content === '') throw invalidConfiguration(place, `The file ${named.value}, which ${place} names, is empty.`)
    return content
  }

  /** Returns the content of the file that a setting names. */
  content(
    name:
      | 'valkey.caFile'
      | 'valkey.certFile'
      | 'valkey.keyFile'
      | 'postgres.caFile'
      | 'postgres.certFile'
      | 'postgres.keyFile'
      | 'codec.bucket.secretAccessKeyFile',
  ): string | undefined {
    const named = this.resolve(name)
    return named === undefined ? undefined : readNamedFile(named.value, this.#placeOf(name, named.source))
  }

  /** Sentences about variables that are probably misspelt. */
  warnings(): string[] {
    return misspeltVariables(this.#environment)
  }

  #placeOf(name: SettingName, source: Source): string {
    return source.kind === 'file' ? `${name} in ${source.name}` : source.name
  }
}

function readNamedFile(path: string, place: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const message = `The file ${path}, which ${place} names, cannot be read: ${reason}.`
    throw new EngineError('invalid_configuration', { field: place, message }, { cause })
  }
}

/** An empty variable counts as unset: deployment templates produce empty variables. */
function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
