/** Workers over HTTP: leases, fences, long polls, and what such workers leave to others. */
import { expect, test } from 'vitest'
import { signal, task } from '../../src/contract.ts'
import { KeyRing } from '../../src/client/index.ts'
import { delivery } from '../../src/client/webhooks/delivery.ts'
import { deliveryKey } from '../../src/client/webhooks/webhook-calls.ts'
import { until } from '../servers/until.ts'
import { byRole, served } from './served.ts'
import type { Served } from './served.ts'

const LIMIT_MS = 60_000

interface Item {
  readonly id: string
  readonly lease: string
  readonly [field: string]: unknown
}

const asked = { tasks: [{ name: 'mail' }], instance: 'mailer-1' }

async function claim(found: Served, more: Readonly<Record<string, unknown>> = {}): Promise<Item[]> {
  const { items } = await found.ok('claimExecutions', { body: { ...asked, ...more } })
  return items as Item[]
}

async function claimOne(found: Served, more: Readonly<Record<string, unknown>> = {}): Promise<Item> {
  const [item] = await claim(found, more)
  if (item === undefined) throw new Error('nothing was claimed')
  return item
}

async function submit(found: Served, id: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await found.ok('submitExecution', { body: { task: 'mail', id, ...more } })
}

test('a lease is a fence: a worker that has lost it can change nothing', async () => {
  const found = await served()
  await submit(found, 'a', { input: { to: 'ada' } })
  const first = await claimOne(found)
  expect(first).toMatchObject({ key: 'a', input: { to: 'ada' }, attempt: 1, stepCount: 0 })
  expect(await claim(found)).toEqual([])
  const params = { id: first.id }
  await found.ok('revokeLease', { params, body: { reason: 'moved' } })
  const second = await claimOne(found)
  expect(second['idempotencyKey']).toBe(first['idempotencyKey'])

  const { lease } = first
  const calls = [
    ['completeExecution', { lease, result: 1 }],
    ['failExecution', { lease, message: 'it broke' }],
    ['releaseExecution', { lease, reason: 'stopping' }],
    ['postponeExecution', { lease, delay: '1s' }],
    ['recordStep', { lease, name: 'sent', value: 1 }],
    ['appendFrames', { lease, append: 1, frames: [{ name: 'token', value: 'x' }] }],
  ] as const
  for (const [name, body] of calls) {
    expect([name, ...(await found.refusal(name, { params, body }))]).toEqual([name, 409, 'stale_lease'])
  }
  const renewed = await found.ok('renewLeases', {
    body: { items: [first, second].map(({ id, lease: of }) => ({ id, lease: of })) },
  })
  expect(renewed['items']).toMatchObject([{ ok: false, error: { code: 'stale_lease' } }, { ok: true }])

  const report = { params, body: { lease: second.lease, result: { sent: true } } }
  expect(await found.ok('completeExecution', report)).toEqual({ kind: 'completed' })
  expect(await found.ok('completeExecution', report)).toEqual({ kind: 'already_completed' })
  expect(await found.ok('getResult', { params })).toMatchObject({ outcome: 'completed', result: { sent: true } })
  const { items } = await found.ok('listAttempts', { params })
  expect(items).toMatchObject([{ outcome: 'lease_revoked', workerInstanceId: 'mailer-1' }, { outcome: 'completed' }])
})

test('steps and frames outlive the attempt that has written them', async () => {
  const found = await served({ fabric: { keys: KeyRing.begin(Date.now()) } })
  await submit(found, 'a', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } } })
  const first = await claimOne(found)
  const params = { id: first.id }
  const step = { lease: first.lease, name: 'charge', value: { receipt: 7 } }
  expect(await found.ok('recordStep', { params, body: step })).toMatchObject({ kind: 'recorded' })
  const frames = {
    lease: first.lease,
    append: 1,
    frames: [
      { name: 'token', value: 'Dear' },
      { name: 'token', valueBytes: 'AQI=' },
    ],
  }
  expect(await found.ok('appendFrames', { params, body: frames })).toEqual({ kind: 'appended' })
  expect(await found.ok('appendFrames', { params, body: frames })).toEqual({ kind: 'already_appended' })
  const failure = { lease: first.lease, message: 'it broke', category: 'smtp', retryAfter: '0ms' }
  expect(await found.ok('failExecution', { params, body: failure })).toMatchObject({ kind: 'retry_scheduled' })

  const [second] = await claim(found, { wait: '20s' })
  expect(second).toMatchObject({ attempt: 2, stepCount: 1 })
  const again = { ...step, lease: second?.lease, value: { receipt: 8 } }
  expect(await found.ok('recordStep', { params, body: again })).toEqual({
    kind: 'already_recorded',
    value: { receipt: 7 },
  })
  const steps = await found.ok('listSteps', { params, query: { values: true } })
  expect(steps['items']).toMatchObject([{ name: 'charge', value: { receipt: 7 } }])
  const items = (await found.ok('listFrames', { params, query: { name: 'token' } }))['items'] as Item[]
  expect(items.filter(({ kind }) => kind === 'frame')).toMatchObject([{ value: 'Dear' }, { valueBytes: 'AQI=' }])
  const last = { lease: second?.lease, message: 'it broke again', category: 'permanent' }
  expect(await found.ok('failExecution', { params, body: last })).toEqual({ kind: 'failed' })
  expect(await found.ok('getResult', { params })).toMatchObject({ failure: { message: 'it broke again' } })
})

test('log lines are kept once and in order, also after the report, and not those of a former holder', async () => {
  const found = await served()
  await submit(found, 'a', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } } })
  const first = await claimOne(found)
  const params = { id: first.id }
  const lines = [
    { level: 'info', message: 'dialling', ageMs: 500 },
    { level: 'warn', message: 'no answer', step: 'call', fields: { tries: 3 } },
  ]
  const body = { lease: first.lease, append: 1, lines }
  expect(await found.ok('appendLogLines', { params, body })).toEqual({ kind: 'appended' })
  expect(await found.ok('appendLogLines', { params, body })).toEqual({ kind: 'already_appended' })
  const skipped = { ...body, append: 3 }
  expect(await found.refusal('appendLogLines', { params, body: skipped })).toEqual([400, 'invalid_input'])
  const large = Array.from({ length: 100 }, () => ({ level: 'info', message: 'x'.repeat(3_500) }))
  const tooLarge = { ...body, append: 2, lines: large }
  expect(await found.refusal('appendLogLines', { params, body: tooLarge })).toEqual([400, 'invalid_input'])

  await found.ok('failExecution', { params, body: { lease: first.lease, message: 'it broke' } })
  const last = { lease: first.lease, append: 2, lines: [{ level: 'error', message: 'gave up' }] }
  expect(await found.ok('appendLogLines', { params, body: last })).toEqual({ kind: 'appended' })
  const second = await claimOne(found, { wait: '20s' })
  expect(await found.refusal('appendLogLines', { params, body: { ...last, append: 3 } })).toEqual([409, 'stale_lease'])
  await found.ok('appendLogLines', { params, body: { ...body, lease: second.lease, lines: lines.slice(0, 1) } })

  const items = (await found.ok('listLogs', { params }))['items'] as { readonly message: string; readonly at: number }[]
  expect(items).toMatchObject([
    { level: 'info', message: 'dialling', attempt: 1 },
    { level: 'warn', message: 'no answer', step: 'call', fields: { tries: 3 } },
    { level: 'error', message: 'gave up' },
    { level: 'info', message: 'dialling', attempt: 2 },
  ])
  expect(Number(items[1]?.at) - Number(items[0]?.at)).toBe(500)
})

test('a claim waits for work, and gives back what it claims for a worker that has left', async () => {
  const found = await served()
  const waiting = claim(found, { wait: '20s', count: 5 })
  await submit(found, 'a', { delay: '20ms' })
  const [item] = await waiting
  expect(item).toMatchObject({ key: 'a' })
  expect(await claim(found, { wait: '10ms' })).toEqual([])
  expect(await found.refusal('claimExecutions', { body: { ...asked, wait: '2m' } })).toEqual([400, 'invalid_input'])
  await found.ok('postponeExecution', { params: { id: String(item?.id) }, body: { lease: item?.lease, delay: '1h' } })

  const gone = new AbortController()
  const left = found.fabric.leases.claim({
    tasks: [{ name: 'mail' }],
    workerId: 'w',
    instanceId: 'i',
    wait: '20s',
    signal: gone.signal,
  })
  const submitted = submit(found, 'b')
  gone.abort()
  await expect(left.then((items) => items.length)).resolves.toBe(0)
  await submitted
  expect(await claimOne(found, { wait: '20s' })).toMatchObject({ key: 'b', attempt: 1 })
})

test('the holder of a lease learns of a cancel when it renews', async () => {
  const found = await served()
  await submit(found, 'a')
  const { id, lease } = await claimOne(found, { leaseTtl: '10s' })
  expect(await found.ok('cancelExecution', { params: { id }, body: { reason: 'enough' } })).toEqual({
    kind: 'cancel_requested',
  })
  const { items } = await found.ok('renewLeases', { body: { items: [{ id, lease }], leaseTtl: '20s' } })
  expect(items).toMatchObject([{ ok: true, cancel: { reason: 'enough', by: 'http' } }])
  expect(await found.ok('releaseExecution', { params: { id }, body: { lease, reason: 'cancelled' } })).toEqual({
    kind: 'cancelled',
  })
})

test('permits of a limit are taken with the claim, renewed with the lease and returned with its end', async () => {
  const found = await served()
  const limitParams = { params: { limit: 'smtp' } }
  await found.ok('defineLimit', { ...limitParams, body: { concurrency: 1 } })
  const use = { limits: [{ limit: 'smtp' }] }
  for (const id of ['a', 'b', 'c']) await submit(found, id, use)
  const used = async () => (await found.ok('describeLimit', limitParams))['keys'] as readonly { held: number }[]

  const [first, ...others] = await claim(found, { count: 10 })
  expect([first?.key, others]).toEqual(['a', []])
  expect(await claim(found)).toEqual([])
  const { items } = await found.ok('renewLeases', { body: { items: [{ id: first?.id, lease: first?.lease }] } })
  expect(items).toMatchObject([{ ok: true }])
  expect(await used()).toMatchObject([{ held: 1 }])
  await found.ok('completeExecution', { params: { id: String(first?.id) }, body: { lease: first?.lease } })

  const second = await claimOne(found, { wait: '20s' })
  const wait = { signal: 'go' }
  const params = { id: second.id }
  await found.ok('suspendExecution', { params, body: { lease: second.lease, wait } })
  const third = await claimOne(found, { wait: '20s' })
  await found.ok('sendSignal', { params, body: { name: 'go' } })
  expect(await claim(found)).toEqual([])
  const failure = { lease: third.lease, message: 'it broke' }
  await found.ok('failExecution', { params: { id: third.id }, body: failure })
  const last = await claimOne(found, { wait: '20s' })
  expect(last.id).toBe(second.id)
  await found.ok('releaseExecution', { params, body: { lease: last.lease, reason: 'stopping' } })
  expect(await used()).toMatchObject([{ held: 0 }])
})

test('workers over HTTP and workers of the store share a limit and a rate', async () => {
  const found = await served()
  await found.ok('defineLimit', { params: { limit: 'smtp' }, body: { concurrency: 1 } })
  await found.ok('defineLimit', { params: { limit: 'api' }, body: { rate: { count: 2, per: '200ms' } } })
  await submit(found, 'gpu', { needs: ['gpu'], fairness: { key: 'acme' } })
  const needs = { tasks: [{ name: 'mail', needs: ['gpu'] }] }
  expect((await claim(found, { ...needs, count: 10 })).map(({ key }) => key)).toEqual(['gpu'])

  const ids = Array.from({ length: 8 }, (_, i) => `limited:${i}`)
  for (const id of ids) await submit(found, id, { limits: [{ limit: 'smtp' }, { limit: 'api' }] })
  let running = 0
  let most = 0
  const busy = async () => {
    most = Math.max(most, (running += 1))
    await new Promise((resolve) => setTimeout(resolve, 5))
    running -= 1
  }
  await found.fabric.work([task('mail').handle(busy)], { lanes: ['default'], concurrency: 4 })
  const stop = new AbortController()
  const remote = async () => {
    while (!stop.signal.aborted) {
      for (const { id, lease } of await claim(found, { wait: '50ms', count: 2 })) {
        await busy()
        await found.ok('completeExecution', { params: { id }, body: { lease } })
      }
    }
  }
  const loop = remote()
  for (const id of ids) await found.ok('getResult', { params: { id }, query: { wait: '20s' } })
  stop.abort()
  await loop
  expect(most).toBe(1)
})

test('steps that are to be undone are undone by a worker that has the compensations', async () => {
  const found = await served()
  let undone = 0
  const booking = task('booking').handle(async (_input: unknown, ctx) => {
    await ctx.compensate('book', () => void (undone += 1))
    await ctx.waitFor(signal('paid'))
  })
  const worker = await found.fabric.work([booking], { lanes: ['default'] })
  const params = { id: 'b' }
  await found.ok('submitExecution', { body: { task: 'booking', id: 'b' } })
  await until('it waits', LIMIT_MS, async () => {
    const { state } = await found.ok('describeExecution', { params })
    return state === 'suspended' ? true : undefined
  })
  await worker.close()
  await found.ok('sendSignal', { params, body: { name: 'paid' } })
  const tasks = [{ name: 'booking' }]
  const { lease } = await claimOne(found, { tasks })
  const body = { lease, message: 'it broke', category: 'permanent' }
  expect(await found.ok('failExecution', { params, body })).toMatchObject({ kind: 'unwinding' })
  expect(await claim(found, { tasks })).toEqual([])

  await found.fabric.work([booking], { lanes: ['default'] })
  expect(await found.ok('getResult', { params, query: { wait: '20s' } })).toMatchObject({ outcome: 'failed' })
  expect(undone).toBe(1)
})

test('a worker that is bound to a namespace claims in it only', async () => {
  const found = await served({ authenticate: byRole, fabric: { allNamespaces: true } })
  const worker = (name: string) => ({ headers: { authorization: `Bearer worker${name}` } })
  await found.ok('submitExecution', { ...worker('-acme'), body: { task: 'mail', id: 'a' } })
  const items = async (name: string) => (await found.ok('claimExecutions', { ...worker(name), body: asked }))['items']
  expect([await items('-other'), await items('')]).toEqual([[], []])
  expect(await items('-acme')).toMatchObject([{ key: 'a', namespace: 'acme' }])
})

test('a worker that has registered is listed, and learns of a request to drain from its claims and renewals', async () => {
  const found = await served({ authenticate: byRole })
  const worker = { headers: { authorization: 'Bearer worker' } }
  const operator = { headers: { authorization: 'Bearer operator' } }
  const params = { id: 'mailer-1' }
  const body = { tasks: [{ name: 'mail', version: 2 }], lanes: ['default', 'bulk'], slots: 4, running: 1 }
  expect(await found.ok('registerWorker', { ...worker, params, body })).toMatchObject({ kind: 'registered' })
  const { items } = await found.ok('listWorkers', operator)
  expect(items).toMatchObject([{ instanceId: 'mailer-1', workerId: 'worker', running: 1, tasks: [{ version: 2 }] }])
  await found.ok('drainWorker', { ...operator, params })

  await found.ok('submitExecution', { ...worker, body: { task: 'mail', id: 'a' } })
  const claimed = (await found.ok('claimExecutions', { ...worker, body: asked }))['items'] as Item[]
  const held = claimed.map(({ id, lease }) => ({ id, lease }))
  const asks = async () => [
    (await found.ok('claimExecutions', { ...worker, body: asked }))['drain'],
    (await found.ok('renewLeases', { ...worker, body: { items: held, instance: 'mailer-1' } }))['drain'],
    (await found.ok('renewLeases', { ...worker, body: { items: held } }))['drain'],
  ]
  const told = await until('it is asked to drain', LIMIT_MS, async () => {
    const answers = await asks()
    return answers[0] === true ? answers : undefined
  })
  expect(told).toEqual([true, true, undefined])
  expect(await found.ok('registerWorker', { ...worker, params, body: { ...body, draining: true } })).toMatchObject({
    kind: 'refreshed',
    drain: true,
  })
  expect(await found.fabric.workers()).toMatchObject({ items: [{ state: 'draining' }] })
  expect(await found.ok('unregisterWorker', { ...worker, params })).toEqual({ kind: 'unregistered' })
  const viewer = { headers: { authorization: 'Bearer viewer' } }
  expect(await found.refusal('registerWorker', { ...viewer, params, body })).toEqual([403, 'forbidden'])
})

test('what belongs to FlowFabric is out of reach: its tasks are neither submitted nor claimed, and its ids not taken', async () => {
  const found = await served()
  const name = delivery.name
  const id = deliveryKey('crm', '0-1-a')
  const lanes = ['flowfabric.webhooks']
  const refusals = [
    await found.refusal('submitExecution', { body: { task: name } }),
    await found.refusal('claimExecutions', { body: { ...asked, tasks: [{ name }], lanes } }),
    await found.refusal('submitExecution', { body: { task: 'mail', id } }),
    await found.refusal('submitExecution', { body: { task: 'mail' }, headers: { 'idempotency-key': id } }),
  ]
  expect(refusals).toEqual(refusals.map(() => [400, 'invalid_input']))
})
