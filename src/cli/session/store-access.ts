/** Reads the credentials for a server from the environment, for a location without a password. */
import { readFile } from 'node:fs/promises'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidConfiguration } from '../../options/invalid-input.ts'
import type { StoreLocation } from '../../stores/open/location.ts'
import type { FabricOptions } from '../../fabric/fabric.ts'
import { dropUndefined } from '../args/drop-undefined.ts'

export type Environment = Readonly<Record<string, string | undefined>>
export type StoreAccess = Pick<FabricOptions, 'valkey' | 'postgres'>

/** The environment variables of one kind of server. */
interface Variables {
  readonly username: string
  readonly password: string
  readonly passwordFile: string
}

function variablesOf(kind: 'VALKEY' | 'POSTGRES'): Variables {
  const prefix = `FLOWFABRIC_${kind}_`
  return { username: `${prefix}USERNAME`, password: `${prefix}PASSWORD`, passwordFile: `${prefix}PASSWORD_FILE` }
}

/** Ignores the environment if the location has a password, because its user belongs to that password. */
export async function accessFrom(environment: Environment, location: StoreLocation): Promise<StoreAccess> {
  switch (location.kind) {
    case 'valkey':
      return { valkey: await userFrom(environment, location, variablesOf('VALKEY')) }
    case 'postgres':
      return { postgres: await userFrom(environment, location, variablesOf('POSTGRES')) }
    case 'memory':
    case 'sqlite':
      return {}
  }
}

async function userFrom(
  environment: Environment,
  { username, password }: { readonly username: string | undefined; readonly password: string | undefined },
  variables: Variables,
): Promise<{ username?: string; password?: string }> {
  if (password !== undefined) return {}
  return dropUndefined({
    username: username ?? valueOf(environment, variables.username),
    password: await passwordFrom(environment, variables),
  })
}

async function passwordFrom(environment: Environment, variables: Variables): Promise<string | undefined> {
  const { password: name, passwordFile: fileName } = variables
  const password = valueOf(environment, name)
  const file = valueOf(environment, fileName)
  if (file === undefined) return password
  if (password !== undefined) throw invalidConfiguration(name, `${name} and ${fileName} are both set: leave one out.`)
  const text = await readText(file, fileName)
  // Editors and secret stores append a line break, which is not part of the password.
  const content = text.replace(/\r?\n$/, '')
  if (content === '') throw invalidConfiguration(fileName, `The file ${file}, which ${fileName} names, is empty.`)
  return content
}

async function readText(file: string, name: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const message = `The file ${file}, which ${name} names, cannot be read: ${reason}.`
    throw new EngineError('invalid_configuration', { field: name, message }, { cause })
  }
}

/** An empty variable counts as unset: deployment templates produce empty variables. */
function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name]
  return value === '' ? undefined : value
}
