/** One call sends signals to mailboxes and to waitpoints. */
import { expect, test } from 'vitest'
import { approval, signal, task } from '../../src/client/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const order = task<null, string>('order')

const handler = order.handle(async (_, ctx) => {
  const paid = await ctx.waitFor(signal<number>('paid'))
  const review = await ctx.waitFor('review', approval({ need: 2 }))
  const voters = review.ok ? review.votes.map(({ by }) => by.identity) : []
  return `${paid.ok && paid.value} by ${voters.join(' and ')}`
})

conforms('execution.signal', ({ fabric }) => {
  test('sends to a mailbox by name, and to a waitpoint by its key', async () => {
    await using working = new Working(fabric)
    working.work([handler])
    const { client } = working
    const execution = await working.until(client.submit(order, null))
    await execution.signal('paid', 12, { key: 'event:1' })
    while ((await client.waitpoints(execution.id)).items.length === 0) await working.elapse(5)

    const first = await execution.signal('approve', undefined, { waitpoint: 'review', by: 'ada', key: 'vote:1' })
    const again = await client.signal(execution.id, 'approve', undefined, {
      waitpoint: 'review',
      by: 'ada',
      key: 'vote:1',
    })
    const second = await client.signal(execution.id, 'approve', undefined, { waitpoint: 'review', by: 'bob' })

    expect([first, again, second]).toMatchObject([
      { kind: 'delivered', effect: 'counted' },
      { kind: 'duplicate', effect: 'counted' },
      { kind: 'delivered', effect: 'resumed' },
    ])
    expect(await working.until(execution.result())).toBe('12 by ada and bob')
  })

  test('refuses a waitpoint that does not exist, and writes nothing', async () => {
    await using working = new Working(fabric)
    const execution = await working.until(working.client.submit(order, null))

    const sent = execution.signal('approve', undefined, { waitpoint: 'revue', by: 'ada' })

    await expect(sent).rejects.toMatchObject({ code: 'waitpoint_not_found' })
    expect((await execution.describe()).journal.signalCount).toBe(0)
  })
})
