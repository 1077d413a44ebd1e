/** Who may do what: roles, namespaces, tokens, browsers. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFabric } from '../../src/fabric/fabric.ts'
import { createHandler } from '../../src/server/handler.ts'
import type { HttpHandler } from '../../src/server/handler.ts'
import { roles } from '../../src/server/auth/principal.ts'
import { api } from '../../src/server/resources/api.ts'
import type { AnyRoute } from '../../src/server/routes/route.ts'
import { startServer } from '../../src/server/node/start-server.ts'
import { byRole, read, served, startServed, stopServed } from './served.ts'

function bearer(token: string) {
  return { authorization: `Bearer ${token}` }
}

/** Only the refusal of the caller is of interest: nothing exists, and bodies are empty. */
async function statusFor(handler: HttpHandler, route: AnyRoute, token: string | undefined): Promise<number> {
  const url = `http://localhost${route.path.replace(/\{\w+\}/g, 'nothing')}`
  const headers = token === undefined ? {} : bearer(token)
  const response = await handler(new Request(url, { method: route.method, headers }))
  await response.body?.cancel()
  return response.status
}

test('each role may call exactly the routes that it includes', async () => {
  const fabric = await createFabric('memory:', { log: 'silent' })
  await using found = createHandler(fabric, { authenticate: byRole })
  onTestFinished(() => fabric.close())
  for (const route of api as readonly AnyRoute[]) {
    const { access, scope, name } = route
    if (access === 'public' || access === 'token') {
      const status = await statusFor(found, route, undefined)
      // A page says that its link is not valid.
      expect([name, status !== 401 || access === 'token', status]).toEqual([name, true, status])
      continue
    }
    expect([name, await statusFor(found, route, undefined)]).toEqual([name, 401])
    for (const role of roles) {
      const isPermitted = roles.indexOf(role) >= roles.indexOf(access)
      expect([name, role, (await statusFor(found, route, role)) !== 403]).toEqual([name, role, isPermitted])
      const isBound = isPermitted && scope === 'namespace'
      expect([name, role, (await statusFor(found, route, `${role}-acme`)) !== 403]).toEqual([name, role, isBound])
    }
  }
})

test('a credential that is bound to a namespace reaches nothing else', async () => {
  const found = await served({ authenticate: byRole, fabric: { allNamespaces: true } })
  const acme = { headers: bearer('operator-acme') }
  const other = { headers: bearer('operator-other') }
  const admin = { headers: bearer('admin') }
  await found.ok('submitExecution', { ...acme, body: { task: 'greet', id: 'a' } })

  const id = String((await found.ok('describeExecution', { ...acme, params: { id: 'a' } }))['id'])
  expect(await found.refusal('describeExecution', { ...other, params: { id } })).toEqual([404, 'execution_not_found'])
  expect(await found.refusal('describeExecution', { ...other, params: { id: 'a' } })).toEqual([
    404,
    'execution_not_found',
  ])
  const cancel = { params: { id }, body: { reason: 'mine' } }
  expect(await found.refusal('cancelExecution', { ...other, ...cancel })).toEqual([404, 'execution_not_found'])
  expect((await found.ok('listExecutions', other))['items']).toEqual([])
  const elsewhere = { ...other, query: { namespace: 'acme' } }
  expect(await found.refusal('listExecutions', elsewhere)).toEqual([403, 'forbidden'])
  expect((await found.ok('listExecutions', { ...admin, query: { namespace: 'acme' } }))['items']).toHaveLength(1)
  expect(await found.ok('describeExecution', { ...admin, params: { id } })).toMatchObject({ namespace: 'acme' })
})

test('a change is recorded for its credential, and only operators may name another', async () => {
  const found = await served({ authenticate: byRole })
  await found.ok('submitExecution', { headers: bearer('worker'), body: { task: 'greet', id: 'a' } })
  const signal = { params: { id: 'a' }, body: { name: 'paid', by: 'ada' } }
  expect(await found.refusal('sendSignal', { ...signal, headers: bearer('worker') })).toEqual([403, 'forbidden'])
  await found.ok('sendSignal', { ...signal, headers: bearer('operator') })
  await found.ok('sendSignal', { params: { id: 'a' }, body: { name: 'paid' }, headers: bearer('worker') })
  const { items } = await found.ok('listSignals', { params: { id: 'a' }, headers: bearer('viewer') })
  expect(items).toMatchObject([{ by: { identity: 'ada' } }, { by: { identity: 'worker' } }])
})

test('an address that sends many invalid credentials is refused for a while, also with valid ones', async () => {
  const found = await served({ authenticate: byRole })
  const statuses = new Set<number>()
  for (let i = 0; i < 25; i++) statuses.add((await found.call('listExecutions', { headers: bearer('nobody') })).status)
  expect([...statuses]).toEqual([401, 429])
  const { status, headers } = await found.call('listExecutions', { headers: bearer('viewer') })
  expect([status, headers.get('retry-after')]).toEqual([429, '1'])
  expect(await found.ok('getHealth')).toEqual({ status: 'ok' })
})

test('a hook that returns nonsense permits nothing', async () => {
  const found = await served({ authenticate: () => ({ name: 'ada', role: 'root' as never }) })
  expect(await found.refusal('listExecutions')).toEqual([500, 'invalid_configuration'])
})

describe('a page of another origin', () => {
  const origin = 'https://evil.example.com'
  const body = { task: 'greet' }

  test('may not change anything', async () => {
    const found = await served()
    expect(await found.refusal('submitExecution', { body, headers: { origin } })).toEqual([403, 'forbidden'])
    expect(await found.refusal('submitExecution', { body, headers: { origin: 'null' } })).toEqual([403, 'forbidden'])
    const blind = { body, headers: { 'sec-fetch-site': 'cross-site' } }
    expect(await found.refusal('submitExecution', blind)).toEqual([403, 'forbidden'])
    expect(
      (await found.call('listExecutions', { headers: { origin } })).headers.get('access-control-allow-origin'),
    ).toBe(null)
    expect((await found.fabric.list()).items).toEqual([])
  })

  test('may if its origin is listed', async () => {
    const found = await served({ cors: ['https://app.example.com'] })
    const headers = { origin: 'https://app.example.com' }
    const preflight = await fetch(found.urlOf('submitExecution'), { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, headers.origin])
    const { status, headers: answered } = await found.call('submitExecution', { body, headers })
    expect([status, answered.get('access-control-allow-origin')]).toEqual([201, headers.origin])
    const foreign = await fetch(found.urlOf('submitExecution'), { method: 'OPTIONS', headers: { origin } })
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([405, null])
  })
})

test('a server without credentials on this machine answers to no other name', async () => {
  const found = await startServed()
  const server = await startServer(found.fabric, { port: 0 })
  onTestFinished(async () => {
    await server.close()
    await stopServed(found)
  })
  const rebound = await read(await fetchAs(`127.0.0.1:${server.port}`, `evil.example.com:${server.port}`))
  expect([rebound.status, rebound.body['field']]).toEqual([403, 'host'])
  expect((await fetchAs(`127.0.0.1:${server.port}`, `localhost:${server.port}`)).status).toBe(200)
})

/** Fetch does not let a program set the host. */
async function fetchAs(address: string, host: string): Promise<Response> {
  const { request } = await import('node:http')
  return await new Promise((resolve, reject) => {
    const call = request(`http://${address}/v1/health`, { headers: { host } }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const headers = { 'content-type': response.headers['content-type'] ?? '' }
        resolve(new Response(Buffer.concat(parts).toString(), { status: response.statusCode ?? 0, headers }))
      })
    })
    call.on('error', reject)
    call.end()
  })
}

test('a public address without credentials is refused unless that is wanted', async () => {
  const found = await startServed()
  onTestFinished(() => stopServed(found))
  await expect(startServer(found.fabric, { host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
    code: 'invalid_configuration',
    detail: { message: expect.stringContaining('--tokens') as string },
  })
  await using server = await startServer(found.fabric, { host: '0.0.0.0', port: 0, isOpen: true })
  expect((await fetch(`http://127.0.0.1:${server.port}/v1/health`)).status).toBe(200)
})
