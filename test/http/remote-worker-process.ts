/**
 * A worker that records a step and then holds its execution until it is killed.
 *
 *   node remote-worker-process.ts <address of a server> <token>
 */
import { createFabric } from '../../src/fabric/index.ts'
import { untilStopped } from '../crash/process.ts'
import { held } from './held-task.ts'

const [url = '', token = ''] = process.argv.slice(2)

await using fabric = await createFabric(url, { token, log: 'error' })
const handler = held.handle(async (_input, ctx) => {
  await ctx.step('first', () => `by ${process.pid}`)
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve, { once: true }))
  return 'aborted'
})
await fabric.work([handler], { leaseTtl: '1s' })
await untilStopped()
