/** The budgets and tasks of the simulated traffic. */
import { budget, task } from '../../../src/client/index.ts'
import type { Handler } from '../../../src/client/define/task.ts'

const MINUTE_MS = 60_000
export const EACH_MINUTE = '* * * * *'
export const TENANTS = ['acme', 'bees'] as const

export interface Job {
  readonly tenant: string
  readonly tokens: number
  /** How much more or less the call takes than was reserved. */
  readonly over: number
}

const company = budget('company', { hard: { tokens: 300 } })
const tenants = budget<Job>('tenants', { parent: company, key: ({ tenant }) => tenant, hard: { tokens: 120 } })
const metered = budget('metered', { hard: { tokens: 60 }, every: { cron: EACH_MINUTE } })
const asking = budget('asking', { hard: { tokens: 50 }, onBreach: 'suspend' })
const own = budget('own', { per: 'execution', hard: { tokens: 40 }, onBreach: 'cancel' })
export const known = {
  company: { hard: 300, everyMs: undefined },
  tenants: { hard: 120, everyMs: undefined },
  metered: { hard: 60, everyMs: MINUTE_MS },
  asking: { hard: 50, everyMs: undefined },
  own: { hard: 40, everyMs: undefined },
}
export const keyed = [
  { name: 'company', keys: [''] },
  { name: 'tenants', keys: TENANTS },
  { name: 'metered', keys: [''] },
  { name: 'asking', keys: [''] },
] as const
const retry = { attempts: 100, backoff: { kind: 'fixed', delay: '1s' } } as const
export const drafts = task<Job>('drafts', { budgets: [tenants], retry })
export const spends = task<Job>('spends', { budgets: [tenants, metered], retry })
export const asks = task<Job>('asks', { budgets: [asking], retry })
export const runs = task<Job>('runs', { budgets: [own, metered], retry })

/** `call` is a call of a model that takes some time, and does not return to a process that has crashed. */
export function handlers(call: (ms: number) => Promise<void>): Handler[] {
  return [
    drafts.handle(async ({ tokens, over }, ctx) => {
      await ctx.step('write', async (step) => {
        const reserved = await step.reserve({ tokens })
        await call(tokens * 100)
        await reserved.settle({ tokens: Math.max(0, tokens + over) })
      })
    }),
    spends.handle(async ({ tokens, over }, ctx) => {
      await ctx.spend({ tokens: 1 }, { key: 'begin' })
      const unneeded = await ctx.reserve({ tokens })
      await ctx.sleep('think', '300ms')
      await unneeded.release()
      await ctx.spend({ tokens: Math.max(0, over) }, { key: 'end' })
    }),
    asks.handle(async ({ tokens }, ctx) => {
      const reserved = await ctx.reserve({ tokens })
      await ctx.step('call', () => undefined)
      await reserved.settle({ tokens })
    }),
    runs.handle(async ({ tokens }, ctx) => {
      for (let i = 0; i < 3; i++) {
        const reserved = await ctx.reserve({ tokens }, { key: `turn ${i}` })
        await reserved.settle({ tokens })
      }
    }),
  ]
}
