/** Frames between a handler and a store that fails: nothing is lost, repeated or written by a former holder. */
import { z } from 'zod'
import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import type { FrameItem } from '../../client/index.ts'
import { FRAME_BYTES, SUMMARY_BYTES } from '../../kernel/index.ts'
import type { OperationName } from '../../kernel/index.ts'
import type { TaskContext } from '../../client/define/context.ts'
import type { World } from '../worker.fixture.ts'
import { createWorld } from '../worker.fixture.ts'
import { WAITING_BYTES_MAX, WAITING_FRAMES_MAX } from './frame-writer.ts'

const frames = { token: z.string(), data: z.instanceof(Uint8Array) }
const write = task('write', { output: z.unknown(), frames, signals: { say: z.string() } })

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function textOf(items: AsyncIterable<FrameItem>): Promise<string> {
  const all = await collect(items)
  return all.flatMap((item) => (item.kind === 'frame' ? [String(item.value)] : [])).join('')
}

/** Fails each call of an operation for a number of times. */
function failing(world: World, operation: OperationName, how: 'before' | 'after', times: number): void {
  let failures = 0
  world.store.plan = (call) => (call.operation === operation && ++failures <= times ? how : undefined)
}

test.each(['before', 'after'] as const)(
  'an append whose call fails %s its effect is repeated, and counts once',
  async (how) => {
    await using world = createWorld()
    failing(world, 'appendFrames', how, 3)
    world.work([
      write.handle(async (_, ctx) => {
        for (const value of ['a', 'b', 'c']) {
          await ctx.frames.token(value)
          await ctx.summary.patch({ [value]: true })
        }
      }),
    ])
    const execution = await world.fabric.submit(write)
    await world.advance(60_000)

    expect(await textOf(execution.frames())).toBe('abc')
    expect(await execution.summary()).toMatchObject({ document: { a: true, b: true, c: true } })
    expect((await execution.describe()).state).toBe('completed')
  },
)

test('a step is recorded after its frames are stored', async () => {
  await using world = createWorld()
  failing(world, 'appendFrames', 'before', 2)
  world.work([
    write.handle(async (_, ctx) => {
      await ctx.step('one', async (s) => {
        await s.frames.token('a')
        await s.summary.patch({ step: s.name })
      })
    }),
  ])
  await world.fabric.submit(write)
  await world.advance(60_000)

  const order = world.store.calls.map(({ operation }) => operation)
  expect(order.lastIndexOf('appendFrames')).toBeLessThan(order.indexOf('recordStep'))
  expect(order.indexOf('recordStep')).toBeLessThan(order.indexOf('completeExecution'))
})

test('a handler that is faster than the store waits for room', async () => {
  await using world = createWorld()
  let isDown = true
  world.store.plan = ({ operation }) => (isDown && operation === 'appendFrames' ? 'before' : undefined)
  let written = 0
  world.work([
    write.handle(async (_, ctx) => {
      for (; written < 3 * WAITING_FRAMES_MAX; written++) await ctx.frames.token('x')
    }),
  ])
  const execution = await world.fabric.submit(write)
  await world.advance(1_000)
  expect(written).toBe(WAITING_FRAMES_MAX)
  isDown = false
  await world.advance(20_000)

  expect(await textOf(execution.frames())).toHaveLength(3 * WAITING_FRAMES_MAX)
  // One append takes many frames.
  expect(world.store.callsOf('appendFrames').length).toBeLessThan(30)
})

test('large frames make a handler wait by their bytes', async () => {
  await using world = createWorld()
  world.store.plan = ({ operation }) => (operation === 'appendFrames' ? 'before' : undefined)
  let written = 0
  world.work([
    write.handle(async (_, ctx) => {
      for (; written < 100; written++) await ctx.frames.data(new Uint8Array(FRAME_BYTES))
    }),
  ])
  await world.fabric.submit(write)
  await world.advance(1_000)

  expect(written).toBe(WAITING_BYTES_MAX / FRAME_BYTES)
})

test('bytes that a handler changes later are stored as they were', async () => {
  await using world = createWorld()
  world.work([
    write.handle(async (_, ctx) => {
      const buffer = Uint8Array.of(1, 2, 3)
      await ctx.frames.data(buffer)
      buffer.fill(9)
      await ctx.frames.data(buffer)
    }),
  ])
  const execution = await world.fabric.submit(write)
  await execution.result()

  const values = (await collect(execution.frames())).flatMap((item) => (item.kind === 'frame' ? [item.value] : []))
  expect(values).toEqual([Uint8Array.of(1, 2, 3), Uint8Array.of(9, 9, 9)])
})

test.each([
  ['of another type', (ctx: TaskContext) => ctx.frames.pipe('token', [1]), 'invalid_output'],
  ['that is too large', (ctx: TaskContext) => ctx.frames.pipe('token', ['x'.repeat(FRAME_BYTES)]), 'payload_too_large'],
  ['of a name that the task does not declare', (ctx: TaskContext) => ctx.frames.pipe('other', ['a']), 'invalid_input'],
  ['of the summary that is no object', (ctx: TaskContext) => ctx.summary.patch([] as never), 'invalid_input'],
  [
    'of the summary that makes it too large',
    (ctx: TaskContext) => ctx.summary.patch({ text: 'x'.repeat(SUMMARY_BYTES) }),
    'payload_too_large',
  ],
])('a frame %s is refused, and the others are kept', async (_, misuse, code) => {
  await using world = createWorld()
  world.work([
    write.handle(async (__, ctx) => {
      await ctx.frames.token('a')
      await ctx.summary.patch({ kept: 1 })
      await expect(misuse(ctx as unknown as TaskContext)).rejects.toMatchObject({ code })
      await ctx.frames.token('b')
    }),
  ])
  const execution = await world.fabric.submit(write)
  await execution.result()

  expect(await textOf(execution.frames())).toBe('ab')
  expect(await execution.summary()).toMatchObject({ document: { kept: 1 } })
})

test('an iterable is written by pipe, or as live frames', async () => {
  await using world = createWorld()
  world.work([
    write.handle(async (_, ctx) => {
      async function* letters() {
        for (const letter of 'abc') yield await Promise.resolve(letter)
      }
      return [await ctx.frames.pipe('token', letters()), await ctx.frames.pipe('token', ['l'], { live: true })]
    }),
  ])
  const execution = await world.fabric.submit(write)

  expect(await execution.result()).toEqual([3, 1])
  expect(await collect(execution.frames())).toMatchObject([
    { kind: 'attempt' },
    { value: 'a', isLive: false },
    { value: 'b' },
    { value: 'c', sequence: 3 },
    { value: 'l', isLive: true, sequence: 3 },
  ])
})

test('after the lease is lost nothing is written, and the calls throw', async () => {
  await using world = createWorld()
  const lost = Promise.withResolvers<unknown>()
  const worker = world.work([
    write.handle(async (_, ctx) => {
      await ctx.step('a', (s) => s.frames.token('a'))
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      await ctx.frames.token('b').catch(lost.resolve)
    }),
  ])
  const execution = await world.fabric.submit(write)
  await world.settle()
  await world.fabric.revokeLease(execution.id, 'a test')
  await world.advance(15_000)

  expect(await lost.promise).toMatchObject({ name: 'LeaseLostError' })
  expect(await textOf(execution.frames({ follow: false }))).toBe('a')
  worker.crash()
})

test('frames that cannot be stored fail the attempt instead of completing it', async () => {
  await using world = createWorld()
  world.work([
    write.handle(async (_, ctx) => {
      await ctx.frames.token('a')
    }),
  ])
  const run = world.store.run.bind(world.store)
  world.store.run = async (partition, calls) => {
    const answers = await run(partition, calls)
    return answers.map((answer, i) =>
      calls[i]?.operation === 'appendFrames' ? { kind: 'fault', reason: 'damaged', recordId: 'x' } : answer,
    )
  }
  const execution = await world.fabric.submit(write)
  await world.advance(60_000)

  expect(await execution.describe()).toMatchObject({ state: 'failed' })
})

test('readers follow a store whose wake-ups are lost, and one whose wake-ups say nothing', async () => {
  for (const trouble of ['isMute', 'isVague'] as const) {
    await using world = createWorld()
    world.store[trouble] = true
    world.work([
      write.handle(async (_, ctx) => {
        await ctx.frames.token('a')
        await ctx.sleep('a while', 3_000)
        await ctx.frames.token('b')
      }),
    ])
    const execution = await world.fabric.submit(write)
    const reading = textOf(execution.frames())
    await world.advance(60_000)

    // What is written outside of steps is written again by the run after the sleep.
    expect(await reading).toBe('aab')
  }
})

test('a message that does not fit its schema is passed over, and a second loop is refused', async () => {
  await using world = createWorld()
  const seen: string[] = []
  world.work([
    write.handle(async (_, ctx) => {
      for await (const message of ctx.inbox('say')) {
        seen.push(message.value)
        await expect(ctx.inbox('say').next()).rejects.toMatchObject({ code: 'invalid_input' })
        await message.done()
        if (message.value === 'stop') return
      }
    }),
  ])
  const execution = await world.fabric.submit(write)
  await world.fabric.signal(execution.id, 'say', 'hello')
  await world.fabric.signal(execution.id, 'say', 42)
  await world.fabric.signal(execution.id, 'say', 'stop')
  await world.advance(100)

  expect(seen).toEqual(['hello', 'stop'])
  expect((await execution.describe()).state).toBe('completed')
  expect(world.linesOf('warn')).toMatchObject([{ fields: { inbox: 'say', sequence: 2 } }])
})

test('an inbox whose calls lose their replies gives each message once', async () => {
  await using world = createWorld()
  const execution = await world.fabric.submit(write)
  for (const value of ['a', 'b', 'c']) await world.fabric.signal(execution.id, 'say', value)
  failing(world, 'takeSignals', 'after', 3)
  const seen: string[] = []
  world.work([
    write.handle(async (_, ctx) => {
      for await (const message of ctx.inbox('say')) {
        seen.push(message.value)
        if (seen.length === 3) return
      }
    }),
  ])
  await world.advance(60_000)

  expect(seen).toEqual(['a', 'b', 'c'])
})

test.each(['pipe', 'then', '1', 'a b', 'x'.repeat(65)])('a frame cannot be called %j', (name) => {
  expect(() => task('t', { frames: { [name]: z.string() } })).toThrow(
    expect.objectContaining({ code: 'invalid_input' }),
  )
})
