/**
 * A progress line that is fed by a subscription: it shows each step of an import as it happens, and ends with it.
 *
 *   npx node examples/live-progress.ts [location of a store]
 */
import { setTimeout as pause } from 'node:timers/promises'
import { task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const importFile = task<{ readonly rows: number }, string>('import')
const importHandler = importFile.handle(async ({ rows }, ctx) => {
  for (let done = 0; done <= rows; done += rows / 4) {
    await ctx.progress({ percent: (100 * done) / rows, message: `${done} of ${rows} rows` })
    await pause(20)
  }
  return `${rows} rows`
})

await using place = await openFabric()
const { fabric } = place
const items = fabric.subscribe({ families: ['attempts', 'executions'], task: 'import' })
await using _worker = await fabric.work([importHandler])
const execution = await fabric.submit(importFile, { rows: 200 })

for await (const item of items) {
  // After a gap the state of the execution would be read instead.
  if (item.kind !== 'event') continue
  const { type, executionId, percent = 0, reason = '' } = item.event
  if (executionId !== execution.id) continue
  if (type === 'progress_updated') console.log(`${'#'.repeat(percent / 10).padEnd(10, '.')} ${percent} % ${reason}`)
  if (type === 'execution_ended') break
}
console.log(await execution.result())
