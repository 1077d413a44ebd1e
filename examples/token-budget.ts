/**
 * Three ways to stay inside a budget. Each tenant has money for a day below a cap for all: who has used it up waits, and others do not.
 * A handler whose large model is out of budget takes the small one. And an agent that, with its children, needs more tokens than it was
 * given asks for an approval, for which no worker is held.
 *
 *   npx node examples/token-budget.ts [location of a store]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { BudgetExceededError, budget, callModel, task, tokenCost, usd } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

interface Job {
  readonly tenant: string
  readonly words: number
}

const total = budget('total', { hard: { cost: usd(100) }, every: 'month' })
const tenants = budget<Job>('tenants', {
  parent: total,
  key: ({ tenant }) => tenant,
  hard: { cost: usd(1) },
  every: 'day',
})
const summarise = task<Job, string>('summarise', { budgets: [tenants] })

const largeModel = budget('large-model', { hard: { cost: usd(0.05) } })
const answer = task<undefined, string>('answer', { budgets: [largeModel] })

const agents = budget('agents', { per: 'execution', inherit: true, hard: { tokens: 1_000 }, onBreach: 'suspend' })
const agent = task<undefined, string>('agent', { budgets: [agents] })
const search = task<string, string>('search')

/** Stands for the client of a provider. */
function complete(prompt: string, words: number) {
  return Promise.resolve({ text: prompt, usage: { input_tokens: 100, output_tokens: words } })
}

const cost = tokenCost({ input: usd(100), output: usd(1_000) })

await using opened = await openFabric()
const { fabric } = opened
await fabric.work([
  summarise.handle(async ({ tenant, words }, ctx) => {
    return await ctx.step('write', async (step) => {
      const call = () => complete(`a summary for ${tenant}`, words)
      const reply = await callModel(step, { reserve: { cost: usd(1) }, call, spent: cost })
      return reply.text
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
  search.handle(async (subject, ctx) => {
    const call = () => complete(`the answer to ${subject}`, 400)
    return await ctx.step('ask', async (step) => (await callModel(step, { reserve: { tokens: 600 }, call })).text)
  }),
  agent.handle(async (_, ctx) => {
    await ctx.call('search', search, 'the question')
    const call = () => complete('the research is done', 900)
    return await ctx.step(
      'conclude',
      async (step) => (await callModel(step, { reserve: { tokens: 1_200 }, call })).text,
    )
  }),
])

const first = await fabric.submit(summarise, { tenant: 'acme', words: 900 })
console.log(await first.result())
await fabric.budgets.raise('tenants', { key: 'acme', amounts: { cost: usd(1) }, by: 'ada', reason: 'a launch' })
const both = ['acme', 'bees'].map((tenant) => fabric.submit(summarise, { tenant, words: 800 }))
for (const execution of await Promise.all(both)) console.log(await execution.result())
const { keys } = await fabric.budgets.describe('total')
console.log(`${(keys[0]?.dimensions[0]?.spent ?? 0) / usd(1)} dollars are spent by all tenants`)

for (const question of ['first', 'second']) {
  const execution = await fabric.submit(answer, undefined)
  console.log(`the ${question} question is for ${await execution.result()}`)
}

const research = await fabric.submit(agent, undefined)
const question = async () => (await research.describe()).suspension?.reason
while ((await question())?.startsWith('budget') !== true) await sleep(10)
console.log((await question())?.replace(research.id, 'the agent'))
await fabric.signal(research.id, 'approve', { amounts: { tokens: 1_000 } }, { waitpoint: 'budget agents', by: 'ada' })
console.log(await research.result())
