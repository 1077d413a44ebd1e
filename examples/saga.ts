/**
 * A trip is booked in three places, or in none: also if a booking fails, and if the traveller cancels while the trip waits for a
 * confirmation. Every booking is a child: an execution of its own, with its own retries. The trip occupies no worker while it
 * waits, and a crash starts no child twice: the handler runs again from its first line and gets the recorded results.
 *
 *   npx node examples/saga.ts [location of a store]
 */
import { PermanentError, signal, task } from '../src/index.ts'
import type { ExecutionHandle } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const bookTrip = task<{ to: string }, string>('trip.book')
const book = task<{ what: string; to: string }, { booking: string }>('office.book', { retry: { attempts: 3 } })

// Simulates booking offices, which deduplicate requests by key.
const offices = {
  book(what: string, to: string, key: string): { booking: string } {
    if (what === 'car' && to === 'Venice') throw new PermanentError('no cars in Venice')
    console.log(`  ${what}: booked`)
    return { booking: `${what}/${key.slice(-8)}` }
  },
  cancel(booking: string) {
    console.log(`  ${booking.split('/')[0]}: cancelled`)
  },
}

const bookHandler = book.handle(({ what, to }, ctx) => offices.book(what, to, ctx.idempotencyKey))

const bookTripHandler = bookTrip.handle(async ({ to }, ctx) => {
  for (const what of ['flight', 'hotel', 'car']) {
    const { booking } = await ctx.call(`book ${what}`, book, { what, to })
    // Runs if a later booking fails or the trip is cancelled, the last registered first.
    await ctx.compensate(`cancel ${what}`, { retry: { attempts: 10 } }, () => offices.cancel(booking))
  }
  await ctx.waitFor(signal('confirmed'))
  return `the trip to ${to} is booked`
})

await using opened = await openFabric()
const { fabric } = opened
await fabric.work([bookTripHandler, bookHandler])

for (const to of ['Rome', 'Venice', 'Oslo']) {
  console.log(`${to}:`)
  const execution = await fabric.submit(bookTrip, { to })
  if (to === 'Rome') await execution.signal('confirmed', true)
  if (to === 'Oslo') await cancelWhileItWaits(execution)
  const { outcome, result, attempts } = await execution.wait()
  if (outcome === 'completed') console.log(`  ${String(result)}`)
  else console.log(`  ${outcome === 'cancelled' ? 'cancelled' : (attempts.at(-1)?.failure?.message ?? outcome)}`)
}

/** The handler occupies no worker at that moment. The cancel wakes it, and its compensations run. */
async function cancelWhileItWaits(execution: ExecutionHandle<string>): Promise<void> {
  for await (const item of execution.events()) {
    if (item.kind === 'event' && item.event.type === 'execution_suspended' && item.event.step === 'confirmed') break
  }
  await execution.cancel('the traveller is ill')
}
