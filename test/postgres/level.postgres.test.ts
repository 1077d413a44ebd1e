import { describe, expect, test } from 'vitest'
import { programLevels } from '../../src/stores/level/store-level.ts'
import { migrateAs } from '../../src/stores/open/migrate-store.ts'
import { until } from '../servers/until.ts'
import { versions } from './places.ts'
import { LIMIT_MS, holdLock, newStore } from './store-place.ts'

/** A level that the store does not have yet. */
const NEXT = programLevels.max + 1

const WAITING = `select 1 from pg_locks where locktype = 'advisory' and not granted
  and classid = (select value::bigint from meta where name = 'lock_space')::oid`

describe.each(versions)('the level of a store on %s', (version) => {
  test('is raised after the transactions that have read the previous one have ended', async () => {
    const place = await newStore(version, 'partitions=3')
    await place.store.close()
    await holdLock(place, 2)

    const raising = migrateAs({ levels: { min: 1, max: NEXT }, clock: 'server' }, place.location, {})
    await until('the migration waits for the lock', LIMIT_MS, async () => (await place.query(WAITING))[0])
    const [level] = await place.query(`select value from meta where name = 'level'`)
    await place.query('commit')

    expect(level).toEqual({ value: String(programLevels.max) })
    expect(await raising).toMatchObject({ level: { kind: 'raised', to: NEXT } })
    expect(await place.query(`select value from meta where name = 'level'`)).toEqual([{ value: String(NEXT) }])
  })
})
