/** The worker in Python that the docs show, against a server: a thousand executions, steps, frames, failures and retries. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { byRole, served } from './served.ts'

const LIMIT_MS = 120_000
const COUNT = 1_000
const SCRIPT = path.join(import.meta.dirname, '../../examples/python/worker.py')

test('a worker in Python processes a thousand executions', async () => {
  const found = await served({ authenticate: byRole })
  const headers = { authorization: 'Bearer worker' }
  const env = { ...process.env, FLOWFABRIC_URL: found.url, FLOWFABRIC_TOKEN: 'worker', FLOWFABRIC_WAIT_SECONDS: '1' }
  const python = spawn('python3', [SCRIPT], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void python.kill('SIGKILL'))
  const complaints: Buffer[] = []
  python.stderr.on('data', (part: Buffer) => complaints.push(part))

  const items = Array.from({ length: COUNT }, (_, n) => ({ task: 'count', input: { n }, id: `count:${n}` }))
  await found.ok('submitExecutions', { headers, body: { items } })
  await found.ok('submitExecution', { headers, body: { task: 'count', input: { n: -1 }, id: 'negative' } })
  await found.ok('submitExecution', { headers, body: { task: 'greet', input: { name: 'ada' }, id: 'greet' } })
  const retry = { attempts: 2, backoff: { kind: 'fixed', delay: 0 } }
  await found.ok('submitExecution', { headers, body: { task: 'count', input: {}, id: 'broken', retry } })

  const end = async (id: string) => await found.fabric.execution(id).wait({ signal: AbortSignal.timeout(LIMIT_MS) })
  const results = await Promise.all(items.map(async ({ id }) => (await end(id)).result))
  expect(results).toEqual(items.map(({ input }) => ({ n: input.n + 1 })))
  expect(await end('negative')).toMatchObject({ failure: { category: 'permanent', message: 'n is negative' } })
  expect(await end('broken')).toMatchObject({ outcome: 'failed', failureCount: 2, failure: { message: "'n'" } })
  expect((await end('greet')).result).toBe('Hello, Ada!')
  const steps = await found.ok('listSteps', { headers, params: { id: 'greet' }, query: { values: true } })
  expect(steps['items']).toMatchObject([{ name: 'name', value: 'Ada' }])
  const frames = await found.ok('listFrames', { headers, params: { id: 'greet' }, query: { name: 'token' } })
  expect(JSON.stringify(frames['items'])).toContain('Hello, ')

  const ended = once(python, 'exit')
  python.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(Buffer.concat(complaints).toString()).toBe('')
})
