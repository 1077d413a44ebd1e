/**
 * A schedule that code declares: a report every night at three in Berlin, also when the clocks change. The program lists the next
 * nights, runs the report once by hand, and makes up for the last two nights.
 *
 *   npx node examples/nightly-report.ts [location of a store]
 */
import { schedule, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const DAY_MS = 86_400_000

const report = task<{ scope: string }, string>('report.nightly')
const reportHandler = report.handle(({ scope }) => `report of ${scope}`)

const nightly = schedule('nightly-report', {
  task: report,
  input: { scope: 'all' },
  cron: '0 3 * * *',
  timeZone: 'Europe/Berlin',
  overlap: 'skip',
  missed: 'last',
})

await using opened = await openFabric()
const { fabric } = opened
await fabric.work([reportHandler], { schedules: [nightly], schedulesOwner: 'reports' })

const handle = fabric.schedule('nightly-report')
const { next, text } = await handle.describe({ next: 3 })
console.log(text)
for (const { at } of next) console.log('a report at', new Date(at).toISOString())

const execution = await handle.trigger()
console.log('by hand:', await execution.result())

const now = Date.now()
const { boundaryCount } = await handle.backfill({ from: now - 2 * DAY_MS, to: now - 1 })
console.log('nights made up for:', boundaryCount)
