/**
 * A durable consumer of events: each completed order is charged, and none is missed while no process consumes. An order that was
 * charged before a process stopped is recognised by the id of its event. A failing charge is retried.
 *
 *   npx node examples/billing-consumer.ts [location of a store]
 */
import { task } from '../src/index.ts'
import type { Fabric } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const order = task<{ readonly cents: number }, string>('shop.order')
const orderHandler = order.handle(({ cents }) => Promise.resolve(`${cents} cents`))

/** The provider of payments: it charges once per key. */
const charges = new Map<string, string>()
let isDown = true

function charge(key: string, what: string): void {
  if (isDown) {
    isDown = false
    throw new Error('the provider does not answer')
  }
  charges.set(key, what)
}

async function startBilling(fabric: Fabric) {
  const wanted = { types: ['execution_ended'], task: 'shop.order' } as const
  return await fabric.consume(
    'billing',
    wanted,
    async (event, { eventId, tryCount }) => {
      if (event.outcome !== 'completed') return
      const amount = await fabric.execution(event.executionId, order).result()
      charge(eventId, amount)
      console.log(`charged ${amount}${tryCount > 1 ? ` at try ${tryCount}` : ''}`)
    },
    { fromStart: true, retryMax: '1s' },
  )
}

await using place = await openFabric({ log: 'error' })
const { fabric } = place
await using _worker = await fabric.work([orderHandler])

async function sell(cents: number): Promise<void> {
  await (await fabric.submit(order, { cents })).result()
}

async function charged(count: number): Promise<void> {
  while (charges.size < count) await new Promise((resolve) => setTimeout(resolve, 20))
}

const first = await startBilling(fabric)
await sell(500)
await charged(1)
await first.close()

await sell(700)
await sell(900)
const { lagCount } = await fabric.consumer('billing').describe()
console.log(`without a process, ${lagCount > 0 ? 'events wait' : 'nothing waits'}`)

await using _second = await startBilling(fabric)
await charged(3)
console.log(`${charges.size} orders are charged`)
