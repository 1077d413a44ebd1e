/** What work has cost, and how much of it there was: sums over many records, read in bounded steps. */
import { expect, test } from 'vitest'
import { PermanentError, budget, task } from '../../src/client/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

interface Prompt {
  readonly tenant: string
  readonly model: string
  readonly tokens: number
}

const company = budget('company', { hard: { tokens: 1_000_000 } })
const tenants = budget<Prompt>('tenants', { parent: company, key: ({ tenant }) => tenant })
const models = budget<Prompt>('models', { parent: company, key: ({ model }) => model })
const write = task<Prompt>('write', { budgets: [tenants, models] })
const check = task<Prompt>('check', { budgets: [tenants, models] })
const spend = write.handle(({ tokens }, ctx) => ctx.spend({ tokens }))
const spendToo = check.handle(({ tokens }, ctx) => ctx.spend({ tokens }))

conforms('the costs of a budget', ({ fabric, clock }) => {
  test('are summed by task, day, tenant and model, of the lines in a range', async () => {
    await using working = new Working(fabric)
    const { client } = working
    working.work([spend, spendToo])
    const run = async (definition: typeof write, tenant: string, model: string, tokens: number) =>
      working.until((await client.submit(definition, { tenant, model, tokens })).result())
    await run(write, 'acme', 'large', 100)
    await run(write, 'acme', 'small', 10)
    const before = clock.now()
    clock.advance(DAY_MS)
    await run(check, 'bees', 'small', 1)
    await run(write, 'bees', 'large', 200)

    const costs = await client.budgets.costs('company')
    expect(costs).toMatchObject({ total: { count: 4, spent: { tokens: 311 } }, examined: 4, isCut: false })
    expect(costs.completeSince).toBeUndefined()
    const one = (count: number, tokens: number) => ({ count, spent: { tokens } })
    expect(costs.tasks).toMatchObject([
      { task: 'write', ...one(3, 310) },
      { task: 'check', ...one(1, 1) },
    ])
    expect(costs.days.map(({ count, spent }) => ({ count, spent }))).toEqual([one(2, 201), one(2, 110)])
    expect(costs.budgets).toEqual(
      expect.arrayContaining([
        { budget: 'tenants', key: 'acme', ...one(2, 110) },
        { budget: 'tenants', key: 'bees', ...one(2, 201) },
        { budget: 'models', key: 'large', ...one(2, 300) },
        { budget: 'models', key: 'small', ...one(2, 11) },
      ]),
    )

    const acme = await client.budgets.costs('tenants', { key: 'acme' })
    expect(acme.total).toEqual(one(2, 110))
    expect((await client.budgets.costs('models')).total).toEqual(one(4, 311))
    expect((await client.budgets.costs('models', { to: before })).total).toEqual(one(2, 110))
    expect((await client.budgets.costs('company', { from: before + 1 })).total).toEqual(one(2, 201))
    expect((await client.budgets.costs('tenants', { key: 'nobody' })).total).toEqual({ count: 0, spent: {} })

    const latest = await client.budgets.costs('tenants', { examine: 3 })
    expect([latest.examined, latest.total.spent['tokens']]).toEqual([3, 211])
    expect(latest.completeSince).toBeGreaterThan(0)
    await expect(client.budgets.costs('nothing')).rejects.toMatchObject({ code: 'budget_not_found' })
    await expect(client.budgets.costs('company', { examine: 1e6 })).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

conforms('the activity of a namespace', ({ fabric, clock }) => {
  test('counts what came and ended in each part of a range, and says how far back it is complete', async () => {
    await using working = new Working(fabric)
    const { client } = working
    const job = task<boolean>('job')
    const handler = job.handle((isFine, ctx) => {
      if (!isFine) throw new PermanentError('refused')
      return ctx.sleep('a while', '1s')
    })
    await client.submit(job, false, { id: 'old' })
    clock.advance(2 * HOUR_MS)
    const from = clock.now()
    const first = [await client.submit(job, true), await client.submit(job, false)]
    clock.advance(HOUR_MS / 2)
    const second = await client.submit(job, false)
    const cancelled = await client.submit(job, true, { delay: '1d' })
    await cancelled.cancel('outdated')
    working.work([handler])
    working.maintain()
    await working.until(Promise.allSettled([...first, second].map((one) => one.result())))

    const activity = await client.activity({ from, to: from + HOUR_MS, buckets: 2 })
    expect(activity.buckets).toEqual([
      { from, created: 2, completed: 0, failed: 0, other: 0 },
      { from: from + HOUR_MS / 2, created: 2, completed: 1, failed: 2, other: 1 },
    ])
    expect(activity).toMatchObject({ examined: 4, completeSince: from })
    expect(activity.start?.p99).toBeGreaterThanOrEqual(HOUR_MS / 2)
    expect(activity.run?.p50).toBeLessThan(1_000)
    expect(activity.run?.p99).toBeGreaterThanOrEqual(1_000)

    const part = await client.activity({ from, to: from + HOUR_MS, examine: 1 })
    expect([part.examined, part.completeSince > from]).toEqual([1, true])
    const none = await client.activity({ from: 0, to: 1 })
    expect([none.start, none.run, none.examined, none.completeSince]).toEqual([undefined, undefined, 0, 0])
  })
})
