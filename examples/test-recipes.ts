/**
 * Tests of handlers with steps and waits, for the test runner that comes with Node:
 *
 *   npx node --test examples/test-recipes.ts
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approval, signal, task } from '../src/index.ts'
import { stub, testFabric } from '../src/testing/index.ts'

const order = task<{ item: string; cents: number }, { receipt: string }>('order', { retry: { attempts: 5 } })

/** Creates handlers for one test, with a record of their external effects. */
function makeOrderHandler() {
  const charges: string[] = []
  const parcels: string[] = []
  const handler = order.handle(async ({ item, cents }, ctx) => {
    const receipt = await ctx.step('charge', (s) => {
      charges.push(`${cents} ${s.idempotencyKey}`)
      return `receipt ${charges.length}`
    })
    await ctx.step('ship', { retry: { attempts: 8 }, timeout: '30s' }, (s) => {
      parcels.push(`${item} ${s.idempotencyKey}`)
    })
    await ctx.sleep('cooling-off', '14d')
    return { receipt }
  })
  return { handler, charges, parcels }
}

const publish = task<{ draft: string }, string>('publish')

const publishHandler = publish.handle(async (_input, ctx) => {
  const review = await ctx.waitFor('review', approval({ need: 2, of: ['ada', 'bob', 'eve'], timeout: '3d' }))
  if (!review.ok) return `not published: ${review.reason}`
  const slot = await ctx.waitFor(signal<{ at: string }>('slot', { timeout: '1d' }))
  return slot.ok ? `published at ${slot.value.at}` : 'published without a slot'
})

await test('an approval that times out', async () => {
  await using t = await testFabric([publishHandler])
  const execution = await t.submit(publish, { draft: 'bees' })
  await t.until(execution, 'suspended')
  await t.vote(execution, 'review', { by: 'ada' })
  await t.advance('3d')
  assert.equal(await execution.result(), 'not published: timed_out')
})

const refund = task<{ cents: number }, string>('refund')

await test('approvals by links, which a worker that crashes does not send again', async () => {
  const links = new Map<string, string>()
  const sent: string[] = []
  const refundHandler = refund.handle(async ({ cents }, ctx) => {
    const gate = await ctx.waitpoint('gate')
    for (const person of ['ada', 'bob', 'eve']) {
      await ctx.step(`ask ${person}`, () => {
        sent.push(person)
        links.set(person, gate.token({ for: person, expires: '3d', names: ['approve', 'reject'] }))
      })
    }
    const review = await ctx.waitFor('review', approval({ on: gate, need: 2, timeout: '3d', onTimeout: 'escalate' }))
    return review.ok ? `${cents} paid by ${review.votes.map(({ by }) => by.identity).join(' and ')}` : review.reason
  })
  await using t = await testFabric([refundHandler])
  await t.crashWorker({ after: 'ask bob' })
  const execution = await t.submit(refund, { cents: 1_999 })
  await t.until(execution, 'suspended')
  await t.answer(links.get('ada') ?? '', 'approve')
  await t.advance('2d')
  await t.answer(links.get('eve') ?? '', 'approve')
  assert.equal(await execution.result(), '1999 paid by ada and eve')
  assert.deepEqual(sent, ['ada', 'bob', 'eve'])
})

await test('a crash between two steps', async () => {
  const { handler, charges, parcels } = makeOrderHandler()
  await using t = await testFabric([handler])
  await t.crashWorker({ after: 'charge' })
  await t.crashWorker({ during: 'ship' })
  const execution = await t.submit(order, { item: 'honey', cents: 1_250 })
  await t.until(execution, 'completed')
  assert.equal(t.stepRuns(execution, 'charge'), 1)
  assert.equal(t.stepRuns(execution, 'ship'), 2)
  assert.equal(charges.length, 1)
  assert.equal(new Set(parcels).size, 1)
})

await test('an early signal', async () => {
  await using t = await testFabric([publishHandler])
  const execution = await t.submit(publish, { draft: 'bees' }, { delay: '1h' })
  await execution.signal('slot', { at: 'noon' })
  await t.until(execution, 'suspended')
  await t.vote(execution, 'review', { by: 'ada' })
  await t.vote(execution, 'review', { by: 'bob' })
  assert.equal(await execution.result(), 'published at noon')
})

await test('a task that the test does not want to run', async () => {
  const ordered = stub(order, ({ cents }) => ({ receipt: `for ${cents}` }))
  await using t = await testFabric([ordered])
  const execution = await t.submit(order, { item: 'wax', cents: 300 })
  assert.deepEqual(await execution.result(), { receipt: 'for 300' })
  assert.deepEqual(ordered.calls, [{ item: 'wax', cents: 300 }])
})
