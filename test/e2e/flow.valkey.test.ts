import { afterAll, beforeAll, describe } from 'vitest'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { testFlows } from './flow-stories.ts'

let server: Server

beforeAll(async () => {
  server = await startServer()
})

afterAll(() => server.stop())

describe('on a Valkey server', () => {
  testFlows((name) => ({ FLOWFABRIC_STORE: `valkey://127.0.0.1:${server.port}?prefix=${name}` }))
})
