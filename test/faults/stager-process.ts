/**
 * An application that keeps orders in a table of its own, in the database of the store, and submits a piece of work for
 * each in the same transaction. Some transactions are committed, some are taken back, wholly or to where they were before
 * the submit. An order is in the table if and only if its work was submitted. After any failure, it continues with the next one.
 *
 *   node stager-process.ts <store> <side record> <name>
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { isConnectionLost } from '../../src/stores/postgres/wire/postgres-error.ts'
import { createFabric } from '../../src/fabric/index.ts'
import { complainingLog, sayReady, untilStopped } from '../crash/process.ts'
import { SideRecord } from '../crash/side-record.ts'
import { keyOf } from '../crash/work.ts'
import type { SubmitterEntry } from '../crash/work.ts'
import { plain } from './load.ts'

const [location = '', sideFile = '', name = ''] = process.argv.slice(2)
const IN_FLIGHT = 4
const PAUSE_MS = 15

/** How a transaction ends. */
const endings = ['commit', 'commit', 'rollback', 'commit', 'rollback_to_savepoint'] as const

const side = new SideRecord<SubmitterEntry>(sideFile)
const stop = new AbortController()
await using fabric = await createFabric(location, { log: complainingLog })
// Those that an earlier run of this process has used are not used again.
let next = Date.now()

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: location })
  // Pending queries are rejected when the connection is lost.
  client.on('error', () => undefined)
  return await client.connect()
}

async function placeOrder(client: Client, number: number): Promise<void> {
  const work = { submitter: name, number }
  const ending = endings[number % endings.length]
  await client.query('begin')
  await client.query('savepoint before_order')
  await client.query('insert into shop_order (key) values ($1)', [keyOf(work)])
  const execution = await fabric.submit(plain.task, work, { id: keyOf(work), tx: client })
  if (ending === 'rollback_to_savepoint') await client.query('rollback to savepoint before_order')
  const { command } = await client.query(ending === 'rollback' ? 'rollback' : 'commit')
  if (ending === 'commit' && command === 'COMMIT') {
    side.write({ step: 'acknowledged', number, executionId: execution.id })
  }
}

async function placeOrders(): Promise<void> {
  let client: Client | undefined
  while (!stop.signal.aborted) {
    try {
      client ??= await connect()
      await placeOrder(client, next++)
    } catch (error) {
      if (!isConnectionLost(error)) console.error(error)
      void client?.end().catch(() => undefined)
      client = undefined
    }
    await sleep(PAUSE_MS)
  }
  await client?.end().catch(() => undefined)
}

void untilStopped().then(() => stop.abort())
sayReady()
await Promise.all(Array.from({ length: IN_FLIGHT }, placeOrders))
side.close()
