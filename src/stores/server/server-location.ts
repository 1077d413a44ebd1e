/** The parts that the locations of all servers share. No message holds a user, a password or an unknown piece of the text. */
import type { EngineError } from '../../kernel/engine-error.ts'
import { invalidConfiguration } from '../../options/invalid-input.ts'

interface LocationParts {
  /** The hosts and ports, as written. */
  readonly servers: string
  readonly username: string | undefined
  readonly password: string | undefined
  /** The text between the servers and "?", as written. */
  readonly path: string
  readonly query: string
}

/** Splits the text after the scheme, such as "//user:password@host:6379/0?prefix=ff". */
export function splitLocation(rest: string, example: string): LocationParts {
  if (!rest.startsWith('//')) throw invalidLocation(`"//" follows the scheme, as in ${example}.`)
  const [beforeQuery, query = ''] = splitOnce(rest.slice(2), '?')
  const [authority, path = ''] = splitOnce(beforeQuery, '/')
  if (path.includes('@') || query.includes('@')) {
    throw invalidLocation(
      'A "/", "?" or "@" in the user, the password or a setting must be written as "%2F", "%3F" or "%40".',
    )
  }
  const at = authority.lastIndexOf('@')
  const [username, password = ''] = splitOnce(authority.slice(0, Math.max(0, at)), ':')
  return {
    servers: authority.slice(at + 1),
    username: username === '' ? undefined : decoded(username),
    password: password === '' ? undefined : decoded(password),
    path,
    query,
  }
}

/** A host and its port, as one writes them. */
export function shownAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidLocation('It is not valid percent-encoding: write "%25" for "%".')
  }
}

export function invalidLocation(message: string): EngineError {
  return invalidConfiguration('location', message)
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}
