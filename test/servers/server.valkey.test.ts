import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { createServer } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connectTo } from './connection.ts'
import { stateOf } from './process-tree.ts'
import { startServer, startServerIn } from './server.ts'
import type { ServerProgram } from './server-process.ts'
import { until } from './until.ts'

const HALT_LIMIT_MS = 30_000

const programs: ServerProgram[] = ['valkey-server', 'redis-server']

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

async function untilHalted(pid: number | undefined): Promise<void> {
  await until('the process halts', HALT_LIMIT_MS, async () => (await stateOf(pid!))?.startsWith('T') || undefined)
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.each(programs)('a %s', (program) => {
  test('answers on its port, follows its settings, and leaves nothing behind', async () => {
    const server = await startServer({ program, settings: { maxmemory: '64mb', save: ['60', '1'] } })

    expect(await server.call('CONFIG', 'GET', 'port')).toEqual(['port', String(server.port)])
    expect(await server.call('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', String(64 * 1024 * 1024)])
    expect(await server.call('CONFIG', 'GET', 'save')).toEqual(['save', '60 1'])
    expect(await isThere(server.folder)).toBe(true)

    await server.stop()

    expect(server.state).toBe('down')
    expect(server.pid).toBeUndefined()
    expect(await isThere(server.folder)).toBe(false)
    await expect(server.call('PING')).rejects.toThrow()
  })

  test('that was killed comes back to its port with what it has flushed', async () => {
    await using server = await startServer({ program, appendOnly: 'always' })
    const { port, pid } = server
    await server.call('SET', 'kept', 'yes')

    await server.kill()
    expect(server.state).toBe('down')
    await server.restart()

    expect(server.port).toBe(port)
    expect(server.pid).not.toBe(pid)
    expect(await server.call('GET', 'kept')).toBe('yes')
  })

  test('that is restarted while it runs keeps what it had not flushed yet', async () => {
    await using server = await startServer({ program, appendOnly: 'everysec' })
    await server.call('SET', 'kept', 'yes')

    await server.restart()

    expect(await server.call('GET', 'kept')).toBe('yes')
  })

  test('that is paused answers when it resumes', async () => {
    await using server = await startServer({ program })
    await server.call('PING')

    server.pause()
    expect(server.state).toBe('paused')
    await untilHalted(server.pid)
    const reply = server.call('PING')
    server.resume()

    expect(await reply).toBe('PONG')
    expect(server.state).toBe('running')
  })

  test('that is paused can be killed and stopped', async () => {
    await using server = await startServer({ program })

    server.pause()
    await server.kill()
    await server.restart()
    server.pause()

    await server.stop()
    expect(server.state).toBe('down')
  })

  test('with a password refuses who does not know it', async () => {
    await using server = await startServer({ program, password: 'open: sesame' })

    await expect(connectTo({ ...server.address, password: undefined })).rejects.toThrow('NOAUTH')
    expect(await server.call('PING')).toBe('PONG')
    expect(server.location).toBe(`${program.split('-')[0]}://:open%3A%20sesame@127.0.0.1:${server.port}`)
  })

  test('with a user accepts no other, and allows only what its rules allow', async () => {
    const access = { username: 'fabric', password: 'secret', rules: ['~ff:*', '+@all', '-flushall'] }
    await using server = await startServer({ program, ...access })
    const stranger = { ...server.address, username: undefined, password: undefined }

    await expect(connectTo(stranger)).rejects.toThrow('NOAUTH')
    expect(await server.call('SET', 'ff:1', 'mine')).toBe('OK')
    await expect(server.call('SET', 'other', 'not mine')).rejects.toThrow('NOPERM')
    await expect(server.call('FLUSHALL')).rejects.toThrow('NOPERM')
  })

  test('that is encrypted is reached by who trusts its certificate and speaks nothing else', async () => {
    await using server = await startServer({ program, isEncrypted: true })

    expect(await server.call('PING')).toBe('PONG')
    expect(server.location).toBe(`valkeys://127.0.0.1:${server.port}`)
    await expect(connectTo({ ...server.address, certificate: '' })).rejects.toThrow('self-signed certificate')
    await expect(connectTo({ ...server.address, certificate: undefined })).rejects.toThrow()
  })

  test('that is missing is a failure that names how to get it', async () => {
    vi.stubEnv('PATH', '/nowhere')

    await expect(startServer({ program })).rejects.toThrow(
      `${program} is not on the PATH, and this needs it. "node scripts/ensure-servers.ts"`,
    )
  })

  test('that does not understand a setting is a failure in its own words', async () => {
    await expect(startServer({ program, settings: { 'no-such-setting': '1' } })).rejects.toThrow('no-such-setting')
  })
})

describe('the port of a server', () => {
  test('is no other server’s, however many start at once', async () => {
    const servers = await Promise.all(Array.from({ length: 10 }, () => startServer()))
    await Promise.all(servers.map((server) => server.stop()))

    expect(new Set(servers.flatMap(({ port, busPort }) => [port, busPort])).size).toBe(20)
  })

  test('is another if the first is taken by another program', async () => {
    await using other = await startServer()
    const ports: string[] = []
    await using server = await startServerIn((place) => {
      const port = String(ports.length === 0 ? other.port : place.port)
      ports.push(port)
      return { settings: { port } }
    })

    expect(ports).toEqual([String(other.port), String(server.port)])
    expect(await server.call('PING')).toBe('PONG')
  })

  test('is missed by a server that comes back and finds another program there', async () => {
    await using server = await startServer()
    await server.kill()
    const other = createServer().listen(server.port, '127.0.0.1')
    await once(other, 'listening')

    await expect(server.restart()).rejects.toThrow(`Another program has taken port ${server.port}.`)
    expect(server.state).toBe('down')
    other.close()
    await once(other, 'close')
    await server.restart()
    expect(await server.call('PING')).toBe('PONG')
  })
})
