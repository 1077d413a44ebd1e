/**
 * One provider, three tasks: each of them calls the same API, which takes two calls at once. The tasks share a limit, so the
 * handlers of all workers together keep to it. Then the provider allows more, and an operator changes the limit while work
 * waits. At last the provider is down: the operator holds the limit back, and `why` names who did that and for how long.
 *
 *   npx node examples/shared-rate-limit.ts [location of a store]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { limit, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const crm = limit('crm', { perMinute: 6_000, concurrency: 2 })

const lookUp = task<string, string>('look_up', { limits: [crm] })
const update = task<string, string>('update', { limits: [crm] })
// An export counts ten times in the rate, and occupies one call.
const exportAll = task<string, string>('export_all', { limits: [crm.for({ weight: 10 })] })
const tasks = [lookUp, update, exportAll]

await using opened = await openFabric()
const { fabric } = opened

let running = 0
let most = 0
async function callProvider(name: string): Promise<string> {
  most = Math.max(most, (running += 1))
  await sleep(10)
  running -= 1
  return name
}

const submitAll = (round: string) =>
  Promise.all(tasks.flatMap((one) => [1, 2, 3, 4].map((n) => fabric.submit(one, `${round} ${n}`))))

const first = await submitAll('first')
await fabric.work(
  tasks.map((one) => one.handle(callProvider)),
  { concurrency: 12 },
)
await Promise.all(first.map((execution) => execution.result()))
console.log(`${first.length} calls of three tasks, ${most <= 2 ? 'never more than 2' : most} at once`)

await fabric.limits.define('crm', { perMinute: 6_000, concurrency: 6 }, { by: 'ada', reason: 'a larger plan' })
const second = await submitAll('second')
await Promise.all(second.map((execution) => execution.result()))
const { concurrency, changedBy, reason } = await fabric.limits.describe('crm')
console.log(`${changedBy} allows ${concurrency} at once: ${reason}; ${most <= 6 ? 'not more' : 'more'} were running`)

await fabric.limits.hold('crm', { for: '10m', by: 'ada', reason: 'the provider is down' })
const waiting = await fabric.submit(lookUp, 'later')
while ((await waiting.describe()).state !== 'rate_limited') await sleep(10)
const { text } = await waiting.why()
console.log(text.replace(/^.*(?=the limit)/, '').replace(/ until \S+(.*\)).*$/, ' for ten minutes$1'))

await fabric.limits.unhold('crm')
console.log(await waiting.result())
