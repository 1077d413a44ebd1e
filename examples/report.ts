/**
 * A report over many sources, one of which is down. Each source is a child with retries of its own. The report waits until all
 * have ended, in any way, and says what is missing. A slow question goes to two services, and the first answer wins.
 *
 *   npx node examples/report.ts [location of a store]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

interface Sales {
  readonly shop: string
  readonly euros: number
}

const readSales = task<{ shop: string; month: string }, Sales>('sales.read', {
  retry: { attempts: 2, backoff: { kind: 'fixed', delay: 50 } },
  // Every child belongs to the customer of its report.
  inheritTags: ['customer'],
})
const askRate = task<{ service: string; waitMs: number }, number>('rate.ask')
const report = task<{ month: string; shops: readonly string[] }, string>('report')

/** Simulates the databases of shops. */
const euros: Readonly<Record<string, number>> = { Bern: 1_200, Cairo: 800, Lima: 400 }

const readSalesHandler = readSales.handle(({ shop }, ctx) => {
  const sum = euros[shop]
  if (sum === undefined) throw new Error(`${shop} does not answer`)
  console.log(`${shop}: read for ${ctx.tags.customer}`)
  return { shop, euros: sum }
})

const askRateHandler = askRate.handle(async ({ waitMs }, ctx) => {
  await sleep(waitMs, undefined, { signal: ctx.signal })
  return 1.1
})

const reportHandler = report.handle(async ({ month, shops }, ctx) => {
  const sales = await ctx.settled(shops.map((shop) => ctx.spawn(`sales:${shop}`, readSales, { shop, month })))
  const services = { fast: 20, slow: 60_000 }
  const rate = await ctx.any(
    'rate',
    Object.entries(services).map(([service, waitMs]) => ctx.spawn(`rate:${service}`, askRate, { service, waitMs })),
    { losers: 'cancel' },
  )
  const sum = sales.reduce((total, each) => total + (each.ok ? each.value.euros : 0), 0)
  const missing = sales.flatMap((each) => (each.ok ? [] : [each.error.message]))
  return `${month}: ${Math.round(sum * rate.value)} dollars by ${rate.name}; missing: ${missing.join(', ')}`
})

await using opened = await openFabric()
const { fabric } = opened
await fabric.work([reportHandler, readSalesHandler, askRateHandler])

const shops = ['Bern', 'Cairo', 'Lima', 'Oslo']
const execution = await fabric.submit(report, { month: '2026-10', shops }, { tags: { customer: 'acme' } })
console.log(await execution.result())
for await (const { name, id } of execution.children()) {
  const { outcome } = await fabric.execution(id).wait()
  console.log(`${name}: ${outcome}`)
}
