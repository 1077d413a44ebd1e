/**
 * A program that knows nothing of FlowFabric but its HTTP API: it submits a task, follows its events, and waits for the result.
 * In production, `flowfabric server` serves the API, and workers run elsewhere.
 */
import { createFabric, task } from '../src/index.ts'
import { startServer } from '../src/server.ts'

const charge = task<{ cents: number }, string>('charge')
const chargeHandler = charge.handle(({ cents }) => `${cents / 100} EUR charged`)

await using fabric = await createFabric('memory:')
await fabric.work([chargeHandler])
await using server = await startServer(fabric, { port: 0 })

// A repetition of this request, such as after a lost answer, starts nothing: its key is the id of the execution.
await fetch(`${server.url}/v1/executions`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'idempotency-key': 'charge:A-17' },
  body: JSON.stringify({ task: 'charge', input: { cents: 1_200 }, retry: { attempts: 3, backoff: 'exponential' } }),
})

const events = await fetch(`${server.url}/v1/executions/charge:A-17/events?fromStart=true`)
for (const [, type] of (await events.text()).matchAll(/^event: (.+)$/gm)) console.log(`event: ${type ?? ''}`)

const result = await fetch(`${server.url}/v1/executions/charge:A-17/result?wait=30s`)
const { result: text } = (await result.json()) as { result: string }
console.log(`result: ${text}`)
