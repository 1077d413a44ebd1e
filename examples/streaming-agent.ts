/**
 * An agent whose tokens are streamed. The worker process is killed with SIGKILL in the middle of an answer. Another process
 * continues, and the reader sees every frame once and in order: those of recorded steps are not written again, and those of the
 * interrupted answer are followed by the new ones, behind a mark. A second reader continues from a cursor, as after a reload.
 *
 *   npx node examples/streaming-agent.ts [location of a store that processes can share]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { createFabric, task } from '../src/index.ts'
import type { FrameItem } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const answer = task('agent.answer', {
  input: z.object({ question: z.string() }),
  output: z.string(),
  frames: { token: z.string(), thought: z.string() },
})

/** Simulates the streaming API of a provider, which accepts a signal. */
async function* wordsOf(text: string, signal: AbortSignal): AsyncGenerator<string> {
  for (const word of text.split(' ')) {
    await pause(40, undefined, { signal })
    yield `${word} `
  }
}

const TEXT =
  'Bees dance. The angle of the dance to the vertical is the angle of the way to the sun, and its duration is the distance. ' +
  'So the others know where to fly, and how far, and what it smells like there.'

const answerHandler = answer.handle(async ({ question }, ctx) => {
  const plan = await ctx.step('plan', async (s) => {
    await s.frames.thought(`What do I know about "${question}"?`)
    await s.summary.patch({ question, stage: 'planned' })
    return 'look at the dance'
  })
  return await ctx.step('write', async (s) => {
    let text = ''
    for await (const word of wordsOf(TEXT, s.signal)) {
      text += word
      await s.frames.token(word)
      await s.summary.patch({ stage: 'writing', words: text.split(' ').length - 1, plan })
    }
    return text.trim()
  })
})

const workAt = process.env.EXAMPLE_WORKER
if (workAt === undefined) await main()
else await work(workAt)

/** Runs the worker process. Its leases expire two seconds after it is killed. */
async function work(location: string): Promise<void> {
  const fabric = await createFabric(location)
  const worker = await fabric.work([answerHandler], { leaseTtl: '2s', signals: true })
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
  const workers = [startWorker(location)]
  const execution = await fabric.submit(answer, { question: 'How do bees find the way?' })

  const seen: FrameItem[] = []
  let words = 0
  for await (const item of execution.frames()) {
    seen.push(item)
    if (item.kind === 'attempt') process.stdout.write(`\n[attempt ${item.attempt}] `)
    if (item.kind !== 'frame') continue
    process.stdout.write(item.value)
    words += item.name === 'token' ? 1 : 0
    if (words === 10 && workers.length === 1) {
      workers[0]?.kill('SIGKILL')
      process.stdout.write(`\n[killed process ${workers[0]?.pid}]`)
      workers.push(startWorker(location))
    }
  }

  const frames = seen.filter((item) => item.kind === 'frame')
  const hasGap = frames.some(({ sequence }, i) => sequence !== i + 1)
  console.log(`\n${frames.length} frames, ${hasGap ? 'with a gap' : 'without a gap and none twice'}`)
  const text = frames.filter(({ attempt, name }) => attempt === 2 && name === 'token').map(({ value }) => value)
  console.log(text.join('').trim() === (await execution.result()) ? 'the last attempt is the result' : 'they differ')

  const middle = seen[Math.floor(seen.length / 2)]
  let rest = 0
  for await (const _item of execution.frames(middle === undefined ? {} : { from: middle.cursor })) rest += 1
  console.log(
    `from the middle there are ${rest} more, as expected: ${rest === seen.length - 1 - Math.floor(seen.length / 2)}`,
  )
  const summary = await execution.summary()
  console.log(`the summary: ${JSON.stringify(summary?.document)}`)

  workers[1]?.kill('SIGTERM')
  if (workers[1] !== undefined) await once(workers[1], 'exit')
}
