import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres-server.ts'
import type { PostgresServer } from '../servers/postgres-server.ts'
import { errorIn, workplace } from './workplace.ts'
import type { Ended } from './workplace.ts'

const PASSWORD = 'open: sesame'
/** Passwords are in the environment alone. */
const env = { FLOWFABRIC_POSTGRES_PASSWORD: PASSWORD }

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres({ fsync: false })
  await server.query(`create role owner login password '${PASSWORD}'`)
  await server.query(`create role program login password '${PASSWORD}'`)
  await server.query('create database shop owner owner')
})

afterAll(() => server.stop())

function locationFor(role: 'owner' | 'program', schema: string): string {
  return `postgres://${role}@127.0.0.1:${server.port}/shop?schema=${schema}`
}

/** Runs statements as the owner of the database, on a separate connection. */
async function asOwner(sql: string): Promise<unknown[]> {
  const { host, port } = server.address
  const client = new Client({ host, port, database: 'shop', user: 'owner', password: PASSWORD })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql)
    return rows
  } finally {
    await client.end()
  }
}

function expectNoPassword({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toContain('sesame')
}

describe('migrate on a PostgreSQL database', () => {
  test('creates the tables once, whether the location is an argument or an option', async () => {
    const place = await workplace()
    const location = locationFor('owner', 'made')

    const first = await place.run(['migrate', location], { env })
    const again = await place.run(['migrate', '--store', location], { env })

    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/^create the schema made\n(.+\n)+Schema version 0 has become \d+\.\n$/)
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toMatch(/^The store has schema version \d+ already; no migration is needed\.\n$/)
    for (const command of [first, again]) expectNoPassword(command)
  })

  test('prints the plan, the result and an up-to-date schema as JSON', async () => {
    const place = await workplace()
    const location = locationFor('owner', 'documented')

    const planned = await place.run(['migrate', location, '--dry-run', '--json'], { env })
    const done = await place.run(['migrate', location, '--json'], { env })
    const again = await place.run(['migrate', location, '--json'], { env })

    const documents = [planned, done, again].map(
      ({ stdout }) => JSON.parse(stdout) as { kind: string; steps: unknown[] },
    )
    expect(documents.map(({ kind }) => kind)).toEqual(['pending', 'migrated', 'up_to_date'])
    expect(documents[0]?.steps).toEqual(documents[1]?.steps)
    expect(documents[1]).toMatchObject({ from: 0 })
    expect(documents[1]?.steps[0]).toEqual({
      title: 'create the schema documented',
      sql: 'create schema "documented";',
    })
  })

  test('with --dry-run prints a script that does the same, and changes nothing', async () => {
    const place = await workplace()
    const location = locationFor('owner', 'scripted')

    const script = await place.run(['migrate', location, '--dry-run'], { env })

    expect(script).toMatchObject({ code: 0, stderr: '' })
    expect(script.stdout).toMatch(/^-- From schema version 0 to \d+\nbegin;\n[^]*\ncommit;\n$/)
    expect(await asOwner(`select 1 from pg_namespace where nspname = 'scripted'`)).toEqual([])
    await asOwner(script.stdout)
    expect((await place.run(['migrate', location], { env })).stdout).toContain('no migration is needed')
  })

  test('with --check compares the tables, and exits with 1 if they differ', async () => {
    const place = await workplace()
    const location = locationFor('owner', 'compared')
    const check = ['migrate', location, '--check']

    const absent = await place.run(check, { env })
    await place.run(['migrate', location], { env })
    const made = await place.run(check, { env })
    await asOwner('drop index compared.inbox_pending')
    const changed = await place.run(check, { env })

    expect([absent.code, made.code, changed.code]).toEqual([0, 0, 1])
    expect(absent.stdout).toContain('There is no store yet')
    expect(made.stdout).toContain('The tables are those that the migrations make')
    expect(changed.stdout).toMatch(/^missing index inbox\.inbox_pending\n {2}expected: USING btree/m)
    for (const command of [absent, made, changed]) expectNoPassword(command)
  })

  test('prepares a store for a role that may not create tables', async () => {
    const place = await workplace()
    const location = locationFor('program', 'granted')
    const submit = ['submit', 'greet', '{}', '--store', location]

    const refused = await place.run([...submit, '--json'], { env })
    const mayNot = await place.run(['migrate', location, '--json'], { env })
    expect([refused.code, mayNot.code]).toEqual([2, 2])
    expect(errorIn(refused).message).toContain('Run "flowfabric migrate" with this location')
    expect(errorIn(mayNot).message).toContain('permission denied for database shop')

    await place.run(['migrate', locationFor('owner', 'granted')], { env })
    const [, grants = ''] = errorIn(refused).message.split('and then grant: ')
    await asOwner(grants.replaceAll('…', 'program'))
    const submitted = await place.run(submit, { env })

    expect(submitted).toMatchObject({ code: 0, stderr: '' })
    for (const command of [refused, mayNot, submitted]) expectNoPassword(command)
  })

  test('exits with 4 where the store is newer or out of reach, and with 2 where the location is wrong', async () => {
    const place = await workplace()
    const location = locationFor('owner', 'newer')
    await place.run(['migrate', location], { env })
    await asOwner(`update newer.meta set value = '999' where name = 'schema_version'`)

    const newer = await place.run(['migrate', location, '--json'], { env })
    const away = await place.run(['migrate', 'postgres://user:sesame@127.0.0.1:1/shop', '--json'])
    const wrong = await place.run(['migrate', location, '--json'], { env: { FLOWFABRIC_POSTGRES_PASSWORD: 'sesame' } })
    const unknown = await place.run(['migrate', 'mysql://user:sesame@host', '--json'])
    const inProcess = await place.run(['migrate', 'memory:', '--json'])

    expect([newer, away, wrong, unknown, inProcess].map(({ code }) => code)).toEqual([4, 4, 2, 2, 2])
    expect(errorIn(newer).code).toBe('newer_schema')
    for (const command of [newer, away, wrong, unknown]) expectNoPassword(command)
  })
})

describe('migrate on a file', () => {
  test('reports that the store needs no migration', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet'])

    const text = await place.run(['migrate'])
    const planned = await place.run(['migrate', '--dry-run', '--json'])

    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toContain('sets itself up when it is opened')
    const level = { kind: 'up_to_date', from: 2, to: 2, heldBackBy: [] }
    expect(JSON.parse(planned.stdout)).toEqual({ kind: 'ready_when_opened', level })
  })
})
