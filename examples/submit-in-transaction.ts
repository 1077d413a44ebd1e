/**
 * An order and its receipt are stored atomically: the receipt is submitted inside the
 * transaction that writes the order. One order is committed, one is rolled back.
 *
 *   DATABASE_URL=postgres://user:password@localhost/shop npx node examples/submit-in-transaction.ts
 *
 * The store is in the schema `flowfabric` of that database, and the orders are in a temporary table.
 */
import { Client } from 'pg'
import { createFabric, task } from '../src/index.ts'
import type { ExecutionHandle } from '../src/index.ts'

const RECEIPT_LIMIT_MS = 30_000

const database = process.env['DATABASE_URL']
if (database === undefined) throw new Error('Set DATABASE_URL to a database such as postgres://user@localhost/shop.')

const sendReceipt = task<{ order: string; to: string }, string>('receipt.send')
const sendReceiptHandler = sendReceipt.handle(({ order, to }) => `the receipt for ${order} went to ${to}`)

await using fabric = await createFabric(database)
await fabric.work([sendReceiptHandler])

// The connection of the application, to the same database.
const client = new Client({ connectionString: database })
await client.connect()
await client.query('create temporary table shop_order (name text primary key, quantity integer check (quantity > 0))')

async function placeOrder(name: string, quantity: number): Promise<ExecutionHandle<string>> {
  await client.query('begin')
  try {
    const receipt = { order: name, to: 'ada@example.com' }
    const execution = await fabric.submit(sendReceipt, receipt, { id: `receipt:${name}`, tx: client })
    await client.query('insert into shop_order values ($1, $2)', [name, quantity])
    await client.query('commit')
    return execution
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

try {
  const execution = await placeOrder('A-17', 2)
  // The execution exists shortly after the commit, and never after a rollback. So the wait has a limit.
  console.log(`A-17: ${await execution.result({ signal: AbortSignal.timeout(RECEIPT_LIMIT_MS) })}`)

  await placeOrder('B-18', 0).catch((error: unknown) => console.log(`B-18: ${String(error)}`))
  const { result } = await fabric.try.describe('receipt:B-18')
  console.log(`B-18: its receipt was ${result.kind === 'refused' ? 'never submitted' : 'submitted'}`)
} finally {
  await client.end()
}
