/** The handler under a path of other servers. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { createHandler, nodeListener } from '../../src/server/index.ts'
import { messages } from './served.ts'
import type { Message } from './served.ts'

async function newFabric(): Promise<Fabric> {
  const fabric = await createFabric('memory:', { log: 'silent' })
  onTestFinished(() => fabric.close())
  return fabric
}

/** Listens until the end of the test. Returns the origin. */
async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

type Send = (request: Request) => Promise<Response>

/** Parsers of other servers refuse a body of this size by default. */
const LARGE = 'x'.repeat(1_048_560)

function postOf(url: string, body: object): Request {
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** The next message with a name. Others set the delay of a reconnect. */
async function nextEvent(stream: AsyncGenerator<Message, void, undefined>): Promise<Message | undefined> {
  for (;;) {
    const next = await stream.next()
    if (next.done === true) return undefined
    if (next.value.event !== undefined) return next.value
  }
}

/** Submits, reads, follows a stream, and reads the links of pages below the mount. */
async function expectMounted(send: Send, base: string): Promise<void> {
  const submit = await send(postOf(`${base}/v1/executions`, { task: 'greet', id: 'a', input: LARGE }))
  expect(submit.status).toBe(201)
  const read = await send(new Request(`${base}/v1/executions/a`))
  expect(await read.json()).toMatchObject({ key: 'a', task: 'greet', input: LARGE })
  const broken = await send(new Request(postOf(`${base}/v1/executions`, {}), { body: '{"task":' }))
  expect([broken.status, await broken.json()]).toMatchObject([400, { code: 'invalid_input', field: 'body' }])

  const abort = new AbortController()
  const events = `${base}/v1/executions/a/events?fromStart=true`
  const stream = messages(await send(new Request(events, { signal: abort.signal })))
  expect(await nextEvent(stream)).toMatchObject({ event: 'execution_created', data: { task: 'greet' } })
  const cancel = await send(postOf(`${base}/v1/executions/a/cancel`, { reason: 'it is over' }))
  expect(cancel.status).toBe(200)
  expect(await nextEvent(stream)).toMatchObject({ event: 'execution_ended' })
  expect(await nextEvent(stream)).toMatchObject({ event: 'end' })
  abort.abort()

  const document = (await (await send(new Request(`${base}/v1/openapi.json`))).json()) as { servers: { url: string }[] }
  expect(document.servers).toEqual([{ url: new URL(base).pathname }])
  expect((await send(new Request(new URL('/v1/executions', base)))).status).toBe(404)
}

test('Hono', async () => {
  const handler = createHandler(await newFabric(), { basePath: '/fabric' })
  const app = new Hono()
  app.all('/fabric/*', (context) => handler(context.req.raw))
  await expectMounted(async (request) => await app.fetch(request), 'http://app.example.com/fabric')
})

test('a host that speaks fetch, such as Next, Bun or Deno', async () => {
  const handler = createHandler(await newFabric(), { basePath: '/api/fabric' })
  await expectMounted((request) => handler(request), 'https://app.example.com/api/fabric')
})

test('a host that passes itself beside the request, as Bun does', async () => {
  const authenticate = () => undefined
  const handler = createHandler(await newFabric(), { authenticate })
  const host = { address: { address: '0.0.0.0', port: 80 } } as never
  const statuses = new Set<number>()
  for (let i = 0; i < 25; i++) {
    const headers = { authorization: `Bearer guess${i}` }
    statuses.add((await handler(new Request('http://app.example.com/v1/executions', { headers }), host)).status)
  }
  // All callers would have that address, and one of them would lock out the others.
  expect([...statuses]).toEqual([401])
})

test('Express, with a body parser after the mount', async () => {
  const app = express()
  app.use('/fabric', nodeListener(createHandler(await newFabric(), { basePath: '/fabric' })))
  app.use(express.json())
  await expectMounted((request) => fetch(request), `${await listening(createServer(app))}/fabric`)
})

test('Fastify, in a scope without parsers', async () => {
  const listener = nodeListener(createHandler(await newFabric(), { basePath: '/fabric' }))
  const app = Fastify()
  app.register(
    (mount, _options, done) => {
      mount.removeAllContentTypeParsers()
      mount.addContentTypeParser('*', (_request, _body, parsed) => parsed(null))
      mount.all('/*', (request, reply) => {
        reply.hijack()
        listener(request.raw, reply.raw)
      })
      done()
    },
    { prefix: '/fabric' },
  )
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  await expectMounted((request) => fetch(request), `${origin}/fabric`)
})

test('a body that a parser of Express has read before is refused', async () => {
  const app = express()
  app.use(express.json())
  app.use(nodeListener(createHandler(await newFabric())))
  const base = await listening(createServer(app))
  const refused = await fetch(postOf(`${base}/v1/executions`, { task: 'greet' }))
  expect([refused.status, await refused.json()]).toMatchObject([500, { code: 'invalid_configuration' }])
  expect((await fetch(`${base}/v1/health`)).status).toBe(200)
})

test('a base path that is none is refused', async () => {
  const fabric = await newFabric()
  expect(() => createHandler(fabric, { basePath: '/fabric/' })).toThrow('without a slash at its end')
  expect(() => createHandler(fabric, { basePaht: '/x' } as never)).toThrow('Did you mean basePath?')
})
