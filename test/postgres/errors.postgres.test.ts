import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../src/kernel/engine-error.ts'
import {
  asEngineError,
  isConnectionLost,
  isRefusedRow,
  isServerError,
  refusedRowText,
} from '../../src/stores/postgres/wire/postgres-error.ts'
import type { Session } from '../../src/stores/postgres/wire/session.ts'
import { migrateStore } from '../../src/stores/open/migrate-store.ts'
import { until } from '../servers/until.ts'
import { lifeOn, open, submitInto } from '../valkey/fabrics.ts'
import { asNewRole, failureOf, newPlace, runAt, sessionAt, versions } from './places.ts'
import type { Place, Version } from './places.ts'

const LIMIT_MS = 30_000

async function storeTables(version: Version): Promise<Place> {
  const place = newPlace(version)
  await migrateStore(place.location)
  return place
}

/** The reply of the server to a statement. */
async function refusalTo(session: Session, text: string, values: readonly unknown[] = []): Promise<Error> {
  return await session.query(text, values).then(
    () => expect.fail('the statement was accepted'),
    (error: unknown) => error as Error,
  )
}

function insertQueue({ schema }: Place): string {
  return `insert into ${schema}.queue (id, partition, lane, class, created_at, record) values ($1, $2, $3, 'c', 0, $4)`
}

describe.each(versions)('what a server (%s) refuses', (version) => {
  test('of the rows of an operation is a fault of this operation that names the rule and no values', async () => {
    const place = await storeTables(version)
    const session = await sessionAt(place.location)
    const insert = insertQueue(place)
    await session.query(insert, ['one', 0, 'lane', '[]'])
    const entry = `insert into ${place.schema}.entry (partition, name, score, id) values (0, $1, 0, '1')`

    const refusals = [
      [await refusalTo(session, insert, ['one', 0, 'hush', '[]']), 'constraint queue_pkey, table queue'],
      [await refusalTo(session, insert, ['hush', 0, null, '[]']), 'column lane, table queue'],
      [await refusalTo(session, insert, ['hush', 3_000_000_000, 'lane', '[]']), 'out of range'],
      [await refusalTo(session, insert, ['hush', 0, 'lane', 'hush \u0000']), 'invalid byte sequence'],
      [await refusalTo(session, entry, [`hush${randomBytes(6_000).toString('hex')}`]), 'index row'],
    ] as const

    for (const [error, part] of refusals) {
      expect([isRefusedRow(error), isServerError(error), isConnectionLost(error)]).toEqual([true, true, false])
      expect(refusedRowText(error)).toContain(part)
      expect(refusedRowText(error)).not.toContain('hush')
      expect(inspect(asEngineError(error), { depth: null, showHidden: true })).not.toContain('hush')
    }
  })

  test('because something else is in the way passes', async () => {
    const place = await storeTables(version)
    const [one, other] = [await sessionAt(place.location), await sessionAt(place.location)]
    await one.query(insertQueue(place), ['one', 0, 'lane', '[]'])
    await one.query('begin')
    await one.query(`update ${place.schema}.queue set lane = 'a'`)

    await other.query(`set lock_timeout = '20ms'`)
    const locked = await refusalTo(other, `update ${place.schema}.queue set lane = 'b'`)
    // The failure also takes back the limit, which a later statement may exceed on a busy machine.
    await other.query('begin')
    await other.query(`set local statement_timeout = '20ms'`)
    const slow = await refusalTo(other, 'select pg_sleep(5)')
    await other.query('rollback')
    await other.query('begin isolation level repeatable read')
    await other.query(`select * from ${place.schema}.queue`)
    await one.query('commit')
    const changed = await refusalTo(other, `update ${place.schema}.queue set lane = 'b'`)

    expect([locked, slow, changed].map((error) => asEngineError(error).code)).toEqual(Array(3).fill('store_busy'))
    expect([locked, slow, changed].map(isConnectionLost)).toEqual([false, false, false])
  })

  test('to a user without permission is a setting to be changed', async () => {
    const place = await storeTables(version)
    const { role, location } = await asNewRole(place)
    const session = await sessionAt(location)

    const noSchema = asEngineError(await refusalTo(session, `select 1 from ${place.schema}.meta`))
    await runAt(place.location, `grant usage on schema ${place.schema} to ${role}`)
    const noTable = asEngineError(await refusalTo(session, `select 1 from ${place.schema}.meta`))

    expect([noSchema.code, noTable.code]).toEqual(['invalid_configuration', 'invalid_configuration'])
    expect(noSchema.message).toContain(`permission denied for schema ${place.schema}.`)
    expect(noTable.message).toContain('permission denied for table meta.')
  })

  test('by ending the connection is a lost connection', async () => {
    const place = await storeTables(version)
    const session = await sessionAt(place.location)
    const [{ pid } = {}] = await session.query('select pg_backend_pid() as pid')
    const waiting = failureOf(session.query('select pg_sleep(60)'))

    await until('the connection is ended', LIMIT_MS, async () => {
      const other = await sessionAt(place.location)
      const [row] = await other.query('select pg_terminate_backend($1) as is_ended', [pid])
      return row?.['is_ended'] === true ? true : undefined
    })
    const ended = await waiting
    await until('the connection is known to be lost', LIMIT_MS, async () => (session.isLost ? true : undefined))
    const after = await failureOf(session.query('select 1'))

    for (const error of [ended, after]) {
      expect([isConnectionLost(error), asEngineError(error).code]).toEqual([true, 'store_unavailable'])
    }
  })

  test('after the tables were dropped is reported as that, and the store can be used again', async () => {
    const { location, schema } = newPlace(version)
    const store = await open(location)
    await submitInto(store, 0)
    await runAt(location, `drop schema ${schema} cascade`)

    const error = await failureOf(
      store.run('fp:0', [{ operation: 'inspectPartition', input: { limit: 1 }, blobs: [] }]),
    )

    expect(error).toBeInstanceOf(EngineError)
    expect(error.code).toBe('store_not_found')
    expect(error.message).toContain('Tables of the store were dropped or changed')
    expect(await lifeOn(location)).toBe('Hello, Ada')
    const session = await sessionAt(location)
    expect(await session.query(`select count(*) from ${schema}.execution`)).toEqual([{ count: 1 }])
  })
})
