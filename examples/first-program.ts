/** The first program of the README. It exits when it is done. A second run joins the execution of the first one. */
import { PermanentError, createFabric, task } from '../src/index.ts'

// The contract: a name, types or schemas, and settings.
const charge = task<{ order: string; cents: number }, { receipt: string }>('charge', {
  retry: { attempts: 5, backoff: 'exponential' },
  timeout: { attempt: '30s', total: '1d' },
})

// The handler: an ordinary async function. It may run more than once, with the same idempotency key.
const chargeHandler = charge.handle(async ({ order, cents }, ctx) => {
  if (cents <= 0) throw new PermanentError(`nothing to charge for ${order}`)
  await ctx.progress(50, 'asking the bank')
  return { receipt: `${order}/${ctx.idempotencyKey}` }
})

await using fabric = await createFabric('sqlite:./fabric.db')
await fabric.work([chargeHandler], { concurrency: 8 })

// Two submits with one id create one execution.
const execution = await fabric.submit(charge, { order: 'A-17', cents: 1999 }, { id: 'charge:A-17' })
console.log(await execution.result())
