/** Workers over HTTP: leases, fences, long polls, and what such workers leave to others. */
import { expect, test } from 'vitest'
import { signal, task } from '../../src/contract.ts'
import { KeyRing } from '../../src/client/index.ts'
import { delivery } from '../../src/client/webhooks/delivery.ts'
import { deliveryKey } from '../../src/client/webhooks/webhook-calls.ts'
import { until } from '../servers/until.ts'
import { byRole, served } from './served.ts'
import type { Served } from './served.ts'

const LIMIT_MS = 20_000

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

test('work that needs more than a handler is left to workers that connect to the store', async () => {
  const found = await served()
  await found.ok('defineLimit', { params: { limit: 'smtp' }, body: { concurrency: 1 } })
  await submit(found, 'limited', { limits: [{ limit: 'smtp' }], priority: 9 })
  await submit(found, 'plain')
  await submit(found, 'gpu', { needs: ['gpu'], fairness: { key: 'acme' } })
  expect((await claim(found, { count: 1 })).map(({ key }) => key)).toEqual(['plain'])
  const needs = { tasks: [{ name: 'mail', needs: ['gpu'] }] }
  expect((await claim(found, { ...needs, count: 10 })).map(({ key }) => key)).toEqual(['gpu'])

  await found.fabric.work([task('mail').handle(() => 'by a worker of the store')], { lanes: ['default'] })
  const result = await found.ok('getResult', { params: { id: 'limited' }, query: { wait: '20s' } })
  expect(result).toMatchObject({ result: 'by a worker of the store' })
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
