import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { systemRuntime } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { post } from './post.ts'

const signal = new AbortController().signal
const runtime = systemRuntime()

async function serve(status: number, headers: Record<string, string>) {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body)
      response.writeHead(status, headers).end('x'.repeat(200_000))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    bodies,
    request: { url: `http://localhost:${port}/`, headers: { 'x-test': '1' }, body: '{"ä":1}', signal, runtime },
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

test('a name that leads to a private address is refused when it is connected to', async () => {
  using served = await serve(200, {})
  const refused = post({ ...served.request, allowPrivate: false })
  await expect(refused).rejects.toMatchObject({ code: 'unsafe_target' })
  expect(served.bodies).toEqual([])
})

test('the status is returned with retry-after, a redirect is not followed, and a long answer is given up', async () => {
  using served = await serve(302, { location: 'http://localhost:1/', 'retry-after': '7' })
  const answer = await post({ ...served.request, allowPrivate: true })
  expect(answer).toEqual({ status: 302, retryAfterSeconds: 7 })
  expect(served.bodies).toEqual(['{"ä":1}'])
})

test('a name that does not resolve rejects with a code', async () => {
  const request = { url: 'https://hooks.invalid/', headers: {}, body: '{}', signal, runtime, allowPrivate: false }
  await expect(post(request)).rejects.toThrow(/^E[A-Z_]+$/)
})

test('a receiver that is not there rejects with a code, and without addresses', async () => {
  const gone = await serve(200, {})
  gone[Symbol.dispose]()
  await expect(post({ ...gone.request, allowPrivate: true })).rejects.toThrow(/^ECONN\w+$/)
})

test.each([
  ['headers', 'HTTP/1.1 200 OK\r\nx-slow: '],
  ['body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'],
])('a receiver that never ends its %s is given up when its time is over', async (part, answer) => {
  const over = Promise.withResolvers<() => void>()
  const timers: Pick<Runtime, 'after'> = {
    after: (_ms, callback) => {
      over.resolve(callback)
      return { cancel: () => undefined }
    },
  }
  const received = Promise.withResolvers<undefined>()
  const closed = Promise.withResolvers<undefined>()
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('close', () => closed.resolve(undefined))
    socket.once('data', () => socket.write(answer, () => received.resolve(undefined)))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sent = post({
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    body: '{}',
    signal,
    allowPrivate: true,
    runtime: timers,
  })
  if (part === 'body') expect(await sent).toMatchObject({ status: 200 })
  const [giveUp] = await Promise.all([over.promise, received.promise])
  giveUp()
  if (part === 'headers') await expect(sent).rejects.toThrow('no answer within 20 s')
  await closed.promise
})
