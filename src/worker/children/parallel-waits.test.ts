/** Several waits of one handler at once: only one call parks at a time, and none waits for a start that it holds back. */
import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import type { TaskContext } from '../../client/index.ts'
import { CHILD_START_MAX } from '../../kernel/index.ts'
import { createWorld } from '../worker.fixture.ts'

const parent = task<null>('parent')
const double = task<number, number>('double')
const doubleHandler = double.handle((n) => 2 * n)

const run = (handler: (ctx: TaskContext) => Promise<unknown>) => parent.handle((_, ctx) => handler(ctx))

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

test.each([2, 3, 90])('%i calls that are made together all return', async (count) => {
  await using world = createWorld()
  const ids = new Set<string>()
  world.work([
    double.handle((n, ctx) => {
      ids.add(ctx.executionId)
      return 2 * n
    }),
    run(async (ctx) => await Promise.all(numbers(count).map((n) => ctx.call(`n:${n}`, double, n)))),
  ])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toEqual(numbers(count).map((n) => 2 * n))
  expect(ids.size).toBe(count)
})

test('waits for several lists beside a step all return', async () => {
  await using world = createWorld()
  const list = (ctx: TaskContext, name: string, count: number) =>
    ctx.all(
      name,
      numbers(count).map((n) => ctx.spawn(`${name}:${n}`, double, n)),
    )
  world.work([
    doubleHandler,
    run(async (ctx) => {
      const after = async () => {
        const [first] = await list(ctx, 'late', 1)
        return await ctx.step('after', () => first)
      }
      const parts = [list(ctx, 'a', 2), list(ctx, 'b', CHILD_START_MAX + 1), after()] as const
      const [a, b, last] = await Promise.all(parts)
      return [a, b.length, last, await ctx.step('end', () => 'end')]
    }),
  ])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toEqual([[0, 2], CHILD_START_MAX + 1, 0, 'end'])
})

test('a sleep that begins while the first pages of a list are sent does not hold back the last page', async () => {
  await using world = createWorld()
  const count = 2 * CHILD_START_MAX + 10
  const sending = Promise.withResolvers<undefined>()
  let isFirst = true
  // The first pages are sent twice, so that the sleep begins before they are answered.
  world.store.plan = ({ operation }) => {
    if (operation !== 'startChildren' || !isFirst) return undefined
    isFirst = false
    sending.resolve(undefined)
    return 'before'
  }
  world.fabric.engine()
  world.work([
    doubleHandler,
    run(async (ctx) => {
      const nap = async () => {
        await sending.promise
        await ctx.sleep('nap', '1s')
      }
      const list = ctx.all(numbers(count).map((n) => ctx.spawn(`n:${n}`, double, n)))
      const [results] = await Promise.all([list, nap()])
      return results.length
    }),
  ])
  const handle = await world.fabric.submit(parent, null)
  await world.advance(10_000)

  expect(await world.stateOf(handle.id)).toBe('completed')
  expect(await handle.result()).toBe(count)
})
