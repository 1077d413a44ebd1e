import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runAt } from '../postgres/places.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import type { PostgresServer } from '../servers/postgres-server.ts'
import { errorIn, workplace } from './workplace.ts'

const PASSWORD = 'open: sesame'
const HANDLERS = `
import { task } from 'flowfabric'
export const greet = task('greet').handle(({ name }) => \`Hello, \${name}\`)
`

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
  await server.query(`create role shop login password '${PASSWORD}'`)
  await server.query('create database shop owner shop')
})

afterAll(() => server.stop())

/** A store of the test's own, with the password in the environment. */
function newStore(schema: string): Readonly<Record<string, string>> {
  const FLOWFABRIC_STORE = `postgres://shop@127.0.0.1:${server.port}/shop?schema=${schema}`
  return { FLOWFABRIC_STORE, FLOWFABRIC_POSTGRES_PASSWORD: PASSWORD }
}

describe('on a PostgreSQL server', () => {
  test('dev runs executions that other processes submit, cancel and inspect', async () => {
    const place = await workplace()
    const env = newStore('dev')
    await place.install()
    await place.write('handlers.ts', HANDLERS)
    const dev = place.start(['dev', 'handlers.ts'], { env })
    await dev.prints(/on postgres, postgres:\/\/127\.0\.0\.1:\d+\/shop[^]*Events follow/)

    const greeted = await place.run(['submit', 'greet', '{"name":"Ada"}', '--id', 'ada', '--wait'], { env })
    await place.run(['submit', 'greet', '{}', '--id', 'later', '--delay', '1h'], { env })
    const cancelled = await place.run(['cancel', 'later', '--json'], { env })
    await dev.prints(/execution_ended .*outcome=cancelled/)
    const listed = await place.run(['list', '--json'], { env })
    const ended = await dev.endBy('SIGINT')

    expect(greeted).toMatchObject({ code: 0, stdout: '"Hello, Ada"\n' })
    expect(JSON.parse(cancelled.stdout)).toMatchObject({ kind: 'cancelled' })
    expect(JSON.parse(listed.stdout)).toMatchObject({
      items: [
        { key: 'later', state: 'cancelled' },
        { key: 'ada', state: 'completed' },
      ],
    })
    expect(ended.code).toBe(0)
    for (const { stdout, stderr } of [greeted, cancelled, listed, ended]) {
      expect(stdout + stderr).not.toContain('sesame')
    }
  })

  test('doctor shows version, durability and partitions, finds a damaged index and repairs it', async () => {
    const place = await workplace()
    const env = newStore('doctor')
    await place.run(['submit', 'greet', '{}', '--delay', '1h'], { env })

    const healthy = await place.run(['doctor'], { env })
    expect(healthy).toMatchObject({ code: 0, stderr: '' })
    expect(healthy.stdout).toMatch(/^store +postgres \d+(\.\d+)+.* at postgres:\/\/127\.0\.0\.1:\d+\/shop/m)
    expect(healthy.stdout).toMatch(/^partitions +4$/m)
    expect(healthy.stdout).toMatch(/^all 4 +1 +0 +1 +0 /m)
    expect(healthy.stdout).toContain('Nothing is wrong.')
    expect(healthy.stdout).not.toContain('sesame')

    await runAt(server.location.replace(/postgres$/, 'shop'), `delete from doctor.entry where name = 'due'`)
    expect((await place.run(['doctor'], { env })).stdout).toContain('Something is wrong.')
    await place.run(['doctor', '--repair'], { env })
    expect((await place.run(['doctor'], { env })).stdout).toContain('Nothing is wrong.')
  })

  test('a read of a store that does not exist exits with 4 and creates none', async () => {
    const place = await workplace()

    const refused = await place.run(['list', '--json'], { env: newStore('nowhere') })

    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(errorIn(refused)).toMatchObject({ code: 'store_not_found' })
  })
})
