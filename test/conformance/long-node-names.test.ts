/** Names of nodes up to 512 bytes are stored as they are; longer ones as their beginning and a hash. Inputs keep their names. */
import { expect, test } from 'vitest'
import { allOf, flow, task } from '../../src/client/index.ts'
import { INPUT_NAME_BYTES, NODE_NAME_BYTES } from '../../src/kernel/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const LONGEST = 'é'.repeat(NODE_NAME_BYTES / 2)
const FIRST = `https://shop.example/${'a'.repeat(2_000)}?page=1`
const SECOND = `https://shop.example/${'a'.repeat(2_000)}?page=2`
const OWN = `own ${'ö'.repeat(1_000)}`
const HASHED = /^https:\/\/shop\.example\/a+~[0-9a-f]{32}$/

const fetched = task<{ page: number }, number>('fetch')
const sum = task<null, Readonly<Record<string, unknown>>>('sum')

const crawl = flow('crawl', (f, input: { pages: number }) => {
  const first = f.node(FIRST, fetched, { input: { page: 1 } })
  const second = f.node(SECOND, fetched, { input: { page: 2 }, after: allOf(first), when: () => input.pages > 1 })
  const longest = f.node(LONGEST, fetched, { input: { page: 3 } })
  return f.node('sum', sum, { input: null, after: allOf(first, second, { [OWN]: longest }) })
})

const fetching = fetched.handle(({ page }) => Promise.resolve(page))
const summing = sum.handle((_, { inputs }) => Promise.resolve(inputs))

conforms('a long name of a node', ({ fabric }) => {
  test('is stored whole or with a visible hash, is found again, and names its result as written', async () => {
    await using working = new Working(fabric)
    working.work([fetching, summing], { flows: [crawl] })
    const submitted = await working.until(working.client.submit(crawl, { pages: 2 }, { id: 'shop' }))

    expect(await working.until(submitted.result())).toEqual({ [FIRST]: 1, [SECOND]: 2, [OWN]: 3 })
    const names: string[] = []
    for await (const { node = '' } of submitted.members()) names.push(node)
    const [first = '', second = ''] = names.filter((name) => HASHED.test(name))
    expect(names.sort()).toEqual([first, second, LONGEST, 'sum'].sort())
    expect(Buffer.byteLength(first)).toBe(NODE_NAME_BYTES)
    expect(second).not.toBe(first)

    const found = working.client.flow('shop')
    expect(await working.until(found.output(SECOND))).toBe(2)
    expect(found.member(FIRST).id).toBe(found.member(first).id)
    expect(await found.member(FIRST).describe()).toMatchObject({ node: first, outcome: 'completed' })
    expect((await working.client.submit(crawl, { pages: 2 }, { id: 'shop' })).created).toBe('joined')
  })

  test('works for members that are added one by one, by a client or a handler', async () => {
    await using working = new Working(fabric)
    const spread = task<null>('spread')
    working.work([
      fetching,
      summing,
      spread.handle(async (_, ctx) => {
        const first = await ctx.flow.add(FIRST, fetched, { page: 1 })
        await ctx.flow.add(SECOND, fetched, { page: 2 }, { after: allOf(first), as: OWN })
        await ctx.flow.dependsOn(LONGEST)
        return await ctx.flow.wait()
      }),
    ])
    const open = await working.client.createFlow('open', {})
    const longest = await open.add(LONGEST, fetched, { page: 3 })
    await open.add('spread', spread, null)
    await open.add(`${FIRST}0`, sum, null, { after: allOf(longest) })
    await open.seal()

    expect(await working.until(open.output('spread'))).toEqual({ [FIRST]: 1, [OWN]: 2, [LONGEST]: 3 })
    expect(await working.until(open.output(`${FIRST}0`))).toEqual({ [LONGEST]: 3 })
  })

  test('an input name beyond its own limit is hashed too', async () => {
    await using working = new Working(fabric)
    working.work([fetching, summing])
    const long = flow('long', (f) => {
      const one = f.node('one', fetched, { input: { page: 1 } })
      return f.node('sum', sum, { input: null, after: allOf({ ['x'.repeat(INPUT_NAME_BYTES + 1)]: one }) })
    })
    const submitted = await working.until(working.client.submit(long, undefined))

    const [name = ''] = Object.keys(await working.until(submitted.result()))
    expect(name).toMatch(/^x+~[0-9a-f]{32}$/)
    expect(Buffer.byteLength(name)).toBe(INPUT_NAME_BYTES)
  })
})
