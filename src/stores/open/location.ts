/** Parses the location of a store: one line of text whose scheme names the kind of store. */
import { EngineError } from '../../kernel/engine-error.ts'
import { parsePostgres, postgresForms } from '../postgres/options/postgres-location.ts'
import type { PostgresLocation } from '../postgres/options/postgres-location.ts'
import { parseRemote, remoteForms } from '../remote/remote-location.ts'
import type { RemoteLocation } from '../remote/remote-location.ts'
import { isSynchronous } from '../sqlite/file/synchronous.ts'
import type { Synchronous } from '../sqlite/file/synchronous.ts'
import { parseValkey, valkeyForms } from '../valkey/options/valkey-location.ts'
import type { ValkeyLocation } from '../valkey/options/valkey-location.ts'

export type StoreLocation =
  | { readonly kind: 'memory' }
  /** The file `:memory:` lives in the process and ends with it. */
  | { readonly kind: 'sqlite'; readonly file: string; readonly synchronous: Synchronous | undefined }
  | ValkeyLocation
  | PostgresLocation
  | RemoteLocation

interface Scheme {
  readonly name: string
  /** Examples of accepted locations, listed in the error for an unknown scheme. */
  readonly forms: readonly string[]
  readonly parse: (rest: string) => StoreLocation
}

const schemes: readonly Scheme[] = [
  { name: 'memory', forms: ['memory:'], parse: parseMemory },
  {
    name: 'sqlite',
    forms: [
      'sqlite:./fabric.db',
      'sqlite:/var/lib/fabric.db',
      'sqlite:./fabric.db?synchronous=full',
      'sqlite::memory:',
    ],
    parse: parseSqlite,
  },
  { name: 'valkey', forms: valkeyForms, parse: (rest) => parseValkey({ isCluster: false, isTls: false }, rest) },
  { name: 'valkeys', forms: [], parse: (rest) => parseValkey({ isCluster: false, isTls: true }, rest) },
  { name: 'valkey-cluster', forms: [], parse: (rest) => parseValkey({ isCluster: true, isTls: false }, rest) },
  {
    name: 'valkey-sentinel',
    forms: [],
    parse: (rest) => parseValkey({ isCluster: false, isTls: false, isWatched: true }, rest),
  },
  { name: 'redis', forms: [], parse: (rest) => parseValkey({ isCluster: false, isTls: false }, rest) },
  { name: 'rediss', forms: [], parse: (rest) => parseValkey({ isCluster: false, isTls: true }, rest) },
  { name: 'postgres', forms: postgresForms, parse: parsePostgres },
  { name: 'postgresql', forms: [], parse: parsePostgres },
  { name: 'https', forms: remoteForms, parse: (rest) => parseRemote('https', rest) },
  { name: 'http', forms: [], parse: (rest) => parseRemote('http', rest) },
]

export function parseLocation(text: string): StoreLocation {
  const colon = text.indexOf(':')
  const name = text.slice(0, Math.max(0, colon))
  const scheme = schemes.find((known) => known.name === name)
  if (scheme === undefined) {
    const forms = schemes.flatMap((known) => known.forms).join(', ')
    // The rest of the text stays out of the message: the location of a server may carry a password.
    const given = colon === -1 ? 'It has no scheme' : `Its scheme "${name}:" is not known`
    throw invalidLocation(`${given}. A store's location is one of: ${forms}.`)
  }
  return scheme.parse(text.slice(colon + 1))
}

function invalidLocation(message: string): EngineError {
  return new EngineError('invalid_configuration', { field: 'location', message })
}

function parseMemory(rest: string): StoreLocation {
  if (rest !== '') throw invalidLocation(`Nothing may follow "memory:", but "${rest}" does.`)
  return { kind: 'memory' }
}

function parseSqlite(rest: string): StoreLocation {
  const mark = rest.indexOf('?')
  const file = mark === -1 ? rest : rest.slice(0, mark)
  if (file === '') throw invalidLocation('"sqlite:" needs a file, for example sqlite:./fabric.db.')
  if (file.startsWith('//')) {
    throw invalidLocation(`A file's location has no "//": write sqlite:./fabric.db or sqlite:/var/lib/fabric.db.`)
  }
  const settings = new URLSearchParams(mark === -1 ? '' : rest.slice(mark + 1))
  for (const setting of settings.keys()) {
    if (setting !== 'synchronous') {
      throw invalidLocation(`"${setting}" is not a setting of a SQLite store; the only one is "synchronous".`)
    }
  }
  return { kind: 'sqlite', file, synchronous: parseSynchronous(settings.getAll('synchronous')) }
}

function parseSynchronous(values: readonly string[]): Synchronous | undefined {
  const [value, ...others] = values
  if (value === undefined) return undefined
  if (others.length > 0) throw invalidLocation('"synchronous" is given more than once.')
  if (!isSynchronous(value)) {
    throw invalidLocation(`"synchronous" is "normal" or "full", not "${value}".`)
  }
  return value
}
