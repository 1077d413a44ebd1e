/** Streams as programs use them, on every store: a worker writes, readers follow, and neither a retry nor a reconnect shows. */
import { z } from 'zod'
import { expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import type { FrameItem } from '../../src/client/streams/read-frames.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const write = task('write', {
  input: z.number(),
  output: z.string(),
  frames: { token: z.string() },
  signals: { say: z.string() },
  retry: { attempts: 3, backoff: { kind: 'fixed', delay: 100 }, jitter: false },
})

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
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

conforms('frames between processes', ({ fabric }) => {
  test('reach readers that follow from the start, that come later and that continue from any item', async () => {
    await using working = new Working(fabric)
    await using elsewhere = new Working(fabric)
    working.work([
      write.handle(async (count, ctx) => {
        for (let i = 0; i < count; i++) {
          await ctx.frames.token(`${i} `)
          if (i % 40 === 0) await ctx.step('pause', () => 0)
        }
        return 'done'
      }),
    ])
    const execution = await working.until(working.client.submit(write, 200))
    const near = collect(execution.frames())
    const far = collect(elsewhere.client.execution(execution.id, write).frames())
    const items = await working.until(near)

    expect(textOf(items)).toBe(`[1]${Array.from({ length: 200 }, (_, i) => `${i} `).join('')}`)
    expect(await working.until(far)).toEqual(items)
    expect(await working.until(collect(execution.frames()))).toEqual(items)
    for (const at of [0, 57, 200]) {
      const rest = collect(elsewhere.client.execution(execution.id, write).frames({ from: items[at]!.cursor }))
      expect(await working.until(rest)).toEqual(items.slice(at + 1))
    }
  })

  test('of recorded steps are not written again by a retry, and those of failed tries are followed by those of the next', async () => {
    await using working = new Working(fabric)
    working.maintain()
    working.work([
      write.handle(async (attempts, ctx) => {
        await ctx.step('recorded', (s) => s.frames.token('a'))
        await ctx.frames.token(`b${ctx.attempt}`)
        await ctx.step('tried', async (s) => {
          await s.frames.token('c')
          if (ctx.attempt < attempts) throw new Error('again')
        })
        return 'done'
      }),
    ])
    const execution = await working.until(working.client.submit(write, 2))

    expect(textOf(await working.until(collect(execution.frames())))).toBe('[1]ab1c[2]b2c')
  })

  test('before a wait are stored when the execution is parked, and the same attempt continues after it', async () => {
    await using working = new Working(fabric)
    working.maintain()
    working.work([
      write.handle(async (_, ctx) => {
        await ctx.step('before', (s) => s.frames.token('a'))
        await ctx.sleep('a while', '2s')
        await ctx.frames.token('b')
        return 'done'
      }),
    ])
    const execution = await working.until(working.client.submit(write, 0))

    expect(textOf(await working.until(collect(execution.frames())))).toBe('[1]ab')
    expect((await execution.describe()).attempt).toBe(1)
  })

  test('of a worker that dies are kept, and a reader sees each frame once', async () => {
    await using working = new Working(fabric)
    working.maintain()
    const started = Promise.withResolvers<undefined>()
    const dying = working.work(
      [
        write.handle(async (_, ctx) => {
          await ctx.step('first', (s) => s.frames.token('a'))
          await ctx.step('second', async (s) => {
            await s.frames.token('b')
            started.resolve(undefined)
            await new Promise(() => undefined)
          })
          return 'never'
        }),
      ],
      { leaseTtl: '2s' },
    )
    const execution = await working.until(working.client.submit(write, 0))
    const reading = collect(execution.frames())
    await working.until(started.promise)
    await working.elapse(50)
    dying.crash()
    working.work(
      [
        write.handle(async (_, ctx) => {
          await ctx.step('first', (s) => s.frames.token('never'))
          await ctx.step('second', (s) => s.frames.token('c'))
          return 'done'
        }),
      ],
      { leaseTtl: '2s' },
    )

    expect(textOf(await working.until(reading))).toBe('[1]ab[2]c')
  })

  test('are followed by name, and their readers end with their signal', async () => {
    await using working = new Working(fabric)
    const release = Promise.withResolvers<undefined>()
    working.work([
      write.handle(async (_, ctx) => {
        await ctx.frames.token('a')
        await release.promise
        return 'done'
      }),
    ])
    const execution = await working.until(working.client.submit(write, 0))
    const abort = new AbortController()
    const seen: FrameItem[] = []
    const reading = (async () => {
      for await (const item of execution.frames({ name: 'token', signal: abort.signal })) {
        seen.push(item)
        if (item.kind === 'frame') abort.abort()
      }
    })()
    await working.until(reading)

    expect(textOf(seen)).toBe('[1]a')
    release.resolve(undefined)
    await working.until(execution.result())
  })

  test('of many readers of one stream cost few reads', async () => {
    await using working = new Working(fabric)
    working.work([write.handle(async (_, ctx) => (await ctx.frames.token('a'), 'done'))])
    const execution = await working.until(working.client.submit(write, 0))
    await working.until(execution.result())
    const readers = Array.from({ length: 500 }, () => collect(execution.frames()))

    const all = await working.until(Promise.all(readers))
    expect(new Set(all.map(textOf))).toEqual(new Set(['[1]a']))
  })
})

conforms('the summary of an execution', ({ fabric }) => {
  test('is merged by the handler and followed, and a retry continues it', async () => {
    await using working = new Working(fabric)
    working.maintain()
    working.work([
      write.handle(async (attempts, ctx) => {
        await ctx.summary.patch({ stage: `attempt ${ctx.attempt}`, done: { [`a${ctx.attempt}`]: [], gone: 1 } })
        await ctx.summary.patch({ done: { gone: null }, empty: {} })
        if (ctx.attempt < attempts) throw new Error('again')
        expect(await ctx.summary.read()).toEqual({ stage: 'attempt 2', done: { a1: [], a2: [] }, empty: {} })
        return 'done'
      }),
    ])
    const execution = await working.until(working.client.submit(write, 2))
    const followed = await working.until(collect(execution.summaries()))

    const document = { stage: 'attempt 2', done: { a1: [], a2: [] }, empty: {} }
    expect(await working.until(execution.summary())).toMatchObject({ document, attempt: 2 })
    expect(followed.at(-1)).toMatchObject({ document })
    const versions = followed.map(({ version }) => version)
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  })
})

conforms('an inbox', ({ fabric }) => {
  test('hands on messages as they arrive, without parking, and a retry continues with the one that failed', async () => {
    await using working = new Working(fabric)
    working.maintain()
    const seen: string[] = []
    working.work([
      write.handle(async (_, ctx) => {
        for await (const message of ctx.inbox('say')) {
          seen.push(`${ctx.attempt}: ${message.value}`)
          if (message.value === 'fail' && ctx.attempt === 1) throw new Error('again')
          if (message.value === 'stop') break
        }
        return 'done'
      }),
    ])
    const execution = await working.until(working.client.submit(write, 0))
    for (const value of ['a', 'b', 'fail']) await working.until(execution.signal('say', value, { key: value }))
    await working.elapse(300)
    await working.until(execution.signal('say', 'a', { key: 'a' }))
    await working.until(execution.signal('say', 'stop'))

    expect(await working.until(execution.result())).toBe('done')
    expect(seen).toEqual(['1: a', '1: b', '1: fail', '2: fail', '2: stop'])
    expect((await execution.describe()).state).toBe('completed')
  })
})
