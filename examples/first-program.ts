/** The README's first program. It ends by itself; run it twice, and the second run meets what the first one did. */
import { PermanentError, createFabric, task } from '../src/index.ts'

// The contract: a name, types or schemas, and how its executions are treated.
const charge = task<{ order: string; cents: number }, { receipt: string }>('charge', {
  retry: { attempts: 5, backoff: 'exponential' },
  timeout: { attempt: '30s', total: '1d' },
})

// The handler: an ordinary async function. It may run more than once; the idempotency key stays the same.
const chargeHandler = charge.handle(async ({ order, cents }, ctx) => {
  if (cents <= 0) throw new PermanentError(`nothing to charge for ${order}`)
  await ctx.progress(50, 'asking the bank')
  return { receipt: `${order}/${ctx.idempotencyKey}` }
})

await using fabric = await createFabric('sqlite:./fabric.db')
await fabric.work([chargeHandler], { concurrency: 8 })

// Submitting twice with one id starts it once.
const execution = await fabric.submit(charge, { order: 'A-17', cents: 1999 }, { id: 'charge:A-17' })
console.log(await execution.result())
