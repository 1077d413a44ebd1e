/**
 * Three ways to stay inside a budget. Each tenant has tokens of its own below a total for all: who has used them up waits, and others do
 * not. A handler whose large model is out of budget takes the small one. And an agent that needs more than its budget asks for an
 * approval, for which no worker is held.
 *
 *   npx node examples/token-budget.ts [location of a store]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { BudgetExceededError, budget, task, usd } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

interface Job {
  readonly tenant: string
  readonly tokens: number
}

const total = budget('total', { hard: { tokens: 10_000 }, every: 'month' })
const tenants = budget<Job>('tenants', {
  parent: total,
  key: ({ tenant }) => tenant,
  hard: { tokens: 1_000 },
  every: 'day',
})
const summarise = task<Job, string>('summarise', { budgets: [tenants] })

const largeModel = budget('large-model', { hard: { cost: usd(0.05) } })
const answer = task<undefined, string>('answer', { budgets: [largeModel] })

const agents = budget('agents', { hard: { cost: usd(1) }, onBreach: 'suspend' })
const agent = task<undefined, string>('agent', { budgets: [agents] })

await using opened = await openFabric()
const { fabric } = opened
await fabric.work([
  summarise.handle(async ({ tenant, tokens }, ctx) => {
    return await ctx.step('write', async (step) => {
      const reserved = await step.reserve({ tokens })
      // A model would answer here, and report how much it took.
      await reserved.settle({ tokens: tokens - 100 })
      return `a summary for ${tenant}`
    })
  }),
  answer.handle(async (_, ctx) => {
    try {
      const reserved = await ctx.reserve({ cost: usd(0.04) })
      await reserved.settle({ cost: usd(0.04) })
      return 'the large model'
    } catch (error) {
      if (error instanceof BudgetExceededError) return 'the small model'
      throw error
    }
  }),
  agent.handle(async (_, ctx) => {
    const reserved = await ctx.reserve({ cost: usd(2.5) })
    await reserved.settle({ cost: usd(2.4) })
    return 'the research is done'
  }),
])

const first = await fabric.submit(summarise, { tenant: 'acme', tokens: 1_000 })
console.log(await first.result())
await fabric.budgets.raise('tenants', { key: 'acme', amounts: { tokens: 900 }, by: 'ada', reason: 'a launch' })
const both = [900, 1_000].map((tokens, i) => fabric.submit(summarise, { tenant: ['acme', 'bees'][i] ?? '', tokens }))
for (const execution of await Promise.all(both)) console.log(await execution.result())
const { keys } = await fabric.budgets.describe('total')
console.log(`${keys[0]?.dimensions[0]?.spent ?? 0} tokens are spent by all tenants`)

for (const question of ['first', 'second']) {
  const execution = await fabric.submit(answer, undefined)
  console.log(`the ${question} question is for ${await execution.result()}`)
}

const research = await fabric.submit(agent, undefined)
while ((await research.describe()).state !== 'suspended') await sleep(10)
console.log((await research.describe()).suspension?.reason)
await fabric.signal(research.id, 'approve', { amounts: { cost: usd(2) } }, { waitpoint: 'budget agents', by: 'ada' })
console.log(await research.result())
