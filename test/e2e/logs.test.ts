import { expect, test } from 'vitest'
import { createFabric, task } from '../../src/index.ts'
import { workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

const charge = task('charge')

/** Writes three lines, under the key `c`. */
async function written(place: Workplace): Promise<void> {
  await using fabric = await createFabric(`sqlite:${place.path('flowfabric.db')}`, { log: 'silent' })
  await using _worker = await fabric.work([
    charge.handle(async (_, ctx) => {
      ctx.log.info({ order: 7 }, 'begun')
      await ctx.step('pay', () => ctx.log.warn({}, 'slow\u0007'))
      ctx.log.error({}, 'last')
    }),
  ])
  await (await fabric.submit(charge, undefined, { id: 'c' })).result()
}

interface Item {
  readonly kind: string
  readonly cursor: string
  readonly message: string
}

function itemsOf(text: string): Item[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Item)
}

test('log lines are printed, as text and as JSON, by level and behind a cursor', async () => {
  const place = await workplace()
  await written(place)

  const { stdout } = await place.run(['logs', 'c', '--follow'])
  expect(stdout).toMatch(
    /^\S+ info {2}#1 begun \{"order":7\}\n\S+ warn {2}#1 \[pay\] slow\\u0007\n\S+ error #1 last\n$/,
  )
  const items = itemsOf((await place.run(['logs', 'c', '--json'])).stdout)
  expect(items.map(({ message }) => message)).toEqual(['begun', 'slow\u0007', 'last'])
  expect(itemsOf((await place.run(['logs', 'c', '--json', '--from', items[0]!.cursor])).stdout)).toEqual(items.slice(1))
  expect(itemsOf((await place.run(['logs', 'c', '--json', '--level', 'error'])).stdout)).toEqual([items[2]])
})

test('an execution that is unknown exits with 3, and one without lines prints a remark', async () => {
  const place = await workplace()
  await place.run(['submit', 'greet', '--id', 'quiet'])

  expect((await place.run(['logs', 'nobody'])).code).toBe(3)
  expect(await place.run(['logs', 'quiet'])).toMatchObject({ code: 0, stdout: '' })
})
