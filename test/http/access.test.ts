/** Who may do what: roles, namespaces, tokens, browsers. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { KeyRing } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { createHandler, isAct } from '../../src/server/handler.ts'
import type { HttpHandler } from '../../src/server/handler.ts'
import { bearerToken } from '../../src/server/auth/authenticator.ts'
import { virtualRuntime } from '../../src/runtime/index.ts'
import { roles } from '../../src/server/auth/principal.ts'
import { api } from '../../src/server/resources/api.ts'
import type { AnyRoute } from '../../src/server/routes/route.ts'
import { startServer } from '../../src/server/node/start-server.ts'
import { bearer, byRole, read, routeOf, served, startServed, stopServed } from './served.ts'
import { addition, work } from './story.ts'

/** Only the refusal of the caller is of interest: nothing exists, and bodies are empty. */
async function statusFor(handler: HttpHandler, route: AnyRoute, token: string | undefined): Promise<number> {
  const url = `http://localhost${route.path.replace(/\{\w+\}/g, 'nothing')}`
  const headers = token === undefined ? {} : bearer(token)
  const response = await handler(new Request(url, { method: route.method, headers }))
  await response.body?.cancel()
  return response.status
}

test('each role may call exactly the routes that it includes', async () => {
  const fabric = await createFabric('memory:', { log: 'silent', allNamespaces: true })
  await using found = createHandler(fabric, { authenticate: byRole })
  onTestFinished(() => fabric.close())
  const described = await found(new Request('http://localhost/v1/openapi.json'))
  const { paths } = (await described.json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => {
      return { ...routeOf(operationId), path, method: method.toUpperCase() as AnyRoute['method'] }
    }),
  )
  expect(routes.map(({ name }) => name).toSorted()).toEqual(api.map(({ name }) => name).toSorted())
  for (const route of routes) {
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
      const isBound = isPermitted && scope !== 'store'
      expect([name, role, (await statusFor(found, route, `${role}-acme`)) !== 403]).toEqual([name, role, isBound])
    }
  }
})

test('each change of an operator may say who asks for it and why', () => {
  const given = { reason: 'the customer left', by: 'ada' }
  for (const route of api.filter((each) => isAct(each))) {
    const refused = route.body?.safeParse(given).error?.issues ?? []
    const unknown = refused.filter(({ code }) => code === 'unrecognized_keys')
    expect([route.name, route.body !== undefined, unknown]).toEqual([route.name, true, []])
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

  const lane = { params: { lane: 'slow' } }
  await found.ok('limitLane', { ...admin, ...lane, body: { concurrency: 7, namespace: 'acme' } })
  expect((await found.ok('listLanes', { ...admin, query: { lane: 'slow' } }))['items']).toMatchObject([
    { otherLimits: [{ namespace: 'acme', concurrency: 7 }] },
  ])
  await found.ok('unlimitLane', { ...admin, ...lane, query: { namespace: 'acme' } })

  await work(found.fabric)
  await found.ok('defineBudget', { ...admin, params: { budget: 'company' }, body: {} })
  const bought = { task: 'buy', id: 'bought:1', budgets: [{ budget: 'company' }] }
  const spender = { params: { id: String((await found.ok('submitExecution', { ...acme, body: bought }))['id']) } }
  await found.ok('getResult', { ...acme, ...spender, query: { wait: '20s' } })
  expect((await found.ok('listSpending', { ...acme, ...spender }))['items']).toHaveLength(1)
  expect((await found.ok('listSpending', { ...other, ...spender }))['items']).toEqual([])
})

test('a credential of a namespace that the server does not serve learns who it is, and reaches nothing', async () => {
  const found = await served({ authenticate: byRole })
  const headers = bearer('operator-acme')
  expect(await found.ok('getSession', { headers })).toMatchObject({ role: 'operator', namespace: 'acme' })
  const { status, body } = await found.call('listExecutions', { headers })
  expect([status, body['code'], body['detail']]).toEqual([
    403,
    'forbidden',
    expect.stringContaining("bound to the namespace 'acme', and this server serves 'default' only"),
  ])
  const elsewhere = { headers: bearer('operator'), query: { namespace: 'acme' } }
  expect(await found.refusal('listExecutions', elsewhere)).toEqual([400, 'invalid_input'])
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

test('a read token reads one execution, as long as it is valid, and nothing else', async () => {
  const runtime = virtualRuntime()
  const keys = KeyRing.begin(runtime.now())
  const fabric = await createFabric('memory:', { log: 'silent', runtime, keys, allNamespaces: true })
  await using handler = createHandler(fabric, { authenticate: byRole })
  onTestFinished(() => fabric.close())
  const ask = async (path: string, token: string, init: RequestInit = {}) =>
    await read(await handler(new Request(`http://localhost${path}`, { headers: bearer(token), ...init })))
  const post = (path: string, token: string, body: unknown) => {
    const headers = { ...bearer(token), 'content-type': 'application/json' }
    return ask(path, token, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  for (const id of ['mine', 'other']) await post('/v1/executions', 'worker-acme', { task: 'greet', id })
  expect((await post('/v1/executions/mine/read-token', 'viewer-acme', {})).status).toBe(403)
  expect((await post('/v1/executions/mine/read-token', 'worker-acme', { expires: '8d' })).status).toBe(400)
  expect((await post('/v1/executions/mine/read-token', 'worker', {})).status).toBe(404)
  const { body } = await post('/v1/executions/mine/read-token', 'worker-acme', { expires: '5m' })
  const token = String(body['token'])
  const { id } = (await ask('/v1/executions/mine', 'viewer-acme')).body

  for (const part of ['result', 'frames', 'summary']) {
    expect([part, (await ask(`/v1/executions/mine/${part}`, token)).status < 300]).toEqual([part, true])
  }
  expect((await ask(`/v1/executions/${String(id)}/result`, token)).status).toBe(202)
  const queried = await handler(new Request(`http://localhost/v1/executions/mine/events?access_token=${token}`))
  expect([queried.status, queried.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  await queried.body?.cancel()
  for (const path of [
    '/v1/executions/other/result',
    '/v1/executions/mine',
    '/v1/executions/mine/steps',
    '/v1/executions',
    '/v1/events',
    '/v1/executions/mine/result?namespace=other',
    '/v1/lanes',
  ]) {
    expect([path, (await ask(path, token)).status]).toEqual([path, 403])
  }
  expect((await post('/v1/executions/mine/signals', token, { name: 'paid' })).status).toBe(403)

  const forged = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
  const inQuery = new Request('http://localhost/v1/executions?access_token=admin')
  expect([(await ask('/v1/executions/mine/result', forged)).status, (await handler(inQuery)).status]).toEqual([
    401, 401,
  ])
  await runtime.advance(300_001)
  expect((await ask('/v1/executions/mine/result', token)).status).toBe(401)
})

test('a server that redacts withholds the values of users from viewers only', async () => {
  const found = await served({ authenticate: byRole, redact: true })
  await work(found.fabric)
  const operator = { headers: bearer('operator') }
  const viewer = { headers: bearer('viewer') }
  const params = { id: 'a' }
  await found.ok('submitExecution', { ...operator, body: { task: 'greet', id: 'a', input: 'secret' } })
  const query = { wait: '20s' }
  expect(await found.ok('getResult', { ...operator, params, query })).toMatchObject({ result: { greeted: 'secret' } })

  const seen = [
    await found.ok('getResult', { ...viewer, params }),
    await found.ok('describeExecution', { ...viewer, params }),
    await found.ok('listSteps', { ...viewer, params }),
    await found.ok('listExecutions', viewer),
    await found.ok('listAttempts', { ...viewer, params }),
  ]
  expect(JSON.stringify(seen)).not.toMatch(/secret|inputDigest/)
  expect(await found.ok('describeExecution', { ...operator, params })).toHaveProperty('inputDigest')
  expect(seen[0]).toMatchObject({ outcome: 'completed', valuesWithheld: true })
  expect(seen[1]).toMatchObject({ state: 'completed', valuesWithheld: true })
  for (const name of ['listFrames', 'followFrames', 'getSummary', 'followSummary', 'listLogs', 'followLogs'] as const) {
    expect([name, ...(await found.refusal(name, { ...viewer, params }))]).toEqual([name, 403, 'forbidden'])
  }
  for (const name of ['listSteps', 'listSignals'] as const) {
    expect((await found.call(name, { ...viewer, params, query: { values: true } })).status).toBe(403)
  }
  await found.fabric.submit(addition, { left: 1, right: 2 }, { id: 'sum' })
  const sum = { params: { id: 'sum' }, query }
  expect(await found.ok('getFlowResult', { ...viewer, ...sum })).toMatchObject({ valuesWithheld: true })
  expect(await found.ok('getFlowResult', { ...operator, ...sum })).toMatchObject({ results: { sum: 3 } })
})

test('only those who define webhooks see more than the origin of their URLs', async () => {
  const found = await served({ authenticate: byRole, fabric: { keys: KeyRing.begin(Date.now()) } })
  const params = { webhook: 'crm' }
  const url = 'https://crm.example.com:8443/hooks/secret?key=secret'
  expect(await found.ok('defineWebhook', { params, body: { url }, headers: bearer('admin') })).toMatchObject({ url })
  expect(await found.ok('describeWebhook', { params, headers: bearer('admin') })).toMatchObject({ url })
  for (const role of ['viewer', 'operator']) {
    const origin = { url: 'https://crm.example.com:8443' }
    const headers = bearer(role)
    expect(await found.ok('describeWebhook', { params, headers })).toMatchObject(origin)
    expect(await found.ok('listWebhooks', { headers })).toMatchObject({ items: [origin] })
  }
  for (const name of ['disableWebhook', 'enableWebhook'] as const) {
    const answer = await found.ok(name, { params, headers: bearer('operator') })
    expect(JSON.stringify(answer)).not.toContain('secret?')
  }
})

test('an address that sends many invalid credentials is refused for a minute, also with valid ones', async () => {
  const runtime = virtualRuntime()
  const fabric = await createFabric('memory:', { log: 'silent', runtime })
  await using handler = createHandler(fabric, { authenticate: byRole })
  onTestFinished(() => fabric.close())
  const ask = async (token: string, address: string) =>
    await read(await handler(new Request('http://localhost/v1/executions', { headers: bearer(token) }), { address }))
  const statuses = new Set<number>()
  for (let i = 0; i < 25; i++) statuses.add((await ask('nobody', '10.0.0.1')).status)
  expect([...statuses]).toEqual([401, 429])
  await runtime.advance(59_000)
  const { status, headers, body } = await ask('viewer', '10.0.0.1')
  expect([status, headers.get('retry-after'), body['code']]).toEqual([429, '1', 'too_many_failures'])
  expect((await ask('viewer', '10.0.0.2')).status).toBe(200)
  await runtime.advance(1_000)
  expect((await ask('viewer', '10.0.0.1')).status).toBe(200)
})

test('an address is refused on its connections, and the answer says for how long', async () => {
  const found = await served({ authenticate: byRole })
  for (let i = 0; i < 20; i++) await found.refusal('listExecutions', { headers: bearer('nobody') })
  const { status, headers } = await found.call('listExecutions', { headers: bearer('viewer') })
  expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-6]?\d$/)])
  expect(await found.ok('getHealth')).toEqual({ status: 'ok' })
})

test('each guess in a cookie counts, but not a cookie that is sent again', async () => {
  const found = await served({ authenticate: () => undefined })
  const statuses = async (tokenOf: (i: number) => string) => {
    const seen = new Set<number>()
    for (let i = 0; i < 25; i++) {
      const headers = { cookie: `flowfabric_token=${tokenOf(i)}` }
      seen.add((await found.call('listExecutions', { headers })).status)
    }
    return [...seen]
  }
  expect(await statuses(() => 'revoked')).toEqual([401])
  expect(await statuses((i) => `guess${i}`)).toEqual([401, 429])
})

test('a cookie reaches the hook as a bearer token, and hides nothing else of the request', async () => {
  const authenticate = (request: Request) =>
    request.method === 'GET' && bearerToken(request) === 'mine'
      ? ({ name: 'guest', role: 'admin' } as const)
      : undefined
  const found = await served({ authenticate })
  const headers = { cookie: 'other=1; flowfabric_token=mine' }
  expect(await found.ok('getSession', { headers })).toEqual({ name: 'guest', role: 'admin', canSignOut: true })
  const refusal = await found.refusal('submitExecution', { headers, body: { task: 'greet' } })
  expect(refusal).toEqual([401, 'unauthorized'])
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
