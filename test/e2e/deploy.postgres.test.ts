import { afterAll, beforeAll, describe } from 'vitest'
import { startPostgres } from '../servers/postgres-server.ts'
import type { PostgresServer } from '../servers/postgres-server.ts'
import { testRollingDeploy } from './rolling-deploy.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres({ fsync: false })
})

afterAll(() => server.stop())

describe('on a PostgreSQL server', () => {
  testRollingDeploy(() => ({ FLOWFABRIC_STORE: `${server.location}?schema=deploy` }))
})
