/** Checks a server before it is used: whether it can hold a store, and whether it would lose data silently. */
import { EngineError } from '../../../kernel/engine-error.ts'
import { invalidLocation } from '../../server/server-location.ts'
import { STANDBY } from '../wire/postgres-error.ts'
import type { Row, Session } from '../wire/session.ts'

export interface ServerFacts {
  readonly version: string
  /** The setting fsync. */
  readonly isSynced: boolean
  readonly hasFullPageWrites: boolean
  /** When a commit is acknowledged. */
  readonly synchronousCommit: string
  /** Whether autovacuum runs. */
  readonly isVacuumed: boolean
  /** Connections that are not reserved for administrators. */
  readonly connectionLimit: number
  /** The shortest timeout of statements and transactions; undefined if there is none. */
  readonly statementTimeoutMs: number | undefined
  /** The timeout of idle connections; undefined if there is none. */
  readonly idleTimeoutMs: number | undefined
}

/** The oldest supported version, as in server_version_num. */
const LEAST_VERSION = 130_000
const LEAST_VERSION_TEXT = '13'
const GOOD_ENCODING = 'UTF8'

const IDENTITY = `
  select version() as product, current_setting('server_version') as version,
    current_setting('server_version_num')::integer as version_number,
    pg_is_in_recovery() as is_standby, current_setting('server_encoding') as encoding`

const SETTING_NAMES = [
  'autovacuum',
  'fsync',
  'full_page_writes',
  'idle_session_timeout',
  'max_connections',
  'reserved_connections',
  'statement_timeout',
  'superuser_reserved_connections',
  'synchronous_commit',
  'track_counts',
  'transaction_read_only',
  'transaction_timeout',
] as const
type Settings = ReadonlyMap<(typeof SETTING_NAMES)[number], string>

/** Durations are in milliseconds. A setting that the server does not know is missing. */
const SETTINGS = 'select name, setting from pg_settings where name = any($1::text[]) order by name limit 100'

/** Returns the facts of a server. Throws if the store cannot use it. */
export async function checkServer(session: Session): Promise<ServerFacts> {
  const [identity = {}] = await session.query(IDENTITY)
  refuse(identity)
  const rows = await session.query(SETTINGS, [SETTING_NAMES])
  const settings: Settings = new Map(rows.map(({ name, setting }) => [name as never, String(setting)]))
  if (settings.get('transaction_read_only') === 'on') {
    throw new EngineError('store_unavailable', {
      message: 'The server takes no writes now: find out why default_transaction_read_only is on, such as a full disk.',
    })
  }
  return factsOf(versionOf(identity), settings)
}

function refuse(identity: Row): void {
  const product = String(identity['product'])
  if (!product.startsWith('PostgreSQL ')) {
    throw invalidLocation(
      `The server is ${product.split(/[ (]/, 1)[0] ?? ''}, not PostgreSQL: a server with the same protocol need not have the same guarantees, such as advisory locks.`,
    )
  }
  if (Number(identity['version_number']) < LEAST_VERSION) {
    throw invalidLocation(
      `The server is PostgreSQL ${versionOf(identity)}, which is too old: use ${LEAST_VERSION_TEXT} or later.`,
    )
  }
  if (identity['encoding'] !== GOOD_ENCODING) {
    throw invalidLocation(
      `The database has the encoding ${String(identity['encoding'])}, which cannot hold every text. Name one that was created with "create database … encoding 'UTF8' template template0".`,
    )
  }
  if (identity['is_standby'] === true) throw new EngineError('store_unavailable', { message: STANDBY })
}

/** Packagers append their own name and version. */
function versionOf(identity: Row): string {
  return String(identity['version']).split(' ', 1)[0] ?? ''
}

function factsOf(version: string, settings: Settings): ServerFacts {
  const number = (name: (typeof SETTING_NAMES)[number]) => Number(settings.get(name) ?? 0)
  const reserved = number('superuser_reserved_connections') + number('reserved_connections')
  const timeouts = [number('statement_timeout'), number('transaction_timeout')].filter((ms) => ms > 0)
  return {
    version,
    isSynced: settings.get('fsync') === 'on',
    hasFullPageWrites: settings.get('full_page_writes') === 'on',
    synchronousCommit: settings.get('synchronous_commit') ?? 'on',
    isVacuumed: settings.get('autovacuum') === 'on' && settings.get('track_counts') === 'on',
    connectionLimit: number('max_connections') - reserved,
    statementTimeoutMs: timeouts.length === 0 ? undefined : Math.min(...timeouts),
    idleTimeoutMs: number('idle_session_timeout') || undefined,
  }
}
