import { Client } from 'pg'
import { expect, test } from 'vitest'
import { serverLocations } from './server-locations.ts'

async function versionAt(location: string): Promise<number> {
  const client = new Client({ connectionString: location })
  await client.connect()
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  )
  await client.end()
  return rows[0]?.version ?? 0
}

test('a suite has the PostgreSQL of the machine and the newest', async () => {
  const { postgres, postgresNewest } = serverLocations()!

  expect(await versionAt(postgres)).toBeGreaterThanOrEqual(130_000)
  expect(await versionAt(postgresNewest)).toBeGreaterThanOrEqual(180_000)
})
