/** The worker in Python that the docs show, against a server: a thousand executions, steps, frames, failures and retries. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../servers/until.ts'
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
  const logged = await until('its log line is kept', LIMIT_MS, async () => {
    const { items } = await found.ok('listLogs', { headers, params: { id: 'greet' } })
    return (items as unknown[]).length > 0 ? items : undefined
  })
  expect(logged).toMatchObject([{ level: 'info', message: 'greeting', fields: { name: 'Ada' } }])

  const order = { task: 'order', input: { parts: 3 }, id: 'order:1' }
  await found.ok('submitExecution', { headers, body: order })
  await found.ok('sendSignal', { headers, params: { id: 'order:1' }, body: { name: 'paid', value: 12 } })
  expect((await end('order:1')).result).toEqual({ parts: 6, paid: 12 })

  await found.ok('submitExecution', { headers, body: { task: 'trip', input: { guests: 2 }, id: 'trip:1' } })
  await found.ok('sendSignal', { headers, params: { id: 'trip:1' }, body: { name: 'confirmed', value: false } })
  expect(await end('trip:1')).toMatchObject({ outcome: 'failed', failure: { message: 'the guests have declined' } })
  const undone = await found.ok('listSteps', { headers, params: { id: 'trip:1' } })
  expect(undone['items']).toMatchObject([{ name: 'room' }, { name: 'confirmation' }, { name: 'room#undo' }])

  const operator = { headers: { authorization: 'Bearer operator' } }
  const stopped = { params: { id: 'trip:2' } }
  await found.ok('submitExecution', { headers, body: { task: 'trip', input: { guests: 3 }, id: 'trip:2' } })
  await until('it waits', LIMIT_MS, async () => {
    const { state } = await found.ok('describeExecution', { headers, ...stopped })
    return state === 'suspended' ? true : undefined
  })
  await found.ok('cancelExecution', { ...operator, ...stopped, body: { reason: 'the hotel is closed' } })
  expect(await end('trip:2')).toMatchObject({ outcome: 'cancelled' })
  const later = await found.ok('listSteps', { headers, ...stopped })
  expect(later['items']).toMatchObject([{ name: 'room' }, { name: 'confirmation' }, { name: 'room#undo' }])

  const first = { name: 'first', task: 'count', input: { n: 1 } }
  const maybe = { name: 'maybe', task: 'greet', after: { nodes: ['first'] }, isConditional: true }
  await found.ok('submitFlow', { headers, body: { name: 'choice', id: 'choice:1', nodes: [first, maybe] } })
  await found.ok('getFlowResult', { headers, params: { id: 'choice:1' }, query: { wait: '20s' } })
  const { items: members } = await found.ok('listFlowMembers', { headers, params: { id: 'choice:1' } })
  expect(members).toMatchObject([{ state: 'completed' }, { state: 'skipped' }])

  const gather = { name: 'gather', task: 'gather', input: { parts: 3, others: ['beside'] } }
  const beside = { name: 'beside', task: 'count', input: { n: 9 } }
  await found.ok('submitFlow', { headers, body: { name: 'growing', id: 'growing:1', nodes: [gather, beside] } })
  await found.ok('getFlowResult', { headers, params: { id: 'growing:1' }, query: { wait: '20s' } })
  const { items: grown } = await found.ok('listFlowMembers', { headers, params: { id: 'growing:1' } })
  expect(grown).toHaveLength(5)
  const holder = (grown as readonly { readonly id: string; readonly node: string }[]).find(
    ({ node }) => node === 'gather',
  )
  expect((await end(String(holder?.id))).result).toBe(16)

  await found.ok('defineBudget', { ...operator, params: { budget: 'model' }, body: { hard: { tokens: 100 } } })
  const answer = { task: 'answer', id: 'answer:1', budgets: [{ budget: 'model' }] }
  await found.ok('submitExecution', { headers, body: answer })
  expect((await end('answer:1')).result).toBe('spent')
  expect(await found.fabric.budgets.spentBy('answer:1')).toHaveLength(2)

  const listed = async () => (await found.fabric.workers()).items
  expect(await listed()).toMatchObject([{ workerId: 'python', state: 'running', pid: python.pid, slots: 8 }])

  const ended = once(python, 'exit')
  python.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(await listed()).toEqual([])
  expect(Buffer.concat(complaints).toString()).toBe('')
})
