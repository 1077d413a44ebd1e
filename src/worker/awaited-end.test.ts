import { expect, test } from 'vitest'
import { flow } from '../client/define/flow.ts'
import { task } from '../client/define/task.ts'
import { allOf } from '../client/define/upstreams.ts'
import type { FlowNode } from '../client/define/flow-node.ts'
import type { Call } from '../stores/store.ts'
import { createWorld } from './worker.fixture.ts'

const link = task<number, number>('link')
const linkHandler = link.handle((input, { inputs }) => ((Object.values(inputs)[0] as number | undefined) ?? input) + 1)
const failing = task<undefined, number>('failing')
const failingHandler = failing.handle(() => {
  throw new Error('no')
})

const chain = flow('chain', (f, length: number) => {
  let last: FlowNode<number> = f.node('link0', link, { input: 0 })
  for (let i = 1; i < length; i++) last = f.node(`link${i}`, link, { after: allOf(last), input: 0 })
  return last
})

const fork = flow('fork', (f) => ({
  left: f.node('left', link, { input: 1 }),
  right: f.node('right', link, { input: 2 }),
}))

function reads(calls: readonly Call[]): string[] {
  return calls.map((call) => call.operation).filter((operation) => operation.startsWith('describe'))
}

test('a chain takes a trip for its submit and one for each of its links, and its result comes with the last', async () => {
  await using world = createWorld()
  world.work([linkHandler])
  const before = (await world.fabric.submit(chain, 2)).result()
  await world.settle()
  await before
  world.store.calls.length = 0
  world.store.tripCount = 0

  const result = world.fabric.submit(chain, 5).then((handle) => handle.result())
  await world.settle()

  expect(await result).toBe(5)
  expect(world.store.tripCount).toBe(6)
  expect(reads(world.store.calls)).toEqual(['describeFlow', 'describeExecution'])
})

test('results of several nodes come with the last of them', async () => {
  await using world = createWorld()
  world.work([linkHandler])

  const result = world.fabric.submit(fork, undefined).then((handle) => handle.result())
  await world.settle()

  expect(await result).toEqual({ left: 2, right: 3 })
  // The first read is for a waiter that has not followed the log since before the submit.
  expect(reads(world.store.calls)).toEqual(['describeFlow', 'describeFlow', 'describeExecution', 'describeExecution'])
})

test('the result of an execution comes with its completion', async () => {
  await using world = createWorld()
  world.work([linkHandler])
  world.store.calls.length = 0
  world.store.tripCount = 0

  const result = world.fabric.submit(link, 1, { delay: '1s' }).then((handle) => handle.result())
  await world.advance(2_000)

  expect(await result).toBe(2)
  const last = world.store.calls.findLastIndex((call) => call.operation === 'completeExecution')
  expect(reads(world.store.calls.slice(last))).toEqual(['describeExecution'])
})

test('an end that comes between a submit and the wait for it is not missed', async () => {
  await using world = createWorld()
  world.work([linkHandler])
  void (await world.fabric.submit(chain, 1)).result()
  await world.settle()

  const handle = await world.fabric.submit(chain, 3)
  await world.settle()

  expect(await handle.result()).toBe(3)
})

test('a completion whose reply is lost does not keep waiters from the result', async () => {
  await using world = createWorld()
  world.work([linkHandler])
  let isLost = true
  world.store.plan = (call) => (call.operation === 'completeExecution' && isLost ? 'after' : undefined)

  const result = world.fabric.submit(link, 1).then((handle) => handle.result())
  await world.advance(20_000)
  isLost = false
  await world.advance(20_000)

  expect(await result).toBe(2)
})

test('a waiter is notified of a failure as of any other end', async () => {
  await using world = createWorld()
  world.work([linkHandler, failingHandler])
  const broken = flow('broken', (f) => f.node('last', link, { after: allOf(f.node('first', failing)), input: 0 }))

  const result = world.fabric.submit(broken, undefined).then((handle) => handle.result())
  const outcome = result.catch((error: unknown) => error)
  await world.settle()

  expect(await outcome).toMatchObject({ code: 'flow_failed' })
})
