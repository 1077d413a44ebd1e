/** Who the command is to a Valkey server, from the environment: for a location that does not carry the password itself. */
import { readFile } from 'node:fs/promises'
import { EngineError } from '../stores/engine-error.ts'
import type { StoreLocation } from '../stores/location.ts'
import type { ValkeyOptions } from '../stores/valkey/valkey-options.ts'
import { defined } from './defined.ts'

const USERNAME = 'FLOWFABRIC_VALKEY_USERNAME'
const PASSWORD = 'FLOWFABRIC_VALKEY_PASSWORD'
const PASSWORD_FILE = 'FLOWFABRIC_VALKEY_PASSWORD_FILE'

export type Environment = Readonly<Record<string, string | undefined>>

/** The user of a location belongs to its password, so where there is one the environment is not asked for either. */
export async function accessFrom(environment: Environment, location: StoreLocation): Promise<ValkeyOptions> {
  if (location.kind !== 'valkey' || location.password !== undefined) return {}
  return defined({
    username: location.username ?? valueOf(environment, USERNAME),
    password: await passwordFrom(environment),
  })
}

async function passwordFrom(environment: Environment): Promise<string | undefined> {
  const password = valueOf(environment, PASSWORD)
  const file = valueOf(environment, PASSWORD_FILE)
  if (file === undefined) return password
  if (password !== undefined) throw invalid(PASSWORD, `${PASSWORD} and ${PASSWORD_FILE} are both set: leave one out.`)
  const text = await readText(file)
  // Editors and secret stores end a file with a line break, which is not part of the password.
  const content = text.replace(/\r?\n$/, '')
  if (content === '') throw invalid(PASSWORD_FILE, `The file ${file}, which ${PASSWORD_FILE} names, is empty.`)
  return content
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const message = `The file ${file}, which ${PASSWORD_FILE} names, cannot be read: ${reason}.`
    throw new EngineError('invalid_configuration', { field: PASSWORD_FILE, message }, { cause })
  }
}

/** A variable that is set to nothing is not set: templates of deployments write it so. */
function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name]
  return value === '' ? undefined : value
}

function invalid(field: string, message: string): EngineError {
  return new EngineError('invalid_configuration', { field, message })
}
