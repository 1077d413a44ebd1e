/** Reports a pooler in front of the server of a store, and the settings that matter to it. */
import { listenLocation } from '../postgres/options/postgres-options.ts'
import type { PostgresOptions } from '../postgres/options/postgres-options.ts'
import type { StoreLocation } from './location.ts'

export interface PoolerReport {
  /** `shared`: it gives connections away after each transaction. `kept`: it kept them during the check. */
  readonly kind: 'none' | 'shared' | 'kept'
  /** Whether the store prepares statements by name. */
  readonly isPrepared: boolean
  /** Whether the store listens for wake-ups through the pooler. */
  readonly listensThere: boolean
}

export async function findPoolerOf(location: StoreLocation, postgres: PostgresOptions = {}): Promise<PoolerReport> {
  if (location.kind !== 'postgres') return { kind: 'none', isPrepared: false, listensThere: false }
  const [{ findPooler }, { Connection }] = await Promise.all([
    import('../postgres/boot/pooler-check.ts'),
    import('../postgres/wire/connection.ts'),
  ])
  const listener = listenLocation(postgres, location)
  const kind = await findPooler(() => Connection.open(location, postgres))
  const listensThere = listener !== false && listener.host === location.host && listener.port === location.port
  return { kind, isPrepared: location.isPrepared, listensThere }
}
