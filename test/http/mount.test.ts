/** The handler under a path of other servers. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { createHandler, nodeListener } from '../../src/server/index.ts'

async function newFabric(): Promise<Fabric> {
  const fabric = await createFabric('memory:', { log: 'silent' })
  onTestFinished(() => fabric.close())
  return fabric
}

type Send = (request: Request) => Promise<Response>

/** Submits, reads, and follows the links of pages below the mount. */
async function expectMounted(send: Send, base: string): Promise<void> {
  const submit = await send(
    new Request(`${base}/v1/executions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task: 'greet', id: 'a' }),
    }),
  )
  expect(submit.status).toBe(201)
  const read = await send(new Request(`${base}/v1/executions/a`))
  expect(await read.json()).toMatchObject({ key: 'a', task: 'greet' })
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

test('Express, which removes the path of a mount from the URL', async () => {
  const listener = nodeListener(createHandler(await newFabric(), { basePath: '/fabric' }))
  const server = createServer((request, response) => {
    const { url = '' } = request
    if (!url.startsWith('/fabric/')) {
      response.writeHead(404).end()
      return
    }
    listener(Object.assign(request, { originalUrl: url, url: url.slice('/fabric'.length) }), response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  await expectMounted((request) => fetch(request), `http://127.0.0.1:${port}/fabric`)
  server.closeAllConnections()
})

test('a base path that is none is refused', async () => {
  const fabric = await newFabric()
  expect(() => createHandler(fabric, { basePath: '/fabric/' })).toThrow('without a slash at its end')
  expect(() => createHandler(fabric, { basePaht: '/x' } as never)).toThrow('Did you mean basePath?')
})
