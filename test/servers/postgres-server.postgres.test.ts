import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import type { PostgresVersion } from './postgres-programs.ts'
import { startPostgres } from './postgres-server.ts'
import type { PostgresServer } from './postgres-server.ts'
import { childrenOf, stateOf } from './process-tree.ts'
import { until } from './until.ts'

const HALT_LIMIT_MS = 30_000
const END_LIMIT_MS = 30_000
const WAIT_LIMIT_MS = 30_000

const versions: PostgresVersion[] = ['installed', 'newest']

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

/** A client that notices its end, as an application's does. Its pending queries are rejected. */
async function connect(server: PostgresServer): Promise<Client> {
  const client = new Client({ connectionString: server.location })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function sharedMemoryIds(): Promise<(string | undefined)[]> {
  const { stdout } = await promisify(execFile)('ipcs', ['-m'])
  return stdout.split('\n').map((line) => line.split(/\s+/)[1])
}

async function sharedMemoryIdOf({ folder }: PostgresServer): Promise<string | undefined> {
  const lines = (await readFile(path.join(folder, 'data/postmaster.pid'), 'utf8')).split('\n')
  return lines[6]?.trim().split(/\s+/)[1]
}

function processesOf({ pid }: PostgresServer): number[] {
  return pid === undefined ? [] : [pid, ...childrenOf(pid)]
}

/** A process that was killed has closed its files some time before the system reports its end. */
async function untilGone(pid: number): Promise<void> {
  await until(`process ${pid} is gone`, END_LIMIT_MS, async () => {
    return ((await stateOf(pid)) ?? 'Z').startsWith('Z') || undefined
  })
}

async function untilWaiting(server: PostgresServer): Promise<void> {
  await until('a client waits for a lock', WAIT_LIMIT_MS, async () => {
    const rows = await server.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'")
    return rows.length > 0 || undefined
  })
}

/** Two clients that each want what the other has. The server refuses one of them, which gives up what it has. */
async function deadlock(server: PostgresServer): Promise<void> {
  const [one, two] = [await connect(server), await connect(server)]
  const lock = (client: Client, key: number): Promise<unknown> => client.query('select pg_advisory_lock($1)', [key])
  const lockAndLeave = (client: Client, key: number): Promise<unknown> => lock(client, key).finally(() => client.end())
  await lock(one, 1)
  await lock(two, 2)
  const first = lockAndLeave(one, 2)
  await untilWaiting(server)
  const results = await Promise.allSettled([first, lockAndLeave(two, 1)])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
}

describe.each(versions)('a PostgreSQL, %s,', (version) => {
  test('answers on its port, follows its settings, and leaves nothing behind', async () => {
    const server = await startPostgres({ version, settings: { work_mem: '7MB', max_connections: '20' } })
    const [row] = await server.query("select current_setting('work_mem') as memory, $1::int as given", [3])
    const setting = async (name: string): Promise<unknown> =>
      (await server.query('select current_setting($1) as value', [name]))[0]?.['value']

    expect(row).toEqual({ memory: '7MB', given: 3 })
    expect(await setting('max_connections')).toBe('20')
    expect(await setting('port')).toBe(String(server.port))
    expect(await setting('fsync')).toBe('on')
    expect(server.location).toMatch(new RegExp(`^postgres://postgres:[^@]+@127.0.0.1:${server.port}/postgres$`))

    const memory = await sharedMemoryIdOf(server)
    const processes = processesOf(server)
    expect(await sharedMemoryIds()).toContain(memory)
    expect(processes.length).toBeGreaterThan(2)

    await server.stop()

    expect(server.state).toBe('down')
    expect(server.pid).toBeUndefined()
    expect(await isThere(server.folder)).toBe(false)
    expect(await sharedMemoryIds()).not.toContain(memory)
    await expect(server.query('select 1')).rejects.toThrow('ECONNREFUSED')
  })

  test('is the version that was asked for and does not wait for the disk if set so', async () => {
    await using server = await startPostgres({ version, fsync: false })
    const [row] = await server.query("select current_setting('server_version_num')::int as version")

    expect(Number(row?.['version'])).toBeGreaterThanOrEqual(version === 'newest' ? 180_000 : 130_000)
    expect(await server.query('show fsync')).toEqual([{ fsync: 'off' }])
  })

  test('has texts in the order of a language, and of bytes for who asks', async () => {
    await using server = await startPostgres({ version })
    const texts = "from unnest(array['a', 'B', 'c']) text"

    expect(await server.query(`select string_agg(text, '' order by text) as sorted ${texts}`)).toEqual([
      { sorted: 'aBc' },
    ])
    expect(await server.query(`select string_agg(text, '' order by text collate "C") as sorted ${texts}`)).toEqual([
      { sorted: 'Bac' },
    ])
  })

  test('that was killed has no process left and comes back to its port with what was committed', async () => {
    await using server = await startPostgres({ version })
    const { port, pid } = server
    await server.query('create table kept (note text)')
    await server.query("insert into kept values ('yes')")
    const client = await connect(server)
    await client.query('begin')
    await client.query("insert into kept values ('never committed')")
    const sleeping = client.query('select pg_sleep(60)')
    const processes = processesOf(server)

    await Promise.all([server.kill(), expect(sleeping).rejects.toThrow()])

    expect(server.state).toBe('down')
    for (const process of processes) await untilGone(process)
    await server.restart()
    expect(server.port).toBe(port)
    expect(server.pid).not.toBe(pid)
    expect(await server.query('select note from kept')).toEqual([{ note: 'yes' }])
  })

  test('that is restarted while it runs does not wait for its clients', async () => {
    await using server = await startPostgres({ version })
    await server.query('create table kept (note text)')
    const client = await connect(server)
    await client.query('begin')
    const sleeping = client.query('select pg_sleep(60)')

    await Promise.all([server.restart(), expect(sleeping).rejects.toThrow('terminating connection')])

    expect(await server.query('select note from kept')).toEqual([])
    expect(server.logLines(/not properly shut down/)).toEqual([])
  })

  test('that is paused answers when it resumes', async () => {
    await using server = await startPostgres({ version })
    await server.query('select 1')

    server.pause()
    expect(server.state).toBe('paused')
    for (const process of processesOf(server)) {
      await until(
        'the process halts',
        HALT_LIMIT_MS,
        async () => (await stateOf(process))?.startsWith('T') || undefined,
      )
    }
    const reply = server.query('select 1 as one')
    server.resume()

    expect(await reply).toEqual([{ one: 1 }])
    expect(server.state).toBe('running')
  })

  test('that is paused can be killed, restarted and stopped', async () => {
    await using server = await startPostgres({ version })
    await server.query('select 1')

    server.pause()
    await server.kill()
    await server.restart()
    server.pause()
    await server.restart()
    expect(await server.query('select 1 as one')).toEqual([{ one: 1 }])
    server.pause()

    await server.stop()
    expect(server.state).toBe('down')
  })

  test('refuses who does not know its password', async () => {
    await using server = await startPostgres({ version })
    const stranger = new Client({ ...server.address, password: 'guess' })

    await expect(stranger.connect()).rejects.toThrow('password authentication failed')
  })

  test('ends what its clients have open, and answers how many they were', async () => {
    await using server = await startPostgres({ version })
    const clients = await Promise.all([connect(server), connect(server)])
    const ends = clients.map((client) => new Promise((resolve) => client.once('end', () => resolve('ended'))))

    expect(await server.terminateBackends()).toBe(2)

    expect(await Promise.all(ends)).toEqual(['ended', 'ended'])
    expect(await server.query('select 1 as one')).toEqual([{ one: 1 }])
    expect(await server.terminateBackends()).toBe(0)
  })

  test('keeps in its log what it refused, also of an earlier run and after its end', async () => {
    await using server = await startPostgres({ version, settings: { deadlock_timeout: '100ms' } })
    expect(server.logLines(/deadlock/)).toEqual([])

    await deadlock(server)
    expect(server.logLines(/ERROR: .* deadlock detected/)).toHaveLength(1)

    await server.restart()
    await server.stop()
    expect(server.logLines(/ERROR: .* deadlock detected/)).toHaveLength(1)
    expect(server.logLines(/ready to accept connections/)).toHaveLength(2)
    expect(server.log).toContain('ready to accept connections')
  })

  test('that does not understand a setting is a failure in its own words', async () => {
    await expect(startPostgres({ version, settings: { no_such_setting: '1' } })).rejects.toThrow('no_such_setting')
  })
})

describe('the port of a PostgreSQL', () => {
  test('is no other server’s, however many start at once', async () => {
    const servers = await Promise.all(versions.flatMap((version) => [1, 2, 3].map(() => startPostgres({ version }))))
    await Promise.all(servers.map((server) => server.stop()))

    expect(new Set(servers.map(({ port }) => port)).size).toBe(6)
  })

  test('is missed by a server that comes back and finds another program there', async () => {
    await using server = await startPostgres()
    await server.kill()
    const other = createServer().listen(server.port, '127.0.0.1')
    await once(other, 'listening')

    await expect(server.restart()).rejects.toThrow(`Another program has taken port ${server.port}.`)
    expect(server.state).toBe('down')
    other.close()
    await once(other, 'close')
    await server.restart()
    expect(await server.query('select 1 as one')).toEqual([{ one: 1 }])
  })
})
