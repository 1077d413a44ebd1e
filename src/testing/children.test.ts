import { expect, test } from 'vitest'
import { ChildFailedError, PermanentError, task } from '../client/index.ts'
import type { ChildSummary } from '../client/executions/description.ts'
import { stub } from './stub.ts'
import { testFabric } from './test-fabric.ts'

const order = task<{ items: readonly string[] }, string[]>('order')
const ship = task<{ item: string }, string>('ship')

const orderHandler = order.handle(async ({ items }, ctx) => {
  const first = await ctx.call('check', ship, { item: 'a sample' })
  return [first, ...(await ctx.all(items.map((item) => ctx.spawn(`ship:${item}`, ship, { item }))))]
})

test.each([
  ['before', 'check'],
  ['after', 'check'],
  ['before', 'ship:wax'],
  ['after', 'ship:wax'],
  ['before', 'all'],
  ['after', 'all'],
] as const)('a worker that crashes %s %s starts no child twice', async (moment, name) => {
  const shipped = stub(ship, ({ item }) => `${item} is on its way`)
  await using t = await testFabric([orderHandler, shipped])
  await t.crashWorker({ [moment]: name } as { before: string })
  const execution = await t.submit(order, { items: ['honey', 'wax'] })
  await t.until(execution, 'completed')

  expect(await execution.result()).toEqual(['a sample is on its way', 'honey is on its way', 'wax is on its way'])
  expect(shipped.calls.map(({ item }) => item).sort()).toEqual(['a sample', 'honey', 'wax'])
  expect(await execution.describe()).toMatchObject({ reclaimCount: 1 })
})

test('a stub stands in for a child, and its error is that of the child', async () => {
  const failing = stub(ship, () => {
    throw new PermanentError('no truck')
  })
  const seen: unknown[] = []
  const handler = order.handle(async (_, ctx) => {
    const error = await ctx.call('ship', ship, { item: 'honey' }).catch((thrown: unknown) => thrown)
    seen.push(error)
    return ['stays here']
  })
  await using t = await testFabric([handler, failing])
  const execution = await t.submit(order, { items: [] })
  await t.until(execution, 'completed')

  expect(seen.at(-1)).toBeInstanceOf(ChildFailedError)
  expect(seen.at(-1)).toMatchObject({ child: 'ship', task: 'ship', outcome: 'failed', message: 'no truck' })
})

test('the children of an execution are listed with their ends, and each names its parent', async () => {
  await using t = await testFabric([orderHandler, stub(ship, 'sent')])
  const execution = await t.submit(order, { items: ['honey'] })
  await t.until(execution, 'completed')

  const children: ChildSummary[] = []
  for await (const child of execution.children()) children.push(child)
  expect(children).toMatchObject([
    { name: 'check', outcome: 'completed', isDetached: false },
    { name: 'ship:honey', outcome: 'completed', isDetached: false },
  ])
  expect(await t.describe(children[0]?.id ?? '')).toMatchObject({
    parent: { id: execution.id, name: 'check', isDetached: false },
    purgeAt: undefined,
  })
})
