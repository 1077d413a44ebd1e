/**
 * A payment that a provider confirms with a callback. The callback address contains a token for this payment. The provider
 * calls before the handler waits, and the early signal is buffered. A guessed token is refused.
 *
 *   npx node examples/payment-callback.ts [location of a store]
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { EngineError, KeyRing, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const pay = task<{ order: string; cents: number }, string>('order.pay')

// A program in production reads its keys from a file: createFabric(location, { keys: { file: './flowfabric.keys' } }).
await using opened = await openFabric({ keys: KeyRing.begin(Date.now()) })
const { fabric } = opened

// The web server that the provider calls. It needs the store and the keys, and may run in another process than the worker.
const server = createServer((request, response) => {
  void (async () => {
    const token = request.url?.split('/').at(-1) ?? ''
    try {
      const { kind, effect } = await fabric.answer(token, 'paid', await json(request), { key: 'paid' })
      console.log(`callback: ${kind}, ${effect}`)
      response.writeHead(204).end()
    } catch (error) {
      const code = error instanceof EngineError ? error.code : 'internal'
      console.log(`callback: refused, ${code}`)
      response.writeHead(code === 'internal' ? 500 : 404).end()
    }
  })()
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const callbacks = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`

/** Simulates an attacker with a guessed token, then the provider, which repeats its call. The key deduplicates the signal. */
async function askProvider(cents: number, callback: string): Promise<{ payment: string }> {
  const payment = { method: 'POST', body: JSON.stringify({ cents }) }
  const guessed = callback.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  for (const url of [guessed, callback, callback]) await fetch(url, payment)
  return { payment: 'p-1' }
}

const Paid = z.object({ cents: z.number().int().positive() })

const payHandler = pay.handle(async ({ order, cents }, ctx) => {
  const callback = await ctx.waitpoint('callback', { expires: '1h' })
  const { payment } = await ctx.step('ask provider', () =>
    askProvider(cents, `${callbacks}/${callback.token({ for: 'provider', names: ['paid'] })}`),
  )
  const paid = await ctx.waitFor('payment', callback)
  if (!paid.ok) return `${order} is not paid: ${paid.reason}`
  return `${order} is paid with ${payment}: ${Paid.parse(paid.value).cents} cents`
})

await fabric.work([payHandler])
const execution = await fabric.submit(pay, { order: 'A-17', cents: 1_999 })
console.log(await execution.result())
server.close()
