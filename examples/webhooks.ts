/**
 * A webhook: a receiver gets an event for each completed order, verifies its signature, and drops repetitions by its id. It answers
 * the first request with an error, so that the delivery is tried again.
 *
 *   npx node examples/webhooks.ts [location of a store]
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { KeyRing, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const order = task<{ readonly cents: number }, string>('shop.order')
const orderHandler = order.handle(({ cents }) => Promise.resolve(`${cents} cents`))

/** As a receiver does that knows nothing but the secret. Libraries for Standard Webhooks do the same. */
function isGenuine(secret: string, headers: Readonly<Record<string, unknown>>, body: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  const given = String(headers['webhook-signature']).split(' ')
  return given.some((one) => one.length === expected.length && timingSafeEqual(Buffer.from(one), expected))
}

let secret = ''
let isDown = true
const received = new Set<string>()
const done = Promise.withResolvers<undefined>()

const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { data } = JSON.parse(body) as { data: { task: string; outcome: string } }
    if (!isGenuine(secret, request.headers, body)) response.statusCode = 401
    else if (isDown) {
      isDown = false
      response.statusCode = 503
      response.setHeader('retry-after', '1')
      console.log('the receiver is down')
    } else if (!received.has(String(request.headers['webhook-id']))) {
      received.add(String(request.headers['webhook-id']))
      console.log(`received: ${data.task} ${data.outcome}`)
    }
    response.end()
    if (received.size === 2) done.resolve(undefined)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

// A program in production has a key file, which `flowfabric keys rotate` creates.
await using place = await openFabric({ log: 'error', keys: KeyRing.begin(Date.now()) })
const { fabric } = place
const url = `http://127.0.0.1:${port}/hooks`
const defined = await fabric.webhooks.define('shop', {
  url,
  types: ['execution_ended'],
  task: 'shop.order',
  allowPrivate: true,
})
secret = defined.secret ?? ''

await using _worker = await fabric.work([orderHandler])
await using _deliverer = fabric.deliverWebhooks({ allowPrivate: true })
for (const cents of [500, 700]) await (await fabric.submit(order, { cents })).result()
await done.promise
const { items } = await fabric.webhooks.deliveries('shop')
console.log(
  `${items.length} deliveries, tries: ${items
    .map(({ attempt }) => attempt)
    .sort()
    .join(', ')}`,
)
await fabric.webhooks.delete('shop')
server.close()
server.closeAllConnections()
