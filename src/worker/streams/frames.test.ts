import { z } from 'zod'
import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import type { FrameItem } from '../../client/streams/read-frames.ts'
import { createWorld } from '../worker.fixture.ts'

const write = task('write', {
  input: z.number(),
  output: z.string(),
  frames: { token: z.string(), usage: z.object({ tokens: z.number() }), blob: z.instanceof(Uint8Array) },
  retry: { attempts: 3 },
})

async function collect(items: AsyncIterable<FrameItem>): Promise<FrameItem[]> {
  const all: FrameItem[] = []
  for await (const item of items) all.push(item)
  return all
}

function textOf(items: readonly FrameItem[]): string {
  return items
    .map((item) =>
      item.kind === 'frame' ? String(item.value) : item.kind === 'attempt' ? `[${item.attempt}]` : `<${item.count}>`,
    )
    .join('')
}

test('frames are read in the order in which they were written, with their attempt and their sequence', async () => {
  await using world = createWorld()
  world.work([
    write.handle(async (count, ctx) => {
      for (let i = 1; i <= count; i++) await ctx.frames.token(`${i} `)
      await ctx.frames.usage({ tokens: count })
      return 'done'
    }),
  ])

  const execution = await world.fabric.submit(write, 3)
  const reading = collect(execution.frames())
  await world.advance(100)

  const items = await reading
  expect(items).toMatchObject([
    { kind: 'attempt', attempt: 1 },
    { kind: 'frame', name: 'token', value: '1 ', sequence: 1, attempt: 1, isLive: false },
    { kind: 'frame', name: 'token', value: '2 ', sequence: 2 },
    { kind: 'frame', name: 'token', value: '3 ', sequence: 3 },
    { kind: 'frame', name: 'usage', value: { tokens: 3 }, sequence: 4 },
  ])
  expect(world.store.callsOf('appendFrames').length).toBeLessThan(3)
})

test('a reader that continues from a cursor gets what follows, and nothing twice', async () => {
  await using world = createWorld()
  world.work([
    write.handle(async (count, ctx) => {
      for (let i = 1; i <= count; i++) await ctx.frames.token(`${i} `)
      return 'done'
    }),
  ])
  const execution = await world.fabric.submit(write, 300)
  await execution.result()

  const all = await collect(execution.frames())
  for (const at of [0, 1, 150, 256, 257, 300]) {
    const rest = await collect(execution.frames({ from: all[at]!.cursor }))
    expect(rest).toEqual(all.slice(at + 1))
  }
})

test('a retry continues the sequence, and says that a new attempt begins', async () => {
  await using world = createWorld()
  world.work([
    write.handle(async (count, ctx) => {
      await ctx.step('first', async (s) => {
        await s.frames.token('a')
        await s.frames.token('b')
      })
      await ctx.frames.token('c')
      if (ctx.attempt < count) throw new Error('again')
      return 'done'
    }),
  ])
  const execution = await world.fabric.submit(write, 2)
  const reading = collect(execution.frames())
  await world.advance(60_000)

  expect(textOf(await reading)).toBe('[1]abc[2]c')
})

test('live frames lie between the durable ones, and never displace them', async () => {
  await using world = createWorld()
  world.work([
    write.handle(async (count, ctx) => {
      for (let i = 1; i <= count; i++) {
        await ctx.frames.token(`${i}`)
        await ctx.frames.token('.', { live: true })
      }
      return 'done'
    }),
  ])
  const execution = await world.fabric.submit(write, 5)
  await execution.result()

  expect(textOf(await collect(execution.frames()))).toBe('[1]1.2.3.4.5.')
})
