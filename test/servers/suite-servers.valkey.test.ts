import { expect, test } from 'vitest'
import { connectTo } from './connection.ts'
import { serverLocations } from './server-locations.ts'

/** The addresses in the location of a store, asked for something that only the right kind of server knows. */
async function ask(location: string | undefined, field: string): Promise<string[]> {
  const addresses = /:\/\/(.*)$/.exec(location ?? '')?.[1]?.split(',') ?? []
  return Promise.all(
    addresses.map(async (address) => {
      const [host = '', port] = address.split(':')
      const access = { username: undefined, password: undefined, certificate: undefined }
      const connection = await connectTo({ host, port: Number(port), ...access })
      const info = String(await connection.call('INFO', 'SERVER'))
      connection.disconnect()
      return new RegExp(`^${field}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? ''
    }),
  )
}

test('a suite has a Valkey, a Redis and a Valkey cluster', async () => {
  const { valkey, redis, cluster } = serverLocations() ?? {}

  expect(valkey).toMatch(/^valkey:\/\//)
  expect(redis).toMatch(/^redis:\/\//)
  expect(cluster).toMatch(/^valkey-cluster:\/\//)
  expect(await ask(valkey, 'server_name')).toEqual(['valkey'])
  expect(await ask(valkey, 'server_mode')).toEqual(['standalone'])
  expect(await ask(redis, 'server_name')).toEqual([''])
  expect(await ask(redis, 'redis_mode')).toEqual(['standalone'])
  expect(await ask(cluster, 'server_mode')).toEqual(['cluster', 'cluster', 'cluster'])
})
