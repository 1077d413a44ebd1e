import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { task } from '../client/index.ts'
import { silentLog, virtualRuntime } from '../runtime/index.ts'
import { createFabric } from './fabric.ts'
import type { FabricOptions } from './fabric.ts'

const greet = task<string, string>('greet')
const greetHandler = greet.handle((name) => `Hello, ${name}`)

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-fabric-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

function fabricOn(store: string, options: FabricOptions = {}) {
  return createFabric(store, { log: 'silent', ...options })
}

test('a fabric on a file does the work that is submitted to it', async () => {
  await using fabric = await fabricOn(`sqlite:${path.join(folder, 'a.db')}`)
  await using worker = await fabric.work([greetHandler])

  const execution = await fabric.submit(greet, 'Ada')

  expect(await execution.result()).toBe('Hello, Ada')
  expect(worker.stats()).toMatchObject({ state: 'running', settled: { completed: 1 } })
})

test('work outlives the fabric that it was submitted to', async () => {
  const store = `sqlite:${path.join(folder, 'a.db')}`
  const first = await fabricOn(store)
  const { id } = await first.submit(greet, 'Ada')
  await first.close()

  await using second = await createFabric({ store, log: silentLog })
  await second.work([greetHandler])

  expect(await second.execution(id, greet).result()).toBe('Hello, Ada')
})

test('an engine runs beside the first worker, once for all workers of the fabric', async () => {
  const runtime = virtualRuntime()
  await using fabric = await fabricOn('memory:', { runtime })
  await fabric.work([greetHandler], { workerId: 'a' })
  await fabric.work([greetHandler], { workerId: 'b' })

  const engine = fabric.engine()
  expect(fabric.engine()).toBe(engine)
  expect(engine.metrics.snapshot()).toBeDefined()
  expect(() => fabric.engine({ intervals: {} })).toThrow('runs already')
})

test('a fabric may run an engine and no worker, or a worker and no engine', async () => {
  const runtime = virtualRuntime()
  await using alone = await fabricOn('memory:', { runtime })
  const engine = alone.engine({ intervals: { index_reconciler: 0 } })
  expect(engine.status()).toContainEqual({ kind: 'disabled', scanner: 'index_reconciler' })

  await using without = await fabricOn('memory:', { runtime })
  await without.work([greetHandler], { engine: false })
  expect(() => without.engine()).not.toThrow()
})

test('what stands around all handlers of a fabric is outside of what one worker adds', async () => {
  const steps: string[] = []
  await using fabric = await fabricOn('memory:')
  fabric.use((_, next) => (steps.push('fabric'), next()))
  await fabric.work([greetHandler], { middleware: [(_, next) => (steps.push('worker'), next())] })

  await (await fabric.submit(greet, 'Ada')).result()

  expect(steps).toEqual(['fabric', 'worker'])
})

test('closing a fabric drains its workers, ends its engine and refuses everything after', async () => {
  const runtime = virtualRuntime()
  const fabric = await fabricOn('memory:', { runtime })
  const finish = Promise.withResolvers<string>()
  const worker = await fabric.work([greet.handle(() => finish.promise)])
  await fabric.submit(greet, 'Ada')
  await runtime.advance(0)

  const closing = fabric.close()
  await runtime.advance(10_000)
  expect(worker.state).toBe('draining')
  finish.resolve('Hello at last')
  await runtime.advance(0)
  await closing

  expect(worker.stats()).toMatchObject({ state: 'stopped', settled: { completed: 1 } })
  expect(runtime.nextTimerAt()).toBeUndefined()
  await expect(fabric.submit(greet, 'Eve')).rejects.toMatchObject({ code: 'fabric_closed' })
  await expect(fabric.work([greetHandler])).rejects.toMatchObject({ code: 'fabric_closed' })
})

test('a handler may submit further work while its worker drains', async () => {
  const runtime = virtualRuntime()
  const fabric = await fabricOn('memory:', { runtime })
  const go = Promise.withResolvers<undefined>()
  const parent = task<null, string>('parent')
  await fabric.work([
    parent.handle(async () => {
      await go.promise
      return (await fabric.submit(greet, 'Ada')).id
    }),
  ])
  const execution = await fabric.submit(parent, null)
  await runtime.advance(0)

  const closing = fabric.close()
  go.resolve(undefined)
  await runtime.advance(0)
  await closing

  expect(execution.created).toBe('created')
})

test('a signal ends the whole fabric, so that nothing keeps the process alive', async () => {
  const runtime = virtualRuntime()
  const before = process.listenerCount('SIGINT')
  const fabric = await fabricOn('memory:', { runtime })
  const worker = await fabric.work([greetHandler], { signals: true })
  await runtime.advance(0)

  process.emit('SIGINT')
  await worker.closed
  await fabric.close()

  expect(fabric.isClosed).toBe(true)
  expect(runtime.nextTimerAt()).toBeUndefined()
  expect(process.listenerCount('SIGINT')).toBe(before)
})

test('a worker that is refused leaves no engine behind', async () => {
  const runtime = virtualRuntime()
  await using fabric = await fabricOn('memory:', { runtime })

  await expect(fabric.work([greetHandler], { concurrency: 0 })).rejects.toMatchObject({
    code: 'invalid_input',
    detail: { field: 'concurrency' },
  })

  expect(runtime.nextTimerAt()).toBeUndefined()
  expect(() => fabric.engine()).not.toThrow()
})

test('settings that make no sense are refused, and nothing is left open', async () => {
  await expect(createFabric('postgres:nowhere')).rejects.toMatchObject({ code: 'invalid_configuration' })
  await expect(fabricOn(`sqlite:${path.join(folder, 'a.db')}`, { namespace: '' })).rejects.toMatchObject({
    code: 'invalid_input',
  })
  await expect(fabricOn('memory:', { indexedTags: ['Not A Tag'] })).rejects.toMatchObject({
    code: 'invalid_configuration',
  })
})

test.each([
  { given: undefined, names: 'store' },
  { given: {}, names: 'store' },
  { given: { store: 'memory:', log: 'loud' }, names: 'log' },
  { given: { store: 'memory:', log: {} }, names: 'log' },
])('a fabric is refused by the name of the setting that is wrong: $given', async ({ given, names }) => {
  await expect(createFabric(given as never)).rejects.toMatchObject({
    code: 'invalid_configuration',
    detail: { field: names },
  })
})

test('options that are no object are refused by name, and nothing is stored', async () => {
  await using fabric = await fabricOn('memory:')

  await expect(fabric.submit(greet, 'Ada', null as never)).rejects.toMatchObject({ detail: { field: 'options' } })
  await expect(fabric.submit('greet' as never, 'Ada')).rejects.toMatchObject({
    code: 'unknown_task',
    detail: { field: 'task' },
  })
  expect((await fabric.list()).items).toEqual([])

  const execution = await fabric.submit(greet, 'Ada')
  await expect(execution.setTags(null as never)).rejects.toMatchObject({ detail: { field: 'tags' } })
})

test('an unknown option is refused by its name', async () => {
  await expect(createFabric('memory:', { namspace: 'acme' } as never)).rejects.toThrow('namspace')
})

test('a log that throws loses its lines and nothing else', async () => {
  const fail = () => {
    throw new Error('the disk of the log is full')
  }
  await using fabric = await createFabric('memory:', { log: { debug: fail, info: fail, warn: fail, error: fail } })
  const worker = await fabric.work([greetHandler])

  expect(await (await fabric.submit(greet, 'Ada')).result()).toBe('Hello, Ada')
  expect(await worker.close()).toMatchObject({ abandoned: 0 })
})

test('a description carries the parts that were asked for, and everything if none were named', async () => {
  await using fabric = await fabricOn('memory:')
  await fabric.work([greetHandler])
  const execution = await fabric.submit(greet, 'Ada')
  await execution.result()

  expect(await fabric.describe(execution.id)).toMatchObject({ input: 'Ada', result: 'Hello, Ada', attempts: [{}] })
  expect(await fabric.describe(execution.id, { result: true })).toMatchObject({
    state: 'completed',
    input: undefined,
    result: 'Hello, Ada',
    attempts: [],
  })
})
