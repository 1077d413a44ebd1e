/** Webhooks: events are sent to an endpoint, signed and retried, and each is one delivery. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import { KeyRing, mintKey } from '../../src/client/tokens/key-ring.ts'
import { Tokens } from '../../src/client/tokens/token.ts'
import { WebhookDeliverer } from '../../src/fabric/webhooks/deliverer.ts'
import type { PostAnswer, PostRequest } from '../../src/fabric/webhooks/post.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import { silentLog } from '../../src/runtime/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const order = task<number>('order')
const url = 'https://crm.example.com/hooks'
const OK: PostAnswer = { status: 200, retryAfterSeconds: undefined }

function verifies({ headers, body }: PostRequest, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return headers['webhook-signature']!.split(' ').includes(expected)
}

/** A receiver that notes what it gets, and answers as the test says. */
class Receiver {
  readonly requests: PostRequest[] = []
  answer: (request: PostRequest) => PostAnswer | Promise<PostAnswer> = () => OK
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  readonly post = (request: PostRequest): Promise<PostAnswer> => {
    this.requests.push(request)
    for (const { count, resolve } of this.#waiting) if (this.requests.length >= count) resolve()
    return Promise.resolve(this.answer(request))
  }

  async until(count: number): Promise<void> {
    if (this.requests.length < count) await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }))
  }
}

conforms('webhooks', ({ fabric }) => {
  let ring: KeyRing

  function begin(store = fabric.store) {
    ring = KeyRing.begin(fabric.runtime.now())
    const tokens = new Tokens({ ring: () => ring }, fabric.runtime, silentLog)
    const working = new Working(fabric, { tokens }, store)
    const receiver = new Receiver()
    const { client } = working
    const deliver = (lookEveryMs = 100) =>
      new WebhookDeliverer({
        session: client.openSession(),
        log: silentLog,
        post: receiver.post,
        allowPrivate: false,
        forNamespace: (namespace) => client.forNamespace(namespace),
        work: (handler) => Promise.resolve(working.work([handler])),
        lookEveryMs,
      })
    const { webhooks } = client
    return { working, receiver, client, deliver, webhooks }
  }

  const wanted = { url, types: ['execution_created'], task: 'order' } as const

  test('each event is sent once, signed, with an id that its repetitions share', async () => {
    const { working, receiver, client, deliver, webhooks } = begin()
    await using _ = working
    const { secret } = await working.until(webhooks.define('crm', wanted))
    expect(await working.until(webhooks.define('crm', wanted))).toMatchObject({ secret: undefined, state: 'active' })
    const first = deliver()
    const second = deliver()
    await working.elapse(100)

    for (let i = 0; i < 3; i++)
      await working.until(client.submit(order, i, { id: `order ${i}`, tags: { plan: 'pro' } }))
    await working.until(receiver.until(3))
    await working.until(Promise.all([first.close(), second.close()]))

    const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(3)
    for (const request of receiver.requests) expect(verifies(request, secret!)).toBe(true)
    expect(JSON.parse(receiver.requests[0]!.body)).toMatchObject({
      type: 'execution_created',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      data: { task: 'order', namespace: 'default', tags: { plan: 'pro' } },
    })
    const { items } = await working.until(webhooks.deliveries('crm', { state: 'completed' }))
    expect(items.map(({ eventId }) => eventId).sort()).toEqual(ids.sort())

    // A repetition by hand has the same id and body.
    const third = deliver()
    await working.until(webhooks.redeliver('crm', items[0]!.id))
    await working.until(receiver.until(4))
    expect(receiver.requests[3]!.headers['webhook-id']).toBe(items[0]!.eventId)
    await working.until(third.close())
    expect(JSON.stringify(await fabric.dump('m:0'))).not.toContain(secret!.slice(6))
  })

  test('a failing receiver is retried, and is disabled after a bound; enabled again, what waits is sent', async () => {
    const { working, receiver, client, deliver, webhooks } = begin()
    await using _ = working
    working.maintain()
    await working.until(webhooks.define('crm', { ...wanted, disableAfter: '1500ms' }))
    const deliverer = deliver()
    receiver.answer = () => (receiver.requests.length < 2 ? { status: 503, retryAfterSeconds: 1 } : OK)
    await working.until(client.submit(order, 1))
    await working.until(receiver.until(2))
    await working.elapse(100)
    expect(await working.until(webhooks.describe('crm'))).toMatchObject({ state: 'active', failingSince: undefined })

    receiver.answer = () => ({ status: 500, retryAfterSeconds: 1 })
    await working.until(client.submit(order, 2))
    await working.until(receiver.until(5))
    await working.elapse(300)
    const disabled = await working.until(webhooks.describe('crm'))
    expect(disabled).toMatchObject({
      state: 'disabled',
      disabled: { by: 'engine' },
      error: expect.stringContaining('500') as string,
    })
    const count = receiver.requests.length
    await working.until(client.submit(order, 3))
    await working.elapse(500)
    expect(receiver.requests).toHaveLength(count)
    expect((await working.until(webhooks.deliveries('crm', { state: 'failed' }))).items).toHaveLength(1)

    receiver.answer = () => OK
    expect(await working.until(webhooks.enable('crm'))).toMatchObject({ state: 'active', error: undefined })
    await working.until(receiver.until(count + 1))
    expect(JSON.parse(receiver.requests.at(-1)!.body)).toMatchObject({ type: 'execution_created' })
    receiver.answer = () => ({ status: 410, retryAfterSeconds: undefined })
    await working.until(client.submit(order, 4))
    await working.until(receiver.until(count + 2))
    await working.elapse(100)
    expect(await working.until(webhooks.describe('crm'))).toMatchObject({ state: 'disabled' })
    await working.until(deliverer.close())
  })

  test('a changed filter applies to all events from then on, also while those who deliver do not know of it', async () => {
    const { working, receiver, client, deliver, webhooks } = begin()
    await using _ = working
    await working.until(webhooks.define('crm', wanted))
    const deliverer = deliver(1_000)
    await working.elapse(50)
    await working.until(webhooks.define('crm', { ...wanted, types: ['execution_created', 'priority_changed'] }))

    const execution = await working.until(client.submit(order, 1))
    await working.elapse(300)
    await working.until(execution.changePriority(3))
    await working.until(receiver.until(2))

    const types = receiver.requests.map(({ body }) => (JSON.parse(body) as { type: string }).type)
    expect(types).toEqual(['execution_created', 'priority_changed'])
    await working.until(deliverer.close())
  })

  test('a success ends the failing state, also if it began before the failure', async () => {
    const { working, receiver, client, deliver, webhooks } = begin()
    await using _ = working
    await working.until(webhooks.define('crm', wanted))
    const deliverer = deliver()
    const first = Promise.withResolvers<PostAnswer>()
    receiver.answer = () => (receiver.requests.length === 1 ? first.promise : { status: 503, retryAfterSeconds: 3_600 })
    for (const count of [1, 2]) {
      await working.until(client.submit(order, count))
      await working.until(receiver.until(count))
    }
    await working.elapse(20)
    expect(await working.until(webhooks.describe('crm'))).toMatchObject({ state: 'failing' })

    first.resolve(OK)
    await working.elapse(20)
    expect(await working.until(webhooks.describe('crm'))).toMatchObject({ state: 'active' })
    await working.until(deliverer.close())
  })

  test('those who deliver can be closed while the store is unavailable', async () => {
    let isDown = false
    const run: Store['run'] = (partition, calls, onAnswer) => {
      const isRefused = isDown && calls.some(({ operation }) => operation === 'renewConsumer')
      return isRefused
        ? Promise.reject(new EngineError('store_unavailable'))
        : fabric.store.run(partition, calls, onAnswer)
    }
    const store = new Proxy(fabric.store, {
      get(target, name) {
        const value: unknown = name === 'run' ? run : Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const { working, deliver, webhooks } = begin(store)
    await using _ = working
    await working.until(webhooks.define('crm', wanted))
    isDown = true
    const deliverer = deliver()
    await working.elapse(50)
    await working.until(deliverer.close())
    expect(await working.until(webhooks.describe('crm'))).toMatchObject({ memberCount: 0 })
  })

  test('a new secret, another URL and a disable apply to the next delivery', async () => {
    const { working, receiver, client, deliver, webhooks } = begin()
    await using _ = working
    await working.until(webhooks.define('crm', wanted))
    const deliverer = deliver(60_000)
    await working.until(client.submit(order, 1))
    await working.until(receiver.until(1))

    const { secret } = await working.until(webhooks.rotate('crm', { grace: 0 }))
    await working.until(client.submit(order, 2))
    await working.until(receiver.until(2))
    expect(receiver.requests[1]!.headers['webhook-signature']!.split(' ')).toHaveLength(1)
    expect(verifies(receiver.requests[1]!, secret)).toBe(true)

    await working.until(webhooks.define('crm', { ...wanted, url: `${url}/new` }))
    receiver.answer = () => ({ status: 410, retryAfterSeconds: undefined })
    await working.until(client.submit(order, 3))
    await working.until(receiver.until(3))
    expect(receiver.requests[2]!.url).toBe(`${url}/new`)

    // The receiver is gone: what follows waits in the log instead of failing.
    const isDisabled = async () => (await working.until(webhooks.describe('crm'))).state === 'disabled'
    while (!(await isDisabled())) await working.elapse(10)
    await working.elapse(100)
    await working.until(client.submit(order, 4))
    await working.elapse(300)
    expect(receiver.requests).toHaveLength(3)
    expect((await working.until(webhooks.deliveries('crm', { state: 'failed' }))).items).toHaveLength(1)
    await working.until(deliverer.close())
  })

  test('secrets rotate with a grace, follow the key ring, and are not sent to unsafe targets', async () => {
    const { working, receiver, client, deliver, webhooks } = begin()
    await using _ = working
    const { secret } = await working.until(webhooks.define('crm', wanted))
    const rotated = await working.until(webhooks.rotate('crm', { grace: '1500ms' }))
    const oldKey = ring.current.id
    ring = ring.rotate(mintKey(fabric.runtime.now()), 60_000, fabric.runtime.now())
    const deliverer = deliver()
    await working.elapse(150)
    // The secrets were encrypted with the new key, so the old one may go.
    ring = ring.retire(oldKey)
    await working.until(client.submit(order, 1))
    await working.until(receiver.until(1))
    expect(verifies(receiver.requests[0]!, secret!) && verifies(receiver.requests[0]!, rotated.secret)).toBe(true)
    await working.elapse(1_500)
    await working.until(client.submit(order, 2))
    await working.until(receiver.until(2))
    expect([secret!, rotated.secret].map((one) => verifies(receiver.requests[1]!, one))).toEqual([false, true])
    await working.until(deliverer.close())

    // A secret whose key is gone is rotated: the new one signs at once, and the lost one no more.
    const lostKey = ring.current.id
    ring = ring.rotate(mintKey(fabric.runtime.now()), 60_000, fabric.runtime.now()).retire(lostKey)
    const repaired = await working.until(webhooks.rotate('crm'))
    const later = deliver()
    await working.until(client.submit(order, 3))
    await working.until(receiver.until(3))
    expect([rotated, repaired].map((one) => verifies(receiver.requests[2]!, one.secret))).toEqual([false, true])
    await working.until(later.close())

    for (const target of [
      'http://crm.example.com',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://169.254.169.254/x',
      'ftp://x',
      'https://a:b@crm.example.com',
      'https://localhost:9',
    ]) {
      await expect(working.until(webhooks.define('bad', { url: target }))).rejects.toMatchObject({
        code: 'unsafe_target',
      })
    }
    await working.until(webhooks.delete('crm'))
    await expect(working.until(webhooks.describe('crm'))).rejects.toMatchObject({ code: 'webhook_not_found' })
    expect(await working.until(webhooks.list())).toEqual([])
  })
})
