/**
 * Fairness and an incident: a large tenant submits a hundred reports, then a small one submits two. The lane is divided between
 * tenants, so the small one does not wait for the hundred. Then the provider of the reports is down, and an operator pauses the lane:
 * submits are accepted, nothing starts, and `why` names the reason until the lane is resumed.
 *
 *   npx node examples/tenant-fairness.ts [location of a store]
 */
import { task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const LARGE = 100

const report = task<{ tenant: string; month: number }, string>('report', {
  lane: 'reports',
  fairness: ({ tenant }) => tenant,
})

await using opened = await openFabric()
const { fabric } = opened

const started: string[] = []
const handler = report.handle(({ tenant, month }) => {
  started.push(tenant)
  return `${tenant} ${month}`
})

const large = await Promise.all(
  Array.from({ length: LARGE }, (_, i) => fabric.submit(report, { tenant: 'large', month: i })),
)
const small = await Promise.all([1, 2].map((month) => fabric.submit(report, { tenant: 'small', month })))
await fabric.work([handler], { concurrency: 1, prefetch: 0 })
await Promise.all([...large, ...small].map((execution) => execution.result()))
const last = started.lastIndexOf('small')
console.log(
  `the small tenant was served within the first ${last < LARGE / 2 ? 'half' : 'all'} of ${started.length} reports`,
)

const lane = fabric.lane('reports')
await lane.pause({ reason: 'the provider is down', by: 'ada' })
const waiting = await fabric.submit(report, { tenant: 'small', month: 3 })
const [summary] = await fabric.lanes('reports')
console.log(`lane reports is ${summary?.state} by ${summary?.hold?.by}, with ${summary?.counts.waiting} waiting`)
console.log((await waiting.why()).text.replace(/^.*(?=Lane )/s, '').replace(/ at \S+/, ''))

await lane.resume({ by: 'ada' })
console.log(await waiting.result())
