/** Programs and workers over HTTP while their server restarts, and when a worker is killed: nothing is lost, and no step runs again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createFabric } from '../../src/fabric/fabric.ts'
import { task } from '../../src/client/define/task.ts'
import { createHandler } from '../../src/server/handler.ts'
import { serve } from '../../src/server/node/http-server.ts'
import { until } from '../servers/until.ts'
import { held } from './held-task.ts'
import { byRole, served } from './served.ts'

const LIMIT_MS = 60_000
const COUNT = 200

const double = task<{ readonly n: number }, number>('double')

test('a server that restarts under work loses nothing', async () => {
  const near = await createFabric('memory:', { log: 'silent' })
  onTestFinished(() => near.close())
  near.engine()
  const begin = (port: number) => serve({ handler: createHandler(near), runtime: near.runtime, port })
  let server = await begin(0)
  onTestFinished(() => server.close())
  const far = await createFabric(server.url, { log: 'silent' })
  onTestFinished(() => far.close())
  const ran = new Map<number, number>()
  const handler = double.handle(async ({ n }, ctx) => {
    const value = await ctx.step('double', () => {
      ran.set(n, (ran.get(n) ?? 0) + 1)
      return 2 * n
    })
    await sleep(5)
    return value
  })
  await far.work([handler], { concurrency: 8 })

  const restarts = (async () => {
    for (const isAbrupt of [true, false]) {
      const before = ran.size
      await until('the work continues', LIMIT_MS, async () => (ran.size > before + 10 ? true : undefined))
      const closing = server.close()
      if (isAbrupt) server.drop()
      await closing
      await sleep(50)
      server = await begin(server.port)
    }
  })()
  const results = Array.from({ length: COUNT }, async (_, n) => {
    await sleep(5 * n)
    return await (
      await far.submit(double, { n }, { id: `double:${n}` })
    ).result({ signal: AbortSignal.timeout(LIMIT_MS) })
  })

  expect(await Promise.all(results)).toEqual(Array.from({ length: COUNT }, (_, n) => 2 * n))
  await restarts
  const { items } = await near.list({ task: 'double', state: 'completed', limit: 200 })
  expect(items).toHaveLength(COUNT)
})

test('the work of a worker that is killed is continued, and its steps do not run again', async () => {
  const found = await served({ authenticate: byRole })
  found.fabric.engine()
  const file = fileURLToPath(new URL('./remote-worker-process.ts', import.meta.url))
  const worker = spawn(process.execPath, [file, found.url, 'worker'], { stdio: ['pipe', 'ignore', 'inherit'] })
  onTestFinished(() => void worker.kill('SIGKILL'))
  const execution = await found.fabric.submit(held, undefined)
  const firstStep = async () => {
    for await (const step of found.fabric.steps(execution.id)) if (step.name === 'first') return step
    return undefined
  }
  const recorded = await until('a step was recorded', LIMIT_MS, firstStep)
  worker.kill('SIGKILL')
  await once(worker, 'exit')

  const far = await createFabric(found.url, { token: 'worker', log: 'silent' })
  onTestFinished(() => far.close())
  await far.work([held.handle(async (_input, ctx) => await ctx.step('first', () => 'again'))])

  expect(await execution.result({ signal: AbortSignal.timeout(LIMIT_MS) })).toBe(`by ${worker.pid}`)
  expect(recorded.state).toBe('completed')
})
