/**
 * An agent that survives a crash. It delegates the search to another agent, which is a child, and occupies no worker while it
 * waits for it. A worker process is killed with SIGKILL while the agent runs. Another process resumes after the last recorded
 * answer: recorded answers are reused, and only the interrupted question is asked again.
 *
 *   npx node examples/agent.ts [location of a store that processes can share]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createFabric, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const research = task<{ question: string }, string>('research')
const search = task<{ plan: string }, string>('search')

/** Simulates a slow and expensive model. */
async function ask(model: string, prompt: string, signal: AbortSignal): Promise<string> {
  console.log(`  process ${process.pid} asks the ${model}`)
  await pause(300, undefined, { signal })
  return `${model} on (${prompt})`
}

const searchHandler = search.handle(({ plan }, ctx) => ask('searcher', plan, ctx.signal))

const researchHandler = research.handle(async ({ question }, ctx) => {
  const plan = await ctx.step('plan', (s) => ask('planner', question, s.signal))
  const facts = await ctx.call('search', search, { plan })
  const draft = await ctx.step('write', (s) => ask('writer', facts, s.signal))
  return await ctx.step('review', (s) => ask('reviewer', draft, s.signal))
})

const workAt = process.env.EXAMPLE_WORKER
if (workAt === undefined) await main()
else await work(workAt)

/** Runs the worker process. Its leases expire three seconds after it is killed. */
async function work(location: string): Promise<void> {
  const fabric = await createFabric(location)
  const worker = await fabric.work([researchHandler, searchHandler], { leaseTtl: '3s', signals: true })
  await worker.closed
}

function startWorker(location: string) {
  return spawn(process.execPath, [import.meta.filename], {
    env: { ...process.env, EXAMPLE_WORKER: location },
    stdio: 'inherit',
  })
}

async function main(): Promise<void> {
  await using opened = await openFabric()
  const { fabric, location } = opened
  const first = startWorker(location)
  const execution = await fabric.submit(research, { question: 'How do bees find the way?' })
  for await (const item of execution.events({ fromStart: true })) {
    if (item.kind !== 'event' || item.event.type !== 'execution_resumed' || item.event.step !== 'search') continue
    first.kill('SIGKILL')
    console.log(`killed process ${first.pid} behind the call 'search'`)
    break
  }
  const second = startWorker(location)
  console.log(await execution.result())
  second.kill('SIGTERM')
  await once(second, 'exit')
}
