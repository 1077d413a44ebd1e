/** Who spends a budget besides the executions of its tasks: children, the members of a flow, and each execution alone. */
import { expect, test } from 'vitest'
import { budget, flow, task } from '../client/index.ts'
import { testFabric } from './test-fabric.ts'

interface Job {
  readonly tenant: string
}

const company = budget('company', { hard: { tokens: 1_000 } })
const tenants = budget<Job>('tenants', { parent: company, key: ({ tenant }) => tenant, inherit: true })
const leaf = task<number>('leaf')
const leaves = leaf.handle(async (tokens, ctx) => {
  await ctx.spend({ tokens })
})

test('children, and theirs, spend what their parent spends where the budget is inherited', async () => {
  const ownOnly = budget('own-only', { hard: { tokens: 1_000 } })
  const parent = task<Job>('parent', { budgets: [tenants, ownOnly] })
  const middle = task('middle')
  await using t = await testFabric([
    leaves,
    middle.handle(async (_, ctx) => {
      await ctx.all([ctx.spawn('a', leaf, 2), ctx.spawn('b', leaf, 3)])
    }),
    parent.handle(async (_, ctx) => {
      await ctx.call('own', leaf, 10, { budgets: [tenants.for({ key: 'other' })] })
      await ctx.call('middle', middle, undefined)
    }),
  ])
  await t.until(await t.submit(parent, { tenant: 'acme' }), 'completed')

  const { keys } = await t.budgets.describe('tenants')
  expect(keys.map(({ key, dimensions }) => [key, dimensions[0]?.spent])).toEqual([
    ['acme', 5],
    ['other', 10],
  ])
  expect(await t.budgets.describe('company')).toMatchObject({ keys: [{ dimensions: [{ spent: 15 }] }] })
  expect((await t.budgets.describe('own-only')).keys.flatMap(({ dimensions }) => dimensions)).toEqual([])
})

test('the members of a flow spend its budgets, and so do their children and members that are added later', async () => {
  const spawning = task('spawning')
  const handlers = [
    leaves,
    spawning.handle(async (_, ctx) => {
      await ctx.call('child', leaf, 1)
    }),
  ]
  const release = flow('release', { budgets: [tenants] }, (f, _input: Job) => {
    f.node('first', leaf, { input: 20 })
    f.node('second', spawning)
  })
  await using t = await testFabric(handlers)
  await (await t.submit(release, { tenant: 'acme' }, { budgets: [budget('runs', {})] })).result()
  const open = await t.createFlow('open', { budgets: [tenants.for({ key: 'late' })] })
  await open.add('first', leaf, 7)
  await open.add('other', leaf, 5, { budgets: [tenants.for({ key: 'mine' })] })
  await open.seal()
  await open.result()

  const { keys } = await t.budgets.describe('tenants')
  expect(keys.map(({ key, dimensions }) => [key, dimensions[0]?.spent])).toEqual([
    ['acme', 21],
    ['late', 7],
    ['mine', 5],
  ])
  expect(await t.budgets.describe('runs')).toMatchObject({ keys: [{ dimensions: [{ spent: 21 }] }] })
})

test('each execution has a budget of its own below a shared one, and shares it with its children', async () => {
  const runs = budget('runs', {
    parent: company,
    per: 'execution',
    inherit: true,
    hard: { tokens: 10 },
    onBreach: 'cancel',
  })
  const agent = task<number>('agent', { budgets: [runs] })
  await using t = await testFabric([
    leaves,
    agent.handle(async (tokens, ctx) => {
      await ctx.call('child', leaf, 6)
      const reserved = await ctx.reserve({ tokens })
      await reserved.settle({ tokens })
    }),
  ])
  const fits = await t.submit(agent, 4, { id: 'fits' })
  await t.until(fits, 'completed')
  const again = await t.submit(agent, 4, { id: 'fits', ifExists: 'after' })
  await t.until(again, 'completed')
  await t.until(await t.submit(agent, 5), 'cancelled')

  const { keys } = await t.budgets.describe('runs')
  expect(keys.map(({ dimensions }) => dimensions[0]?.spent).sort()).toEqual([10, 10, 6])
  expect(keys.filter(({ key }) => key.startsWith(fits.id))).toHaveLength(2)
  expect(await t.budgets.describe('company')).toMatchObject({ keys: [{ dimensions: [{ spent: 26, reserved: 0 }] }] })
  expect(() => runs.for({ key: 'acme' })).toThrow("The key of budget 'runs' is the execution")
})

test('an execution uses at most four trees, the inherited ones included', async () => {
  const many = ['a', 'b', 'c', 'd'].map((name) => budget(name, { inherit: true }))
  const parent = task('parent', { budgets: many })
  const other = task('other', { budgets: [company] })
  await using t = await testFabric([
    other.handle(() => undefined),
    parent.handle(async (_, ctx) => {
      await ctx.call('child', other, undefined)
    }),
  ])

  expect(await t.until(await t.submit(parent, undefined), 'failed')).toMatchObject({
    failure: { message: expect.stringContaining('the inherited ones included, are of 5 trees') as string },
  })
})
