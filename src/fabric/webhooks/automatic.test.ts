/** The engine of a fabric delivers webhooks, unless an option turns that off. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { KeyRing } from '../../client/tokens/key-ring.ts'
import { task } from '../../client/index.ts'
import { systemRuntime } from '../../runtime/index.ts'
import { createFabric } from '../fabric.ts'
import type { Fabric, FabricOptions } from '../fabric.ts'

const order = task<number, number>('order')
const handler = order.handle((n) => n)
const keys = () => KeyRing.begin(systemRuntime().now())

let received: string[] = []
const server = createServer((request, response) => {
  void text(request).then((body) => {
    received.push(body)
    response.end()
  })
})

beforeEach(async () => {
  received = []
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function open(options: FabricOptions): Promise<Fabric> {
  const fabric = await createFabric('memory:', { log: 'silent', ...options } as FabricOptions)
  if (options.keys !== undefined) {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?key=x`
    await fabric.webhooks.define('crm', { url, types: ['execution_ended'], task: 'order', allowPrivate: true })
  }
  return fabric
}

test('an engine delivers webhooks that exist, and an explicit deliverer takes its place', async () => {
  await using fabric = await open({ keys: keys() })
  await using _worker = await fabric.work([handler], { engine: { webhooks: { allowPrivate: true } } })
  await (await fabric.submit(order, 1)).result()
  await vi.waitUntil(() => received.length === 1, { timeout: 30_000, interval: 5 })

  await using _deliverer = fabric.deliverWebhooks({ allowPrivate: true })
  await (await fabric.submit(order, 2)).result()
  await vi.waitUntil(() => received.length === 2, { timeout: 30_000, interval: 5 })
  expect(JSON.parse(received[0]!)).toMatchObject({ type: 'execution_ended' })
})

test('an engine without webhooks or keys, or whose option turns deliveries off, starts no worker for deliveries', async () => {
  for (const [options, webhooks] of [
    [{}, true],
    [{ keys: keys() }, false],
  ] as const) {
    await using fabric = await open(options)
    fabric.engine({ webhooks })
    await using _worker = await fabric.work([handler])
    await (await fabric.submit(order, 1)).result()
    expect((await fabric.workers()).items).toHaveLength(1)
  }
  expect(received).toEqual([])
})

test('a webhook that takes the name of a deleted one gets none of its deliveries', async () => {
  await using fabric = await open({ keys: keys() })
  await using _worker = await fabric.work([handler], { engine: { webhooks: { allowPrivate: true } } })
  await (await fabric.submit(order, 1)).result()
  const ended = async () => (await fabric.webhooks.deliveries('crm', { state: 'completed' })).items
  await vi.waitUntil(async () => (await ended()).length === 1, { timeout: 30_000, interval: 5 })
  const [first] = await ended()

  await fabric.webhooks.delete('crm')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/other`
  await fabric.webhooks.define('crm', { url, types: ['execution_ended'], task: 'order', allowPrivate: true })
  await fabric.webhooks.redeliver('crm', first!.id)

  const failed = async () => (await fabric.webhooks.deliveries('crm', { state: 'failed' })).items
  await vi.waitUntil(async () => (await failed()).length === 1, { timeout: 30_000, interval: 5 })
  expect((await failed())[0]).toMatchObject({ error: 'The webhook was deleted.' })
  expect(received).toHaveLength(1)
})
