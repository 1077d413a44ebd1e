import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../servers/cluster.ts'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { startCluster } from '../servers/start-cluster.ts'
import { errorIn, workplace } from './workplace.ts'
import type { Ended, Workplace } from './workplace.ts'

const PASSWORD = 'open: sesame'
const HANDLERS = `
import { task } from 'flowfabric'
export const greet = task('greet').handle(({ name }) => \`Hello, \${name}\`)
export const endless = task('endless').handle(async (_input, context) => {
  await new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)))
})
`

let server: Server
let cluster: Cluster

beforeAll(async () => {
  ;[server, cluster] = await Promise.all([startServer({ password: PASSWORD, appendOnly: 'everysec' }), startCluster()])
})

afterAll(() => Promise.all([server.stop(), cluster.stop()]))

type Environment = Readonly<Record<string, string>>

/** A store of the test's own, with the password in the environment. */
function newStore(prefix: string): Environment {
  const FLOWFABRIC_STORE = `valkey://127.0.0.1:${server.port}?prefix=${prefix}`
  return { FLOWFABRIC_STORE, FLOWFABRIC_VALKEY_PASSWORD: PASSWORD }
}

async function json<T>(place: Workplace, env: Environment, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await place.run([...args, '--json'], { env })
  if (code !== 0) throw new Error(`flowfabric ${args.join(' ')} ended with ${code}\n${stderr}`)
  expect(stderr).toBe('')
  return JSON.parse(stdout) as T
}

function expectNoPassword({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toContain('sesame')
}

const UNCLOSED = `
import { createFabric, task } from 'flowfabric'

const fabric = await createFabric(process.env.STORE, { log: 'silent' })
const execution = await fabric.submit(task('unserved'), 1)
console.log(await execution.state())
`

test.each([
  ['server', () => `valkey://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}?prefix=unclosed`],
  ['cluster', () => `${cluster.location}?prefix=unclosed`],
])('a client of a Valkey %s that is not closed lets its process end', async (_what, store) => {
  const place = await workplace()
  await place.install()
  await place.write('unclosed.ts', UNCLOSED)

  const { code, stdout } = await place.startNode(['unclosed.ts'], { env: { STORE: store() } }).end()

  expect({ code, stdout }).toEqual({ code: 0, stdout: 'waiting\n' })
})

describe('on a Valkey server', () => {
  test('dev runs executions that other processes submit, cancel, inspect and follow', async () => {
    const place = await workplace()
    const env = newStore('dev')
    await place.install()
    await place.write('handlers.ts', HANDLERS)
    const dev = place.start(['dev', 'handlers.ts'], { env })
    await dev.prints(/on valkey, valkey:\/\/127\.0\.0\.1:\d+, prefix dev[^]*Events follow/)
    const tail = place.start(['tail', '--type', 'execution_ended'], { env })

    const greeted = await place.run(['submit', 'greet', '{"name":"Ada"}', '--id', 'ada', '--wait'], { env })
    expect(greeted).toMatchObject({ code: 0, stdout: '"Hello, Ada"\n' })
    await place.run(['submit', 'endless', '--id', 'endless'], { env })
    const { id } = await json<{ id: string }>(place, env, 'show', 'endless')
    await dev.prints(new RegExp(`attempt_started +${id}`))
    expect((await place.run(['why', 'endless'], { env })).stdout).toContain('It is running: attempt 1')
    expect(await json(place, env, 'cancel', 'endless')).toMatchObject({ kind: 'cancel_requested' })
    await dev.prints(new RegExp(`execution_ended +${id} .*outcome=cancelled`))
    await tail.prints(new RegExp(`execution_ended +${id} .*outcome=cancelled`))

    const { items } = await json<{ items: { key: string; state: string }[] }>(place, env, 'list')
    expect(items.map(({ key, state }) => `${key} ${state}`)).toEqual(['endless cancelled', 'ada completed'])
    expect(await json(place, env, 'replay', 'ada')).toMatchObject({ kind: 'replayed' })
    expect(await json(place, env, 'lanes')).toMatchObject({ items: [{ lane: 'default' }] })
    const [tailed, ended] = await Promise.all([tail.endBy('SIGINT'), dev.endBy('SIGINT')])
    expect([tailed.code, ended.code]).toEqual([130, 0])
    for (const command of [greeted, tailed, ended]) expectNoPassword(command)
  })

  test('doctor shows version, durability and partitions, and never the password', async () => {
    const place = await workplace()
    const env = newStore('doctor')
    await place.write('password', `${PASSWORD}\n`)
    const { FLOWFABRIC_STORE = '' } = env
    const access = { FLOWFABRIC_STORE, FLOWFABRIC_VALKEY_PASSWORD_FILE: place.path('password') }
    await place.run(['submit', 'greet', '{}', '--delay', '1h'], { env })

    const text = await place.run(['doctor'], { env: access })
    const document = await json(place, access, 'doctor')

    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^store +valkey \d+\.\d+\.\d+ at valkey:\/\/127\.0\.0\.1:\d+, prefix doctor$/m)
    expect(text.stdout).toMatch(/^durability +append-only file, synced every second/m)
    expect(text.stdout).toMatch(/^partitions +8$/m)
    expect(text.stdout).toMatch(/^all 8 +1 +0 +1 +0 /m)
    expect(text.stdout).toContain('Nothing is wrong.')
    expect(document).toMatchObject({ healthy: true, settings: { executionPartitions: 8 } })
    expectNoPassword(text)
  })

  test.each([['list'], ['doctor'], ['show', 'a']])(
    '%s of a store that does not exist exits with 4 and creates none',
    async (...args) => {
      const place = await workplace()
      const refused = await place.run([...args, '--json'], { env: newStore('nowhere') })

      expect(refused).toMatchObject({ code: 4, stdout: '' })
      expect(errorIn(refused)).toMatchObject({
        code: 'store_not_found',
        advice: expect.stringContaining('dev') as unknown,
      })
      expect(await server.call('EXISTS', 'nowhere:{m}:settings')).toBe(0)
    },
  )

  test('a server that cannot be reached exits with 4, one that refuses with 2, and neither shows the password', async () => {
    const place = await workplace()
    const { FLOWFABRIC_STORE = '' } = newStore('refused')

    const away = await place.run(['list', '--store', 'valkey://user:sesame@127.0.0.1:1', '--json'])
    const missing = await place.run(['list', '--store', FLOWFABRIC_STORE, '--json'])
    const wrong = await place.run(['list', '--json'], {
      env: { FLOWFABRIC_STORE, FLOWFABRIC_VALKEY_USERNAME: 'user', FLOWFABRIC_VALKEY_PASSWORD: 'sesame' },
    })
    const unknown = await place.run(['list', '--store', `${FLOWFABRIC_STORE}&sesame=1`])

    expect([away.code, missing.code, wrong.code, unknown.code]).toEqual([4, 2, 2, 2])
    expect(errorIn(away).message).toContain('127.0.0.1:1 cannot be reached')
    expect(errorIn(missing).message).toContain('asks for a password')
    expect(errorIn(wrong).message).toContain('does not accept')
    for (const command of [away, missing, wrong, unknown]) expectNoPassword(command)
  })
})

describe('on a Valkey cluster', () => {
  test('commands find what others submitted, and doctor stays short', async () => {
    const place = await workplace()
    const env = { FLOWFABRIC_STORE: cluster.location }
    for (const key of ['a', 'b', 'c']) await place.run(['submit', 'greet', '{}', '--id', key], { env })
    await place.run(['cancel', 'b'], { env })

    const { items } = await json<{ items: { key: string; state: string }[] }>(place, env, 'list')
    const doctor = await place.run(['doctor'], { env })

    expect(items.map(({ key, state }) => `${key} ${state}`)).toEqual(['c waiting', 'b cancelled', 'a waiting'])
    expect((await place.run(['why', 'a'], { env })).stdout).toContain('waits for a worker')
    expect(doctor.code).toBe(0)
    expect(doctor.stdout).toMatch(/^store +valkey cluster \d/m)
    expect(doctor.stdout).toMatch(/^partitions +32$/m)
    expect(doctor.stdout).toMatch(/^all 32 +3 +0 +4 +0 /m)
    expect(doctor.stdout).toMatch(/^warning +store +The server keeps no append-only file/m)
    expect(doctor.stdout.trimEnd().split('\n').length).toBeLessThan(25)
  })
})
