/** What is fixed when the store is first used: written in one step by whoever comes first, verified by everyone. */
import { DATA_VERSION } from '../../kernel/index.ts'
import { EngineError } from '../engine-error.ts'
import type { StoreSettings } from '../store.ts'
import type { Keys } from './keys.ts'
import type { Connection } from './connection.ts'

/** Enough for several servers' worth of cores to work side by side, few enough to be swept cheaply. */
const STANDALONE_PARTITIONS = 8
/** More, so that they spread over the primaries of a cluster and can be moved one by one. */
const CLUSTER_PARTITIONS = 32

export interface WantedSettings {
  /** Left out, whatever the store was set up with. */
  readonly executionPartitions: number | undefined
  readonly indexedTags: readonly string[] | undefined
  /** Whether to set up a store that nobody has used yet. */
  readonly create: boolean
}

interface StoredSettings {
  readonly dataVersion: number
  readonly executionPartitions: number
  readonly indexedTags: readonly string[]
}

export async function settle(connection: Connection, keys: Keys, wanted: WantedSettings): Promise<StoreSettings> {
  const first: StoredSettings = {
    dataVersion: DATA_VERSION,
    executionPartitions:
      wanted.executionPartitions ?? (connection.isCluster ? CLUSTER_PARTITIONS : STANDALONE_PARTITIONS),
    indexedTags: sorted(wanted.indexedTags ?? []),
  }
  if (wanted.create) await connection.send('SET', keys.settings, JSON.stringify(first), 'NX')
  const reply = await connection.send('GET', keys.settings)
  if (reply === null) {
    const message = 'Nobody has used a store with this prefix and database on the server yet.'
    throw new EngineError('store_not_found', { field: 'location', message })
  }
  const stored = parse(reply)
  if (stored.dataVersion > DATA_VERSION) {
    throw new EngineError('newer_schema', {
      message: `The store has data version ${stored.dataVersion}, this program knows data version ${DATA_VERSION}.`,
    })
  }
  refuseOther('data version', stored.dataVersion, DATA_VERSION)
  if (wanted.executionPartitions !== undefined) {
    refuseOther('number of execution partitions', stored.executionPartitions, wanted.executionPartitions)
  }
  if (wanted.indexedTags !== undefined) refuseOther('indexed tags', stored.indexedTags, sorted(wanted.indexedTags))
  return { executionPartitions: stored.executionPartitions, indexedTags: stored.indexedTags }
}

function parse(reply: unknown): StoredSettings {
  try {
    return JSON.parse(String(reply)) as StoredSettings
  } catch (cause) {
    throw new EngineError('corruption', { message: "The store's settings cannot be read." }, { cause })
  }
}

function refuseOther(what: string, found: unknown, wanted: unknown): void {
  const [foundText, wantedText] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (foundText === wantedText) return
  throw new EngineError('configuration_mismatch', {
    field: what,
    message: `The store was set up with ${what} ${foundText}, this program asks for ${wantedText}.`,
  })
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
