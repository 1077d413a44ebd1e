import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ValkeyOptions } from '../../src/stores/valkey/options/valkey-options.ts'
import { diagnose } from '../../src/cli/doctor/diagnosis.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Cluster } from '../servers/cluster.ts'
import { startServer, startServerIn } from '../servers/server.ts'
import type { ServerProgram } from '../servers/server-process.ts'
import { startCluster } from '../servers/start-cluster.ts'
import { until } from '../servers/until.ts'
import { documentedAccess } from './documented-access.ts'
import type { DocumentedAccess } from './documented-access.ts'
import { LogLines, lifeOn, newPrefix, refusalOf } from './fabrics.ts'

const SETTLE_LIMIT_MS = 60_000
const PASSWORD = 'p@ss:w/rd? 100%'

const programs: ServerProgram[] = ['valkey-server', 'redis-server']

describe.each(programs)('a store on a %s', (program) => {
  test('is used with a password from the location or from the settings', async () => {
    await using server = await startServer({ program, password: PASSWORD })
    const open = `valkey://127.0.0.1:${server.port}`

    expect(await lifeOn(server.location)).toBe('Hello, Ada')
    expect(await lifeOn(open, { valkey: { password: PASSWORD } })).toBe('Hello, Ada')
  })

  test('is used by a user from the location, from the settings, or one part from each', async () => {
    await using server = await startServer({ program, username: 'fabric:1', password: PASSWORD })
    const address = `127.0.0.1:${server.port}`
    const both: ValkeyOptions = { username: 'fabric:1', password: PASSWORD }

    expect(await lifeOn(server.location)).toBe('Hello, Ada')
    expect(await lifeOn(`valkey://${address}`, { valkey: both })).toBe('Hello, Ada')
    expect(await lifeOn(`valkey://fabric%3A1@${address}`, { valkey: { password: PASSWORD } })).toBe('Hello, Ada')
  })

  test('is used over TLS by who knows the certificate', async () => {
    await using server = await startServer({ program, isEncrypted: true, password: PASSWORD })
    const tls = { ca: server.address.certificate }

    expect(server.location).toMatch(/^valkeys:/)
    expect(await lifeOn(server.location, { valkey: { tls } })).toBe('Hello, Ada')
  })

  test('that wants to see a certificate of its clients is used by who has one', async () => {
    await using server = await startServer({ program, isEncrypted: true, settings: { 'tls-auth-clients': 'yes' } })
    const [cert, key] = await Promise.all(
      ['server.crt', 'server.key'].map((file) => readFile(path.join(server.folder, file), 'utf8')),
    )
    const ca = server.address.certificate

    const refused = await refusalOf(server.location, { valkey: { tls: { ca } } })

    expect(refused.message).toContain('give valkey.tls.cert and valkey.tls.key')
    expect(await lifeOn(server.location, { valkey: { tls: { ca, cert, key } } })).toBe('Hello, Ada')
  })

  test('is used in a database and under a prefix of its own, and puts every key there', async () => {
    await using server = await startServer({ program })
    const location = `${server.location}/5?prefix=shop`
    // A program that ends at once may do so before it has announced its library; this one stays until it has.
    await using _staying = await createFabric(location, { log: 'error' })

    expect(await lifeOn(location)).toBe('Hello, Ada')

    await server.call('SELECT', 5)
    const keys = (await server.call('KEYS', '*')) as string[]
    expect(keys.length).toBeGreaterThan(3)
    expect(keys.filter((key) => !key.startsWith('shop:'))).toEqual([])
    await server.call('SELECT', 0)
    const others = await until('the function library is announced', SETTLE_LIMIT_MS, async () => {
      const found = (await server.call('KEYS', '*')) as string[]
      return found.length === 0 ? undefined : found
    })
    expect(others).toEqual(['flowfabric:{m}:libraries'])
  })
})

test('a store in a cluster is used over TLS and with a password', async () => {
  // A cluster of one server is a cluster.
  await using member = await startServerIn(({ busPort }) => ({
    isEncrypted: true,
    password: PASSWORD,
    settings: { 'cluster-enabled': 'yes', 'cluster-port': String(busPort), 'cluster-announce-ip': '127.0.0.1' },
  }))
  await member.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
  await until('the cluster serves clients', SETTLE_LIMIT_MS, async () =>
    String(await member.call('CLUSTER', 'INFO')).includes('cluster_state:ok') ? true : undefined,
  )
  const location = `valkey-cluster://127.0.0.1:${member.port}?tls=true`
  const valkey = { password: PASSWORD, tls: { ca: member.address.certificate } }

  expect(await lifeOn(location, { valkey })).toBe('Hello, Ada')
})

/** Everything that a program does on a store, from its first opening to a look by an operator. */
async function expectAllToWork(location: string, valkey?: ValkeyOptions): Promise<void> {
  const log = new LogLines()
  const options = { log, ...(valkey === undefined ? {} : { valkey }) }
  expect(await lifeOn(location, options)).toBe('Hello, Ada')
  const fabric = await createFabric(location, options)
  try {
    expect((await diagnose(fabric, { repair: false })).healthy).toBe(true)
    expect((await diagnose(fabric, { repair: true })).healthy).toBe(true)
    for (let number = 0; number < fabric.store.settings.executionPartitions; number++) {
      await fabric.store.trimEvents(`fp:${number}`, Infinity, 0)
    }
  } finally {
    await fabric.close()
  }
  expect(log.at('warn').filter((line) => !line.includes('append-only'))).toEqual([])
  expect(log.at('error')).toEqual([])
}

describe('the user that the documentation describes', () => {
  test.each(programs)('may do everything on a %s, and nothing beyond its prefix', async (program) => {
    const [access] = await documentedAccess()
    await using server = await startServer({ program, ...access })

    await expectAllToWork(server.location)
    await expectAllToWork(`${server.location}/1`)
    expect((await refusalOf(`${server.location}?prefix=other`)).code).toBe('invalid_configuration')
    for (const command of [['FLUSHALL'], ['SET', 'other', '1'], ['KEYS', '*'], ['CONFIG', 'SET', 'maxmemory', '1']]) {
      const [name = '', ...args] = command
      await expect(server.call(name, ...args)).rejects.toThrow('NOPERM')
    }
  })

  test.each(programs)('without functions works on a %s where another user has loaded them', async (program) => {
    const [, access] = await documentedAccess()
    await using server = await startServer({ program })
    await server.call('ACL', 'SETUSER', access!.username, 'on', `>${access!.password}`, ...access!.rules)
    const location = `valkey://${access!.username}:${access!.password}@127.0.0.1:${server.port}`

    const refused = await refusalOf(location, { valkey: { loadFunctions: false } })
    expect(refused.detail.field).toBe('loadFunctions')
    expect((await refusalOf(location)).message).toContain('function|load')
    expect(await lifeOn(`${server.location}?prefix=${newPrefix()}`)).toBe('Hello, Ada')
    await expectAllToWork(location, { loadFunctions: false })
    await expectAllToWork(location)
  })

  test('may do everything in a cluster', async () => {
    const [access] = await documentedAccess()
    await using cluster = await startCluster()
    await introduce(cluster, access!)

    await expectAllToWork(cluster.location.replace('://', `://${access!.username}:${access!.password}@`))
  })
})

async function introduce(cluster: Cluster, { username, password, rules }: DocumentedAccess): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.call('ACL', 'SETUSER', username, 'on', `>${password}`, ...rules)))
}
