/**
 * A document is saved many times a minute and indexed once it is left alone: each save replaces the input of the execution that
 * waits. Bookings of one account run one after the other, whichever worker has a free slot.
 *
 *   npx node examples/debounced-index.ts [location of a store]
 */
import { task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const index = task<{ text: string }, string>('document.index')
const book = task<{ amount: number }, number>('account.book')

let balance = 0
const handlers = [
  index.handle(({ text }) => `indexed "${text}"`),
  book.handle({ concurrency: 8 }, async ({ amount }) => {
    const before = balance
    await new Promise((resolve) => setTimeout(resolve, 5))
    balance = before + amount
    return balance
  }),
]

await using opened = await openFabric()
const { fabric } = opened
await fabric.work(handlers)

const debounce = { key: 'document:17', wait: '1s', max: '1m' } as const
const saves = []
for (const text of ['b', 'be', 'bee', 'bees']) saves.push(await fabric.submit(index, { text }, { debounce }))
console.log('saves:', saves.map(({ created }) => created).join(', '))
console.log(await saves[0]?.result())

const bookings = []
for (const amount of [10, 20, 30]) {
  bookings.push(await fabric.submit(book, { amount }, { order: { key: 'account:7', onFailure: 'block' } }))
}
const balances = await Promise.all(bookings.map((booking) => booking.result()))
console.log('balance after each booking:', balances.join(', '))
