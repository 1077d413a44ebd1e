/** A process that delivers nothing yet, while another one looks for the first webhook. */
import { expect, test } from 'vitest'
import { Client } from '../../client/client.ts'
import { KeyRing } from '../../client/tokens/key-ring.ts'
import { Tokens } from '../../client/tokens/token.ts'
import { silentLog, virtualRuntime } from '../../runtime/index.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { WebhookDeliverer } from './deliverer.ts'

const MINUTE_MS = 60_000

/** A deliverer on a store without webhooks, and how often it has asked for them. */
function createSpare({ hasKeys }: { readonly hasKeys: boolean }) {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] })
  const seen = { lookCount: 0, looksForAll: false }
  const run = store.run.bind(store)
  store.run = (partition, calls) => {
    seen.lookCount += calls.filter(({ operation }) => operation === 'listConsumers').length
    return run(partition, calls)
  }
  const ring = KeyRing.begin(runtime.now())
  const client = new Client(
    store,
    runtime,
    hasKeys ? { tokens: new Tokens({ ring: () => ring }, runtime, silentLog) } : {},
  )
  const deliverer = new WebhookDeliverer({
    session: client.openSession(),
    log: silentLog,
    post: () => Promise.reject(new Error('There is nothing to send.')),
    allowPrivate: false,
    isIdleWithout: true,
    looksForAll: () => seen.looksForAll,
    forNamespace: (namespace) => client.forNamespace(namespace),
    work: () => Promise.reject(new Error('There is nothing to deliver.')),
  })
  return { runtime, deliverer, seen }
}

test('one with a key ring looks seldom, because the other process may have none', async () => {
  const { runtime, deliverer, seen } = createSpare({ hasKeys: true })
  await using _ = deliverer

  await runtime.advance(10 * MINUTE_MS)

  expect(seen.lookCount).toBe(4)
})

test('one without a key ring asks nothing, until it looks for all', async () => {
  const { runtime, deliverer, seen } = createSpare({ hasKeys: false })
  await using _ = deliverer

  await runtime.advance(10 * MINUTE_MS)
  expect(seen.lookCount).toBe(0)

  seen.looksForAll = true
  await runtime.advance(2 * MINUTE_MS)
  expect(seen.lookCount).toBeGreaterThan(10)
})
