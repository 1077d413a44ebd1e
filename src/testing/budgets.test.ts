import { expect, test } from 'vitest'
import { BudgetExceededError } from '../contract.ts'
import { budget, limit, task, usd } from '../client/index.ts'
import { testFabric } from './test-fabric.ts'

interface Job {
  readonly tenant: string
  readonly tokens: number
}

const company = budget('company', { hard: { tokens: 1_000 } })
const tenants = budget<Job>('tenants', {
  parent: company,
  key: ({ tenant }) => tenant,
  hard: { tokens: 100 },
  every: 'hour',
})
const draft = task<Job, string>('draft', { budgets: [tenants] })

/** Reserves, calls and settles, as a handler around a model does. */
const drafts = draft.handle(async ({ tokens }, ctx) => {
  return await ctx.step('write', async (step) => {
    const reserved = await step.reserve({ tokens })
    await reserved.settle({ tokens })
    return 'done'
  })
})

test('money is counted in millionths', () => {
  expect([usd(0.03), usd(1.5), usd(0.1 + 0.2)]).toEqual([30_000, 1_500_000, 300_000])
  expect(() => usd(-1)).toThrow('must be a number of dollars')
})

test('a definition that is not valid fails the submit, and nothing else', async () => {
  const slow = limit('slow', { concurrency: 1 })
  const odd = budget('odd', { hard: { tokens: 1 }, every: { cron: 'never' } })
  await using t = await testFabric([drafts])

  await expect(t.submit(task('odd', { limits: [slow], budgets: [odd] }), undefined)).rejects.toThrow(
    "The period 'never' of budget 'odd' is not valid",
  )
})

test('work is refused without an attempt, waits, and is woken by a raise', async () => {
  await using t = await testFabric([drafts])
  await t.until(await t.submit(draft, { tenant: 'acme', tokens: 60 }), 'completed')
  const tooMuch = await t.submit(draft, { tenant: 'acme', tokens: 41 }, { id: 'too-much' })
  await t.until(tooMuch, 'delayed')
  await t.until(await t.submit(draft, { tenant: 'other', tokens: 100 }), 'completed')
  const blocked = await t.submit(draft, { tenant: 'other', tokens: 10 }, { id: 'blocked' })
  await t.until(blocked, 'rate_limited')

  expect((await t.why('blocked')).text).toContain(
    "the budget 'tenants' with the key 'other': 100 of 100 tokens are spent",
  )
  expect(await t.budgets.raise('tenants', { key: 'other', amounts: { tokens: 10 }, by: 'ada' })).toBe('raised')
  await t.until(blocked, 'completed', { within: '1s' })
  await t.budgets.raise('tenants', { key: 'acme', amounts: { tokens: 1 } })
  expect(await t.until(tooMuch, 'completed', { within: '2m' })).toMatchObject({ attempt: 1, failureCount: 0 })
  expect(await t.budgets.describe('company')).toMatchObject({
    keys: [{ dimensions: [{ dimension: 'tokens', spent: 211, reserved: 0, left: 789 }] }],
  })
  expect(await t.budgets.spentBy('blocked')).toMatchObject([{ spent: { tokens: 10 }, task: 'draft', attempt: 1 }])
  await expect(t.budgets.define('tenants', { hard: { tokens: 5 } })).rejects.toThrow("has the parent 'company'")
})

test('work that is refused when nothing is left is woken by a raise and by a reset, and its budget is named', async () => {
  await using t = await testFabric([drafts])
  for (const tenant of ['raised', 'reset']) {
    await t.until(await t.submit(draft, { tenant, tokens: 100 }), 'completed')
    // The worker has seen room a moment before, so the handler runs and asks.
    const refused = await t.submit(draft, { tenant, tokens: 10 })
    await t.until(refused, 'rate_limited', { within: '3s' })
    expect((await t.why(refused.id)).text).toContain(`the budget 'tenants' with the key '${tenant}'`)
    if (tenant === 'raised') await t.budgets.raise('tenants', { key: tenant, amounts: { tokens: 10 } })
    else await t.budgets.reset('tenants', { key: tenant })
    expect(await t.until(refused, 'completed', { within: '1s' })).toMatchObject({ attempt: 1, failureCount: 0 })
  }
})

test('after an approval that is not valid the budget asks again, and says why', async () => {
  const asking = budget('asking-again', { hard: { tokens: 10 }, onBreach: 'suspend' })
  const agent = task('correcting', { budgets: [asking] })
  await using t = await testFabric([
    agent.handle(async (_, ctx) => {
      await (await ctx.reserve({ tokens: 15 })).settle({ tokens: 15 })
    }),
  ])
  const execution = await t.submit(agent, undefined)
  await t.until(execution, 'suspended')
  await t.vote(execution, 'budget asking-again', { by: 'ada', value: { amounts: { tokens: 'lots' } } })
  const isAskedAgain = async () => (await t.describe(execution.id)).suspension?.step === 'budget asking-again#2'
  for (let i = 0; i < 100 && !(await isAskedAgain()); i++) await t.advance('10ms')

  expect((await t.why(execution.id)).text).toContain('The approval by ada is not valid: ')
  await t.vote(execution, 'budget asking-again#2', { by: 'ada', value: { amounts: { tokens: 5 } } })
  await t.until(execution, 'completed')
  expect(await t.budgets.describe('asking-again')).toMatchObject({
    keys: [{ dimensions: [{ hard: 15, spent: 15, reserved: 0 }] }],
  })
})

test('begins anew at its boundary, however long no work asks', async () => {
  await using t = await testFabric([drafts])
  await t.until(await t.submit(draft, { tenant: 'acme', tokens: 100 }), 'completed')
  const blocked = await t.submit(draft, { tenant: 'acme', tokens: 100 })
  await t.until(blocked, 'rate_limited')
  const { resetsAt } = await t.budgets.describe('tenants')

  expect(await t.until(blocked, 'completed', { within: '1h' })).toMatchObject({ endedAt: resetsAt })
  await t.advance('9h')
  expect((await t.budgets.describe('tenants')).resetsAt).toBe(resetsAt! + 10 * 3_600_000)
  expect((await t.budgets.history('tenants', { key: 'acme' })).periods).toMatchObject([{ spent: { tokens: 100 } }])
})

test('a budget that asks parks the execution, and an approval raises it by the amount approved', async () => {
  const asking = budget('asking', { hard: { cost: usd(1) }, onBreach: 'suspend' })
  const agent = task<number, number>('agent', { budgets: [asking] })
  const tries: number[] = []
  await using t = await testFabric([
    agent.handle(async (cost, ctx) => {
      return await ctx.step('think', async (step) => {
        tries.push(step.attempt)
        const reserved = await step.reserve({ cost })
        await reserved.settle({ cost: cost - 1 })
        return cost
      })
    }),
  ])
  const execution = await t.submit(agent, usd(3), { id: 'agent' })
  await t.until(execution, 'suspended')
  expect((await t.why('agent')).text).toContain(
    `has spent 0 and reserved 0 of ${usd(1)} cost, and ${usd(3)} are asked for`,
  )
  await t.vote(execution, 'budget asking', { by: 'ada', value: { amounts: { cost: usd(5) } } })

  await t.until(execution, 'completed')
  expect(tries).toEqual([1, 1, 1])
  expect(await t.budgets.describe('asking')).toMatchObject({
    keys: [{ dimensions: [{ hard: usd(6), spent: usd(3) - 1, reserved: 0 }] }],
  })
  const other = await t.submit(agent, usd(9))
  await t.until(other, 'suspended')
  await t.vote(other, 'budget asking', { by: 'ada', verdict: 'reject' })
  expect(await t.until(other, 'failed')).toMatchObject({ failure: { category: 'permanent' } })
})

test('an answer to a report that has passed a limit decides about the next run of the handler', async () => {
  const asking = budget('asking-afterwards', { hard: { calls: 1 }, onBreach: 'suspend' })
  const agent = task('reporting', { budgets: [asking] })
  await using t = await testFabric([
    agent.handle(async (_, ctx) => {
      await ctx.spend({ calls: 2 })
      return 'continued'
    }),
  ])
  const approved = await t.submit(agent, undefined)
  await t.until(approved, 'suspended')
  await t.vote(approved, 'budget asking-afterwards', { by: 'ada' })
  expect(await t.until(approved, 'completed')).toMatchObject({ result: 'continued' })

  const rejected = await t.submit(agent, undefined)
  await t.until(rejected, 'suspended')
  await t.vote(rejected, 'budget asking-afterwards', { by: 'ada', verdict: 'reject' })
  expect(await t.until(rejected, 'failed')).toMatchObject({ failure: { category: 'permanent' } })
  expect((await t.budgets.describe('asking-afterwards')).keys[0]?.dimensions).toMatchObject([{ hard: 2, spent: 4 }])
})

test('a budget that cancels stops the execution, and one that is refused may work another way', async () => {
  const strict = budget('strict', { hard: { calls: 1 }, onBreach: 'cancel' })
  const large = budget('large-model', { hard: { tokens: 10 } })
  const choosy = task<undefined, string>('choosy', { budgets: [large] })
  const strictly = task('strictly', { budgets: [strict] })
  await using t = await testFabric([
    choosy.handle(async (_, ctx) => {
      try {
        await ctx.reserve({ tokens: 11 })
        return 'large'
      } catch (error) {
        if (!(error instanceof BudgetExceededError)) throw error
        return `small, because ${error.shortage.asked} > ${error.shortage.hard}`
      }
    }),
    strictly.handle(async (_, ctx) => {
      await ctx.spend({ calls: 1 })
      await ctx.spend({ calls: 1 })
      await ctx.sleep('never', '1d')
    }),
  ])

  const chosen = await t.submit(choosy, undefined)
  expect((await t.until(chosen, 'completed')).result).toBe('small, because 11 > 10')
  expect(await t.until(await t.submit(strictly, undefined), 'cancelled')).toMatchObject({
    reason: expect.stringContaining("budget 'strict' has spent 2") as string,
  })
})

test('a reservation that was granted after the end of its handler holds nothing', async () => {
  const hasty = task('hasty', { budgets: [company] })
  await using t = await testFabric([hasty.handle((_, ctx) => void ctx.reserve({ tokens: 5 }))])
  await t.until(await t.submit(hasty, undefined), 'completed')

  await t.advance('1h')
  expect((await t.budgets.describe('company')).keys).toMatchObject([{ reservationCount: 0 }])
})

test('spending counts once however often the handler runs, and a dead worker gives back what it reserved', async () => {
  const agent = task('repeating', { budgets: [company] })
  await using t = await testFabric([
    agent.handle(async (_, ctx) => {
      await ctx.spend({ tokens: 5 })
      const reserved = await ctx.reserve({ tokens: 400 })
      await ctx.step('call', () => 'answer')
      await reserved.settle({ tokens: 300 })
      await ctx.sleep('pause', '1h')
      await ctx.spend({ tokens: 7 })
    }),
  ])
  await t.crashWorker({ after: 'call' })
  const execution = await t.submit(agent, undefined)

  await t.until(execution, 'completed')
  const [use] = (await t.budgets.describe('company')).keys[0]!.dimensions
  expect(use).toMatchObject({ spent: 312, reserved: 0 })
  const { items } = await t.budgets.history('company')
  expect(items.map(({ spent, attempt }) => [spent['tokens'], attempt])).toEqual([
    [7, 2],
    [300, 2],
    [5, 1],
  ])
})

test('an execution with the id of a removed one spends anew', async () => {
  const daily = task('daily', { budgets: [company], retention: '1h' })
  await using t = await testFabric([daily.handle(async (_, ctx) => (await ctx.spend({ tokens: 5 })).kind)])
  for (let day = 0; day < 2; day++) {
    const execution = await t.submit(daily, undefined, { id: 'daily' })
    expect(await t.until(execution, 'completed')).toMatchObject({ result: 'spent' })
    await t.advance('1d')
  }
  expect((await t.budgets.describe('company')).keys).toMatchObject([{ chargeCount: 2, dimensions: [{ spent: 10 }] }])
})

test('the key of a report is never that of a reservation or of a call without a key, whatever text it has', async () => {
  const counted = task('counted', { budgets: [budget('counted', { hard: { tokens: 1_000 } })] })
  const handler = counted.handle(async (_, ctx) => {
    await ctx.spend({ tokens: 1 }, { key: 'call' })
    const call = await ctx.reserve({ tokens: 50 }, { key: 'call' })
    await call.settle({ tokens: 10 })
    for (const key of ['spend#1', 'write#1.1#1', '#spend#1', '/call']) await ctx.spend({ tokens: 1 }, { key })
    await ctx.spend({ tokens: 100 })
    return await ctx.step('write', async (step) => await step.spend({ tokens: 200 }))
  })
  await using t = await testFabric([handler])

  const receipt = await (await t.submit(counted, undefined)).result()

  expect(receipt).toMatchObject({ kind: 'spent' })
  expect((await t.budgets.describe('counted')).keys[0]?.dimensions).toMatchObject([{ spent: 315, reserved: 0 }])
})
