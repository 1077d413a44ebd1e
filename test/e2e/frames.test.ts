import { expect, test } from 'vitest'
import { z } from 'zod'
import { createFabric, task } from '../../src/index.ts'
import { workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

const write = task('write', { frames: { token: z.string(), blob: z.instanceof(Uint8Array) } })

/** Writes a few frames and a summary, under the key `w`. */
async function written(place: Workplace): Promise<void> {
  await using fabric = await createFabric(`sqlite:${place.path('flowfabric.db')}`, { log: 'silent' })
  await using _worker = await fabric.work([
    write.handle(async (_, ctx) => {
      await ctx.frames.token('a\u0007')
      await ctx.frames.token('b')
      await ctx.frames.blob(Uint8Array.of(1, 2, 3))
      await ctx.summary.patch({ stage: 'done' })
    }),
  ])
  await (await fabric.submit(write, undefined, { id: 'w' })).result()
}

interface Item {
  readonly kind: string
  readonly cursor: string
  readonly value?: unknown
}

function itemsOf(text: string): Item[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Item)
}

test('frames are printed, as text and as JSON, and continued behind a cursor', async () => {
  const place = await workplace()
  await written(place)

  const { stdout } = await place.run(['frames', 'w', '--follow'])
  expect(stdout).toMatch(/^attempt 1\n\S+ 1 token "a\\u0007"\n\S+ 2 token "b"\n\S+ 3 blob \{"base64":"AQID"\}\n$/)
  const items = itemsOf((await place.run(['frames', 'w', '--json'])).stdout)
  expect(items.map(({ kind, value }) => value ?? kind)).toEqual(['attempt', 'a\u0007', 'b', { base64: 'AQID' }])
  const rest = itemsOf((await place.run(['frames', 'w', '--json', '--from', items[1]!.cursor])).stdout)
  expect(rest).toEqual(items.slice(2))
  const named = itemsOf((await place.run(['frames', 'w', '--json', '--name', 'blob'])).stdout)
  expect(named).toEqual([items[0], items[3]])
})

test('show prints the summary', async () => {
  const place = await workplace()
  await written(place)

  expect((await place.run(['show', 'w'])).stdout).toContain('"stage": "done"')
  expect(await place.json('show', 'w')).toMatchObject({ summary: { version: 1, document: { stage: 'done' } } })
})

test('an execution that is unknown exits with 3, and one without frames prints a remark', async () => {
  const place = await workplace()
  await place.run(['submit', 'greet', '--id', 'quiet'])

  expect((await place.run(['frames', 'nobody'])).code).toBe(3)
  expect(await place.run(['frames', 'quiet'])).toMatchObject({ code: 0, stdout: '' })
})
