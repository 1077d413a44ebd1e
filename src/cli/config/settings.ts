/**
 * All settings of the command line. Each can stand in a file of settings under its name, such as `server.port`, and most in an
 * environment variable; some have a flag. The reference in the docs is generated from this list.
 */
import { KEYS_FILE_VARIABLE } from '../../client/index.ts'
import { boolean, file, integer, list, secret, secretFile, text, word } from './kinds.ts'
import type { Kind } from './kinds.ts'

export interface Setting<T = unknown> {
  readonly kind: Kind<T>
  readonly variable: string
  readonly flag?: string
  /** What applies without a value, in words. */
  readonly fallback: string
  readonly about: string
}

function setting<T>(kind: Kind<T>, variable: string, about: string, more: Partial<Setting<T>> = {}): Setting<T> {
  return { kind, variable, about, fallback: 'none', ...more }
}

const PORT_MAX = 65_535

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** A user and certificates for the store on a kind of server. */
function serverSettings<Name extends 'valkey' | 'postgres'>(name: Name, title: string) {
  const prefix = `FLOWFABRIC_${name.toUpperCase()}`
  return {
    [`${name}.username`]: setting(text, `${prefix}_USERNAME`, `The user at ${title}`),
    [`${name}.password`]: setting(secret, `${prefix}_PASSWORD`, `The password of that user`),
    [`${name}.passwordFile`]: setting(secretFile, `${prefix}_PASSWORD_FILE`, `A file that contains the password`),
    [`${name}.caFile`]: setting(file, `${prefix}_CA_FILE`, `Certificates of authorities that ${title} is trusted by`, {
      fallback: 'those of the system',
    }),
    [`${name}.certFile`]: setting(file, `${prefix}_CERT_FILE`, `The certificate of this program for ${title}`),
    [`${name}.keyFile`]: setting(secretFile, `${prefix}_KEY_FILE`, `The private key of that certificate`),
  } as {
    readonly [
      K in `${Name}.${'username' | 'password' | 'passwordFile' | 'caFile' | 'certFile' | 'keyFile'}`
    ]: Setting<string>
  }
}

export const settings = {
  store: setting(text, 'FLOWFABRIC_STORE', 'Where the store is', {
    flag: '--store',
    fallback: '`sqlite:./flowfabric.db`',
  }),
  namespace: setting(text, 'FLOWFABRIC_NAMESPACE', 'The namespace to act in', {
    flag: '--namespace',
    fallback: '`default` for what is written, all for what is read',
  }),
  keysFile: setting(secretFile, KEYS_FILE_VARIABLE, 'The keys that sign links to waitpoints', {
    flag: '--file of keys',
    fallback: 'a file beside the store',
  }),
  'codec.keysFile': setting(secretFile, 'FLOWFABRIC_CODEC_KEYS_FILE', 'The keys that encrypt and decrypt values', {
    fallback: 'values are shown as sealed',
  }),
  'codec.folder': setting(file, 'FLOWFABRIC_CODEC_FOLDER', 'The folder of offloaded values'),
  'codec.bucket.endpoint': setting(
    text,
    'FLOWFABRIC_CODEC_BUCKET_ENDPOINT',
    'The service whose bucket has the offloaded values',
  ),
  'codec.bucket.name': setting(text, 'FLOWFABRIC_CODEC_BUCKET_NAME', 'That bucket'),
  'codec.bucket.region': setting(text, 'FLOWFABRIC_CODEC_BUCKET_REGION', 'Its region', { fallback: '`us-east-1`' }),
  'codec.bucket.prefix': setting(text, 'FLOWFABRIC_CODEC_BUCKET_PREFIX', 'What the names of its objects begin with'),
  'codec.bucket.accessKeyId': setting(text, 'FLOWFABRIC_CODEC_BUCKET_ACCESS_KEY_ID', 'The key id for that service'),
  'codec.bucket.secretAccessKeyFile': setting(
    secretFile,
    'FLOWFABRIC_CODEC_BUCKET_SECRET_ACCESS_KEY_FILE',
    'A file that contains the secret access key',
  ),
  logLevel: setting(word(logLevels), 'FLOWFABRIC_LOG_LEVEL', 'The least severe log entries that are printed', {
    fallback: '`info`',
  }),
  ...serverSettings('valkey', 'Valkey'),
  'valkey.sentinelPassword': setting(
    secret,
    'FLOWFABRIC_VALKEY_SENTINEL_PASSWORD',
    'The password of the sentinels, if they need one',
  ),
  'valkey.loadFunctions': setting(
    boolean,
    'FLOWFABRIC_VALKEY_LOAD_FUNCTIONS',
    'Whether this program may load its function library into Valkey',
    { fallback: '`true`' },
  ),
  ...serverSettings('postgres', 'PostgreSQL'),
  'postgres.connections': setting(
    integer(2, 64),
    'FLOWFABRIC_POSTGRES_CONNECTIONS',
    'The number of connections to PostgreSQL',
    { fallback: '`4`' },
  ),
  'postgres.listen': setting(
    text,
    'FLOWFABRIC_POSTGRES_LISTEN',
    'A location of the server itself for wake-ups, if the store is reached through a pooler; `false` polls instead',
    { fallback: 'the location of the store' },
  ),
  'remote.token': setting(secret, 'FLOWFABRIC_REMOTE_TOKEN', 'The token for a server, if the store is its address'),
  'remote.tokenFile': setting(secretFile, 'FLOWFABRIC_REMOTE_TOKEN_FILE', 'A file that contains the token'),
  'server.host': setting(text, 'FLOWFABRIC_SERVER_HOST', 'The address that `server` listens on', {
    flag: '--host',
    fallback: '`127.0.0.1`',
  }),
  'server.port': setting(
    integer(0, PORT_MAX),
    'FLOWFABRIC_SERVER_PORT',
    'The port of `server` and `dev`; 0 takes a free one',
    {
      flag: '--port',
      fallback: '`9090`',
    },
  ),
  'server.tokensFile': setting(secretFile, 'FLOWFABRIC_TOKENS_FILE', 'The tokens that requests need', {
    flag: '--tokens',
  }),
  'server.open': setting(
    boolean,
    'FLOWFABRIC_SERVER_OPEN',
    'Whether requests without credentials are accepted on a public address',
    { flag: '--open', fallback: '`false`' },
  ),
  'server.cors': setting(list, 'FLOWFABRIC_SERVER_CORS', 'Origins whose pages may call the API', { flag: '--cors' }),
  'server.redact': setting(boolean, 'FLOWFABRIC_SERVER_REDACT', 'Whether values of users are withheld from viewers', {
    flag: '--redact',
    fallback: '`false`',
  }),
  'server.auditFile': setting(file, 'FLOWFABRIC_SERVER_AUDIT_FILE', 'A file that records the actions of operators', {
    flag: '--audit',
  }),
  'server.webhooks': setting(
    boolean,
    'FLOWFABRIC_SERVER_WEBHOOKS',
    'Whether the engine of `server` delivers webhooks',
    {
      flag: '--no-webhooks',
      fallback: '`true`',
    },
  ),
  'server.engine': setting(boolean, 'FLOWFABRIC_SERVER_ENGINE', 'Whether `server` runs an engine', {
    flag: '--no-engine',
    fallback: '`true`',
  }),
  'worker.concurrency': setting(
    integer(1, 10_000),
    'FLOWFABRIC_WORKER_CONCURRENCY',
    'How many handlers the worker of `dev` runs at the same time',
    { flag: '--concurrency', fallback: '`16`' },
  ),
  'worker.lanes': setting(list, 'FLOWFABRIC_WORKER_LANES', 'The lanes that the worker of `dev` serves', {
    flag: '--lane',
    fallback: 'those of its tasks',
  }),
  'worker.capabilities': setting(list, 'FLOWFABRIC_WORKER_CAPABILITIES', 'What the worker of `dev` is capable of', {
    flag: '--capability',
  }),
} satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings
export type ValueOf<Name extends SettingName> = (typeof settings)[Name] extends Setting<infer T> ? T : never

export const settingNames = Object.keys(settings) as readonly SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name)
}

export const CONFIG_FILE_VARIABLE = 'FLOWFABRIC_CONFIG_FILE'

/** Variables that are no settings: they name the file of settings, or a secret of one command. */
const otherVariables = [CONFIG_FILE_VARIABLE, 'FLOWFABRIC_TOKEN', 'FLOWFABRIC_DEV_SUPERVISED'] as const

export const variables: readonly string[] = [...settingNames.map((name) => settings[name].variable), ...otherVariables]
