/**
 * A pipeline in the shape of a diamond: one node feeds two, and a fourth waits for both. Results are typed: a node whose
 * upstreams do not provide what its handler reads does not compile.
 *
 *   npx node examples/diamond.ts [location of a store]
 */
import { allOf, flow, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

interface Order {
  readonly item: string
  readonly cents: number
}

// The type parameters: input, output, and the upstream results in ctx.inputs.
const loadOrders = task<{ month: string }, readonly Order[]>('orders.load')
const sumUp = task<undefined, number, { orders: readonly Order[] }>('orders.sum')
const findLargest = task<undefined, Order, { orders: readonly Order[] }>('orders.largest')
const writeReport = task<{ month: string }, string, { total: number; largest: Order }>('report.write')

const monthlyReport = flow('monthly-report', (f, input: { month: string }) => {
  const orders = f.node('orders', loadOrders, { input })
  const total = f.node('total', sumUp, { after: allOf(orders) })
  const largest = f.node('largest', findLargest, { after: allOf(orders) })
  return f.node('report', writeReport, { after: allOf(total, largest), input })
})

const handlers = [
  loadOrders.handle(({ month }) => {
    console.log(`orders: those of ${month}`)
    return [
      { item: 'honey', cents: 1_250 },
      { item: 'a hive', cents: 18_900 },
      { item: 'a smoker', cents: 3_400 },
    ]
  }),
  sumUp.handle((_input, { inputs }) => {
    console.log(`total: of ${inputs.orders.length} orders`)
    return inputs.orders.reduce((sum, { cents }) => sum + cents, 0)
  }),
  findLargest.handle((_input, { inputs }) => {
    console.log(`largest: among ${inputs.orders.length} orders`)
    return inputs.orders.reduce((largest, order) => (order.cents > largest.cents ? order : largest))
  }),
  writeReport.handle(({ month }, { inputs: { total, largest } }) => {
    return `${month}: ${(total / 100).toFixed(2)} in all, most of it for ${largest.item}`
  }),
]

await using opened = await openFabric()
const { fabric } = opened
await fabric.work(handlers)

const handle = await fabric.submit(monthlyReport, { month: '2026-10' })
console.log(`report: ${await handle.result()}`)
