/** Handlers and callers receive what the types of their values promise, and an input that may be undefined may be left out. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { flow, task } from '../../src/client/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const AT = '1970-01-01T00:00:00.000Z'

conforms('the types of stored values', ({ fabric }) => {
  test('hold for the input, for steps in the first run and later ones, and for the result', async () => {
    await using working = new Working(fabric)
    const seen: unknown[] = []
    const bill = task<{ due: Date }, { paid: Date; note: string | undefined }>('bill', {
      retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } },
    })
    working.work([
      bill.handle(async (input, ctx) => {
        const sent = await ctx.step('send', () => ({ at: new Date(0), bytes: undefined }))
        const proof = await ctx.step('proof', () => new Uint8Array([7]))
        expectTypeOf(input.due).toEqualTypeOf<string>()
        expectTypeOf(sent).toEqualTypeOf<{ at: string }>()
        expectTypeOf(proof).toEqualTypeOf<Uint8Array>()
        seen.push([input.due, sent, [...proof]])
        if (ctx.failureCount === 0) throw new Error('once more')
        return { paid: new Date(0), note: undefined }
      }),
    ])

    const execution = await working.until(working.client.submit(bill, { due: new Date(0) }))
    const result = await working.until(execution.result())

    expectTypeOf(result).toEqualTypeOf<{ paid: string; note?: string }>()
    expect(result).toEqual({ paid: AT })
    expect(seen).toEqual(Array.from({ length: 2 }, () => [AT, { at: AT }, [7]]))
  })

  test('are those of the schemas where there are schemas', async () => {
    await using working = new Working(fabric)
    const bill = task('bill', { input: z.coerce.date<string>(), output: z.coerce.date<string>() })
    working.work([bill.handle((due) => due.toISOString())])

    const execution = await working.until(working.client.submit(bill, AT))

    expect(await working.until(execution.result())).toEqual(new Date(0))
  })
})

conforms('an input that may be undefined', ({ fabric }) => {
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- the input of a task that takes none
  const sweep = task<void, string>('sweep')
  const handler = sweep.handle((input, ctx) => `${input} in ${ctx.key ?? 'no key'}`)

  test('is left out of a submit', async () => {
    await using working = new Working(fabric)
    working.work([handler])
    const { client } = working

    const alone = await working.until(client.submit(sweep))
    const many = await working.until(client.submitMany(sweep, [{}, { options: { id: 'b' } }]))

    expect(await working.until(alone.result())).toBe('undefined in no key')
    const results = many.map((outcome) => working.until((outcome.ok ? outcome.execution : alone).result()))
    expect(await Promise.all(results)).toEqual(['undefined in no key', 'undefined in b'])
    expect((await client.try.submit(sweep)).kind).toBe('created')
    const named = task<{ name: string }>('named')
    // @ts-expect-error -- this task has an input
    const submitNamed = () => client.submit(named)
    expect(submitNamed).toBeTypeOf('function')
  })

  test('is left out of nodes, of new members and of the submit of a flow', async () => {
    await using working = new Working(fabric)
    const grow = task<undefined, string>('grow')
    working.work([
      handler,
      grow.handle(async (_, ctx) => {
        await ctx.flow.add('leaf', sweep)
        return JSON.stringify(await ctx.flow.wait())
      }),
    ])
    const tree = flow('tree', (f) => ({ first: f.node('first', sweep), grown: f.node('grown', grow) }))
    const { client } = working

    const submitted = await working.until(client.submit(tree))
    const open = await working.until(client.createFlow('open'))
    const added = await working.until(open.add('leaf', sweep))
    await working.until(open.seal())

    expect(await working.until(submitted.result())).toEqual({
      first: 'undefined in no key',
      grown: '{"leaf":"undefined in no key"}',
    })
    expect(await working.until(added.result())).toBe('undefined in no key')
  })
})
