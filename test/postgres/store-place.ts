/** A store in a schema of its own, with a way around it to its tables. Everything goes with the test. */
import type { CreateInput, ExecutionId } from '../../src/kernel/index.ts'
import type { OpenStoreOptions } from '../../src/stores/open/open-store.ts'
import type { Row } from '../../src/stores/postgres/wire/session.ts'
import { call, creation } from '../../src/stores/store.fixture.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Answer, Call, Store } from '../../src/stores/store.ts'
import { open } from '../valkey/fabrics.ts'
import { newPlace, sessionAt } from './places.ts'
import type { Place, Version } from './places.ts'

/** The longest that anything in these tests may take on a busy machine. */
export const LIMIT_MS = 60_000
/** With two connections, of which one is for looking, all batches that come together share a transaction. */
export const ONE_TRANSACTION = { postgres: { connections: 2 } }

export interface StorePlace extends Place {
  readonly store: Store
  /** Runs a statement in which the tables need no schema before their names. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>
  /** One more store in the same place. */
  readonly openAnother: (options?: Partial<OpenStoreOptions>) => Promise<Store>
}

/** `settings` are those of the location, such as `partitions=1`. */
export async function newStore(
  version: Version,
  settings = 'partitions=1',
  options: Partial<OpenStoreOptions> = {},
): Promise<StorePlace> {
  const { schema, location } = newPlace(version)
  const place = `${location}&${settings}`
  const store = await open(place, options)
  const session = await sessionAt(location)
  await session.query(`set search_path to ${schema}`)
  return {
    schema,
    location: place,
    store,
    query: (text, values = []) => session.query(text, values),
    openAnother: (others = {}) => open(place, others),
  }
}

/** An execution's id in a partition. */
function newId(number: number): ExecutionId {
  return creation().executionId.replace(/^0/, String(number)) as ExecutionId
}

export function createIn(number: number, wish: Partial<CreateInput> = {}): Call {
  return call('createExecution', creation({ executionId: newId(number), ...wish }))
}

/** Sends a batch to each of the first partitions in one turn, so that they may travel together. */
export function runInEach(store: Store, batches: readonly (readonly Call[])[]): Promise<Answer[][]> {
  return Promise.all(batches.map((calls, number) => store.run(executionPartition(number), calls)))
}

/** Takes the lock of a partition, as a writer does, and keeps it until the transaction ends. */
export async function holdLock({ query }: StorePlace, number: number): Promise<void> {
  await query('begin')
  await query(`select pg_advisory_xact_lock((select value::integer from meta where name = 'lock_space'), $1)`, [number])
}
