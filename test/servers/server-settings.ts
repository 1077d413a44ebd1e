/** The settings that a server is started with, as arguments of its program. */
import { makeCertificate } from './certificate.ts'
import type { ServerAddress } from './connection.ts'
import type { Place } from './place.ts'
import type { Launch, ServerProgram } from './server-process.ts'

/** Settings by their names in the server's own documentation. A setting with several words is an array of them. */
export type ServerSettings = Readonly<Record<string, string | readonly string[]>>

export interface ServerOptions {
  /** Default: valkey-server. */
  readonly program?: ServerProgram
  /** With a value the server writes an append-only file and flushes it accordingly; without one it keeps nothing. */
  readonly appendOnly?: 'everysec' | 'always'
  /** The password of every client, or with a user name, of that user. */
  readonly password?: string
  /** The only user that may do anything. Needs a password. */
  readonly username?: string
  /** What that user may do. Default: everything. */
  readonly rules?: readonly string[]
  /** The server speaks TLS and nothing else, with a certificate that it signed itself. */
  readonly isEncrypted?: boolean
  /** Further settings of the server; they override all other options. */
  readonly settings?: ServerSettings
}

export interface ServerPlan extends Launch {
  readonly address: ServerAddress
}

const READY = 'Ready to accept connections'
const LOOPBACK = '127.0.0.1'
const EVERYTHING = ['~*', '&*', '+@all']

function durabilityOf({ appendOnly }: ServerOptions): ServerSettings {
  return appendOnly === undefined ? { appendonly: 'no' } : { appendonly: 'yes', appendfsync: appendOnly }
}

function argument([name, value]: readonly [string, string | readonly string[]]): string[] {
  return [`--${name}`, ...(typeof value === 'string' ? [value] : value)]
}

/** A list and not settings by name, because a server has many users. */
function accessArguments({ username, password, rules = EVERYTHING }: ServerOptions): string[] {
  if (username === undefined) return password === undefined ? [] : argument(['requirepass', password])
  if (password === undefined) throw new Error('A user of a server needs a password.')
  return [...argument(['user', ['default', 'off']]), ...argument(['user', [username, 'on', `>${password}`, ...rules]])]
}

export async function planServer(place: Place, options: ServerOptions): Promise<ServerPlan> {
  const certificate = options.isEncrypted === true ? await makeCertificate(place.folder) : undefined
  const port = String(place.port)
  const settings: ServerSettings = {
    bind: LOOPBACK,
    dir: place.folder,
    save: '',
    ...durabilityOf(options),
    ...(certificate === undefined
      ? { port }
      : {
          port: '0',
          'tls-port': port,
          'tls-cert-file': certificate.certificateFile,
          'tls-key-file': certificate.keyFile,
          'tls-ca-cert-file': certificate.certificateFile,
          'tls-auth-clients': 'no',
        }),
    ...options.settings,
  }
  return {
    program: options.program ?? 'valkey-server',
    args: [...Object.entries(settings).flatMap(argument), ...accessArguments(options)],
    readyText: READY,
    address: {
      host: LOOPBACK,
      port: place.port,
      username: options.username,
      password: options.password,
      certificate: certificate?.text,
    },
  }
}
