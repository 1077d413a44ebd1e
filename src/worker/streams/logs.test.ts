import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import type { LogItem, LogsOptions } from '../../client/streams/read-logs.ts'
import { LOG_LINE_BYTES } from '../../kernel/index.ts'
import { createWorld } from '../worker.fixture.ts'

const talk = task('talk', { retry: { attempts: 2 } })

async function collect(items: AsyncIterable<LogItem>): Promise<LogItem[]> {
  const all: LogItem[] = []
  for await (const item of items) all.push(item)
  return all
}

const now: LogsOptions = { follow: false }

test('lines have their level, their step, their attempt and their fields', async () => {
  await using world = createWorld()
  world.work([
    talk.handle(async (_, ctx) => {
      ctx.log.info({ order: 7, big: 2n }, 'begun')
      await ctx.step('charge', () => ctx.log.warn({ error: new TypeError('no') }, 'slow'))
      if (ctx.attempt === 1) throw new Error('once')
      ctx.log.error({}, 'last')
    }),
  ])

  const execution = await world.fabric.submit(talk)
  const reading = collect(execution.logs())
  await world.advance(60_000)

  expect(await reading).toMatchObject([
    { kind: 'line', level: 'info', message: 'begun', fields: { order: 7, big: '2' }, attempt: 1, sequence: 1 },
    { level: 'warn', message: 'slow', step: 'charge', fields: { error: 'TypeError: no' }, attempt: 1 },
    { level: 'info', message: 'begun', step: undefined, attempt: 2 },
    { level: 'error', message: 'last', fields: {}, attempt: 2, sequence: 4 },
  ])
  expect(await collect(execution.logs({ ...now, level: 'warn' }))).toMatchObject([
    { message: 'slow' },
    { message: 'last' },
  ])
})

test('the lines of a run cost one call, in the batch that ends it', async () => {
  await using world = createWorld()
  world.work([
    talk.handle((_, ctx) => {
      for (let i = 0; i < 200; i++) ctx.log.info({ i }, 'line')
    }),
  ])

  const batches = new Map<string, number[]>()
  world.store.plan = ({ operation }) => {
    batches.set(operation, [...(batches.get(operation) ?? []), world.store.tripCount])
    return undefined
  }
  await world.fabric.submit(talk)
  await world.advance(100)

  expect(batches.get('appendLogLines')).toHaveLength(1)
  expect(batches.get('appendLogLines')).toEqual(batches.get('completeExecution'))
})

test('lines of a run that waits are stored with the call that parks it, and those of a long run within a second', async () => {
  await using world = createWorld()
  world.work([
    talk.handle(async (_, ctx) => {
      await ctx.step('talk', () => ctx.log.info({}, 'before'))
      await ctx.sleep('night', '1h')
      ctx.log.info({}, 'after')
      await new Promise<void>((resolve) => world.runtime.after(30_000, resolve))
    }),
  ])

  const execution = await world.fabric.submit(talk)
  await world.advance(100)
  expect(await collect(execution.logs(now))).toMatchObject([{ message: 'before' }])
  await world.advance(3_600_000)
  await world.advance(2_000)
  const lines = await collect(execution.logs(now))
  expect(lines).toMatchObject([{ message: 'before' }, { message: 'after', attempt: 1 }])
})

test('a line that is too long is cut, and one whose fields are no JSON is kept without them', async () => {
  await using world = createWorld()
  const loop: Record<string, unknown> = {}
  loop['self'] = loop
  world.work([
    talk.handle((_, ctx) => {
      ctx.log.info({ text: 'x'.repeat(LOG_LINE_BYTES) }, 'large fields')
      ctx.log.info({}, '😀'.repeat(LOG_LINE_BYTES))
      ctx.log.info(loop, 'a loop')
    }),
  ])

  const execution = await world.fabric.submit(talk)
  await world.advance(100)

  const lines = await collect(execution.logs(now))
  expect(lines).toMatchObject([
    { message: 'large fields', fields: {}, isCut: true },
    { isCut: true },
    { message: 'a loop', isCut: true },
  ])
})

test('only lines from the level of the worker on are kept', async () => {
  await using world = createWorld()
  world.work(
    [
      talk.handle((_, ctx) => {
        ctx.log.debug({}, 'debug')
        ctx.log.warn({}, 'warn')
      }),
    ],
    { keepLog: 'warn' },
  )

  const execution = await world.fabric.submit(talk)
  await world.advance(100)

  expect(await collect(execution.logs(now))).toMatchObject([{ message: 'warn' }])
})

test('a reader continues behind a cursor, and gets the number of lines that are not kept', async () => {
  await using world = createWorld()
  world.work([
    talk.handle(async (_, ctx) => {
      for (let i = 1; i <= 1_500; i++) {
        ctx.log.info({}, `line ${i}`)
        if (i % 300 === 0) await new Promise<void>((resolve) => world.runtime.after(1_100, resolve))
      }
    }),
  ])

  const execution = await world.fabric.submit(talk)
  await world.advance(10_000)

  const items = await collect(execution.logs(now))
  expect(items[0]).toMatchObject({ kind: 'trimmed', count: 600 })
  expect(items.at(-1)).toMatchObject({ message: 'line 1500', sequence: 1_500 })
  const rest = await collect(execution.logs({ ...now, from: items.at(-2)!.cursor }))
  expect(rest).toEqual(items.slice(-1))
})

test('lines for which there is no room are counted, and never delay their handler', async () => {
  await using world = createWorld()
  world.work([
    talk.handle((_, ctx) => {
      for (let i = 0; i < 2_000; i++) ctx.log.info({}, `line ${i}`)
    }),
  ])

  const execution = await world.fabric.submit(talk)
  await world.advance(100)

  const lines = await collect(execution.logs(now))
  expect(lines).toHaveLength(513)
  expect(lines.at(-1)).toMatchObject({
    level: 'warn',
    message: expect.stringContaining('1488 lines were not kept') as string,
  })
})
