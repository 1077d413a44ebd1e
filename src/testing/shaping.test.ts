import { expect, test } from 'vitest'
import { flow, task } from '../client/index.ts'
import { testFabric } from './index.ts'

const index = task<{ text: string }, string>('index')
const book = task<{ amount: number }, string>('book', {
  retry: { attempts: 3, backoff: { kind: 'fixed', delay: '1s' } },
})

test('all submits of a window follow one execution, which gets the last input', async () => {
  const seen: string[] = []
  await using t = await testFabric([index.handle(({ text }) => (seen.push(text), text))])
  const debounce = { key: 'document:17', wait: '5s', max: '12s' } as const

  const handles = []
  for (const text of ['a', 'ab', 'abc', 'abcd']) {
    handles.push(await t.submit(index, { text }, { debounce }))
    await t.advance('4s')
  }

  expect(handles.map(({ created }) => created)).toEqual(['created', 'replaced', 'replaced', 'created'])
  expect(await Promise.all(handles.slice(0, 3).map((one) => one.result()))).toEqual(['abc', 'abc', 'abc'])
  await t.advance('5s')
  expect(seen).toEqual(['abc', 'abcd'])
  expect(await handles[0]?.describe()).toMatchObject({ shaping: { kind: 'debounce', key: 'document:17' } })
})

test('executions of one order run one after the other, over retries and a crash', async () => {
  const seen: number[] = []
  let failures = 1
  await using t = await testFabric([
    book.handle({ concurrency: 4 }, async ({ amount }, ctx) => {
      seen.push(amount)
      await ctx.sleep('settle', '1m')
      if (amount === 1 && failures-- > 0) throw new Error('try again')
      return 'booked'
    }),
  ])
  const order = { key: 'account:7' }
  const [first, second] = await Promise.all([1, 2].map((amount) => t.submit(book, { amount }, { order })))

  await t.until(first?.id ?? '', 'suspended')
  await t.crashWorker()
  expect((await second?.why())?.text).toContain(`until ${first?.id} (suspended) of order 'account:7' has ended`)
  await t.advance('10m')

  await second?.result()
  expect(seen.lastIndexOf(1)).toBeLessThan(seen.indexOf(2))
  expect(seen.filter((amount) => amount === 1).length).toBeGreaterThan(1)
})

test('a failure that blocks is explained, and an operator starts the others without it', async () => {
  await using t = await testFabric([
    book.handle(({ amount }) => {
      if (amount < 0) throw new TypeError('negative')
      return 'booked'
    }),
  ])
  const order = { key: 'account:7', onFailure: 'block' } as const
  const failed = await t.submit(book, { amount: -1 }, { order, retry: { attempts: 1 } })
  const waiting = await t.submit(book, { amount: 2 }, { order })
  await t.until(failed.id, 'failed')

  expect((await waiting.why()).text).toContain(`flowfabric continue ${failed.id}`)
  expect((await failed.describe()).shaping).toMatchObject({ holdsBack: true })
  expect(await failed.continueOrder({ reason: 'booked by hand' })).toBe('order_continued')
  expect(await failed.continueOrder()).toBe('order_not_held')
  await waiting.result()
})

test('refuses options that contradict each other, and says why', async () => {
  await using t = await testFabric([index.handle(({ text }) => text)])
  const submit = (options: object) => t.submit(index, { text: 'a' }, options)
  const key = 'k'

  await expect(submit({ order: { key }, singleton: { key } })).rejects.toThrow('one of them at most')
  await expect(submit({ order: { key }, id: 'mine' })).rejects.toThrow('an id decides the same')
  await expect(submit({ throttle: { key, every: '1m' }, ifExists: 'join' })).rejects.toThrow('ifExists is given')
  await expect(submit({ debounce: { key, wait: '1m' }, delay: '5s' })).rejects.toThrow('whose wait is the delay')
  await expect(submit({ debounce: { key, wait: '1m', max: '1s' } })).rejects.toThrow('at least debounce.wait')
  await expect(submit({ throttle: { key, every: '31d' } })).rejects.toThrow('30 days')
  const release = flow('release', (f) => {
    // @ts-expect-error a node is no submit of its own
    f.node('index', index, { input: { text: 'a' }, singleton: { key } })
  })
  await expect(t.submit(release, undefined)).rejects.toThrow('singleton is for submits: a node or a child starts once')
})
