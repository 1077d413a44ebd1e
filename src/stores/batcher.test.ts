import { expect, test } from 'vitest'
import { BATCH_OPERATION_LIMIT } from '../kernel/index.ts'
import { virtualRuntime } from '../runtime/index.ts'
import { Batcher } from './batcher.ts'
import { EngineError } from '../kernel/engine-error.ts'
import { MemoryStore } from './memory/memory-store.ts'
import { executionPartition } from './store.ts'
import type { Store } from './store.ts'

function createBatcher(partitions: number) {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: partitions, indexedTags: [] })
  return { runtime, store, batcher: new Batcher(store, runtime) }
}

const partition = executionPartition(0)

test('while the store is unavailable, the calls queued behind a failed batch are rejected at once', async () => {
  const { runtime, store, batcher } = createBatcher(1)
  let sentCount = 0
  store.run = () => {
    sentCount += 1
    return Promise.reject(new EngineError('store_unavailable'))
  }

  const calls = Array.from({ length: 10 * BATCH_OPERATION_LIMIT }, () =>
    batcher.run(partition, 'inspectPartition', { limit: 1 }),
  )
  const outcomes = Promise.allSettled(calls)
  await runtime.advance(0)

  expect((await outcomes).every((outcome) => outcome.status === 'rejected')).toBe(true)
  expect(sentCount).toBe(2)
})

test('what fails for another reason fails alone', async () => {
  const { runtime, store, batcher } = createBatcher(1)
  const run = store.run.bind(store)
  let isFirst = true
  store.run = (where, calls) => {
    if (!isFirst) return run(where, calls)
    isFirst = false
    return Promise.reject(new EngineError('invalid_configuration'))
  }

  const calls = Array.from({ length: 3 * BATCH_OPERATION_LIMIT }, () =>
    batcher.run(partition, 'inspectPartition', { limit: 1 }),
  )
  const outcomes = Promise.allSettled(calls)
  await runtime.advance(0)

  expect((await outcomes).filter((outcome) => outcome.status === 'rejected')).toHaveLength(BATCH_OPERATION_LIMIT)
})

test('a store that works on one batch of a partition at a time is sent one at a time, and what waits grows', async () => {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: 4, indexedTags: [] })
  const sizes: number[] = []
  const first = Promise.withResolvers<undefined>()
  const run = store.run.bind(store)
  store.run = async (where, calls) => {
    sizes.push(calls.length)
    if (sizes.length === 1) await first.promise
    return run(where, calls)
  }
  const batcher = new Batcher(Object.assign(store, { batchesAtOnce: 1 }), runtime)
  const call = () => batcher.run(partition, 'inspectPartition', { limit: 1 })

  const calls = [call()]
  await runtime.advance(0)
  calls.push(call())
  await runtime.advance(0)
  calls.push(call())
  await runtime.advance(0)
  const sentMeanwhile = sizes.length
  first.resolve(undefined)
  await Promise.all(calls)

  expect([sentMeanwhile, sizes]).toEqual([1, [1, 2]])
})

test('a submit goes to a partition at rest rather than behind a batch that is under way', async () => {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: 4, indexedTags: [] })
  const held = Promise.withResolvers<never>()
  store.run = () => held.promise
  const batcher = new Batcher(Object.assign(store, { batchesAtOnce: 1 }), runtime)

  const numbers: number[] = []
  for (let i = 0; i < 4; i++) {
    const number = batcher.partitionNumberToFill()
    numbers.push(number)
    void batcher.run(executionPartition(number), 'inspectPartition', { limit: 1 }).catch(() => undefined)
    await runtime.advance(0)
    void batcher.run(executionPartition(number), 'inspectPartition', { limit: 1 }).catch(() => undefined)
  }

  expect(new Set(numbers).size).toBe(4)
})

test('new executions of one turn fill the batch of one partition after the other', async () => {
  const { runtime, batcher } = createBatcher(8)
  const countsOf = (numbers: readonly number[]) =>
    [...Map.groupBy(numbers, (number) => number).values()].map((same) => same.length)
  const turn = (size: number) => Array.from({ length: size }, () => batcher.partitionNumberToFill())

  const burst = turn(120)
  for (const number of burst) void batcher.run(executionPartition(number), 'inspectPartition', { limit: 1 })
  await runtime.advance(0)
  const later: number[] = []
  for (let i = 0; i < 4; i++) {
    later.push(batcher.partitionNumberToFill())
    await runtime.advance(0)
  }

  expect(countsOf(burst)).toEqual([50, 50, 20])
  expect(burst).not.toContain(later[0])
  expect(new Set(later).size).toBe(4)
})

test('processes do not all begin with the same partition', () => {
  const starts = new Set<number>()
  for (let i = 0; i < 50; i++) {
    const { runtime, batcher } = createBatcher(8)
    for (let draws = 0; draws < i; draws++) runtime.random()
    starts.add(batcher.partitionNumberToFill())
  }

  expect(starts.size).toBeGreaterThan(1)
})

/** A store whose batches return when the test releases them, with the sizes of those sent. */
function createHeldStore(busyBatches: number) {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: 8, indexedTags: [] })
  const run = store.run.bind(store)
  const sizes: number[] = []
  const returns: (() => void)[] = []
  store.run = async (where, calls) => {
    sizes.push(calls.length)
    await new Promise<void>((resolve) => returns.push(resolve))
    return run(where, calls)
  }
  const batcher = new Batcher(Object.assign(store, { busyBatches }), runtime)
  const call = (number: number) => batcher.run(executionPartition(number), 'inspectPartition', { limit: 1 })
  return { runtime, store, sizes, returns, call }
}

test('calls are held while enough batches keep the store busy, and travel together when one returns', async () => {
  const { runtime, sizes, returns, call } = createHeldStore(2)

  const calls = [call(0), call(1)]
  await runtime.advance(0)
  calls.push(call(2))
  await runtime.advance(0)
  calls.push(call(2))
  await runtime.advance(0)
  const sentMeanwhile = [...sizes]
  returns[0]?.()
  await calls[0]
  await runtime.advance(0)
  for (const answer of returns) answer()
  await Promise.all(calls)

  expect([sentMeanwhile, sizes]).toEqual([
    [1, 1],
    [1, 1, 2],
  ])
})

test('batches of a contended partition are sent one at a time', async () => {
  const { runtime, store, sizes, returns, call } = createHeldStore(10)
  let isContended = true
  Object.assign(store, { isContended: (where: string) => isContended && where === executionPartition(0) })

  const calls = [call(0), call(1)]
  await runtime.advance(0)
  calls.push(call(0), call(1))
  await runtime.advance(0)
  const sentMeanwhile = [...sizes]
  calls.push(call(0))
  await runtime.advance(0)
  isContended = false
  returns[0]?.()
  await calls[0]
  await runtime.advance(0)
  for (const answer of returns) answer()
  await Promise.all(calls)

  expect([sentMeanwhile, sizes]).toEqual([
    [1, 1, 1],
    [1, 1, 1, 2],
  ])
})

test('a full batch is not held', async () => {
  const { runtime, sizes, returns, call } = createHeldStore(1)

  const calls = [call(0)]
  await runtime.advance(0)
  calls.push(...Array.from({ length: BATCH_OPERATION_LIMIT + 1 }, () => call(1)))
  await runtime.advance(0)
  const sentMeanwhile = [...sizes]
  for (const answer of returns.splice(0)) answer()
  await calls[0]
  await runtime.advance(0)
  for (const answer of returns) answer()
  await Promise.all(calls)

  expect([sentMeanwhile, sizes]).toEqual([
    [1, BATCH_OPERATION_LIMIT],
    [1, BATCH_OPERATION_LIMIT, 1],
  ])
})

test('calls are not held for longer than a batch takes if no batch returns', async () => {
  const { runtime, sizes, returns, call } = createHeldStore(1)

  const calls = [call(0)]
  await runtime.advance(0)
  calls.push(call(1))
  await runtime.advance(0)
  const sentAtOnce = [...sizes]
  await runtime.advance(1)
  for (const answer of returns) answer()
  await Promise.all(calls)

  expect([sentAtOnce, sizes]).toEqual([[1], [1, 1]])
})

test('an early answer reaches its caller while the rest of the batch is under way', async () => {
  const { runtime, store } = createBatcher(1)
  const rest = Promise.withResolvers<undefined>()
  const run: Store['run'] = async (where, calls, onAnswer) => {
    const answers = await store.run(where, calls)
    onAnswer?.(1, answers[1]!)
    await rest.promise
    return answers
  }
  const batcher = new Batcher({ settings: store.settings, run } as Store, runtime)

  const order: string[] = []
  const calls = ['first', 'second'].map(async (name) => {
    await batcher.run(partition, 'inspectPartition', { limit: 1 })
    order.push(name)
  })
  await runtime.advance(0)
  await calls[1]
  rest.resolve(undefined)
  await Promise.all(calls)

  expect(order).toEqual(['second', 'first'])
})
