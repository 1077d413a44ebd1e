import { afterAll, beforeAll, describe } from 'vitest'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { testRollingDeploy } from './rolling-deploy.ts'

let server: Server

beforeAll(async () => {
  server = await startServer()
})

afterAll(() => server.stop())

describe('on a Valkey server', () => {
  testRollingDeploy(() => ({ FLOWFABRIC_STORE: `valkey://127.0.0.1:${server.port}?prefix=deploy` }))
})
