/** Spending and limits of workers over HTTP: what counts once, what asks, and what a former lease can not do. */
import { expect, test } from 'vitest'
import { storedKey } from '../../src/kernel/index.ts'
import { limitPartition } from '../../src/stores/partitions.ts'
import { bearer, byRole, served } from './served.ts'
import type { Served } from './served.ts'

interface Held {
  readonly params: { readonly id: string }
  readonly lease: string
}

async function claim(found: Served): Promise<Held> {
  const body = { tasks: [{ name: 'ask' }], instance: 'i', wait: '20s' }
  const [item] = (await found.ok('claimExecutions', { body }))['items'] as readonly { id: string; lease: string }[]
  if (item === undefined) throw new Error('nothing was claimed')
  return { params: { id: item.id }, lease: item.lease }
}

async function begin(found: Served, budget: object): Promise<Held> {
  await found.ok('defineBudget', { params: { budget: 'model' }, body: budget })
  await found.ok('submitExecution', { body: { task: 'ask', id: 'ask:1', budgets: [{ budget: 'model' }] } })
  return await claim(found)
}

const numbers = async (found: Served) => {
  const { keys } = await found.ok('describeBudget', { params: { budget: 'model' } })
  return JSON.stringify(keys)
}

test('spending counts once for each key, and a reservation is settled or released', async () => {
  const found = await served()
  const { params, lease } = await begin(found, { hard: { tokens: 100 }, onBreach: 'refuse_new' })
  const spend = { params, body: { lease, key: 'a', spending: { tokens: 10 } } }
  expect(await found.ok('spendBudget', spend)).toEqual({ kind: 'spent', hard: [], soft: [] })
  expect(await found.ok('spendBudget', spend)).toMatchObject({ kind: 'already_spent' })
  const reserve = (key: string, tokens: number) =>
    found.ok('reserveBudget', { params, body: { lease, key, spending: { tokens } } })
  expect(await reserve('b', 50)).toEqual({ kind: 'reserved' })
  expect(await reserve('b', 50)).toEqual({ kind: 'reserved' })
  expect(await reserve('c', 50)).toMatchObject({ kind: 'no_room', shortage: { spent: 10, reserved: 50, hard: 100 } })
  const settle = { params, body: { lease, key: 'b', spending: { tokens: 20 } } }
  expect(await found.ok('settleReservation', settle)).toMatchObject({ kind: 'spent' })
  expect(await reserve('c', 50)).toEqual({ kind: 'reserved' })
  await found.ok('releaseReservation', { params, body: { lease, key: 'c' } })
  expect(await numbers(found)).toContain('"spent":{"tokens":30}')

  await found.ok('revokeLease', { params, body: { reason: 'moved' } })
  const next = await claim(found)
  const calls = ['spendBudget', 'reserveBudget', 'settleReservation'] as const
  for (const name of calls) expect([name, ...(await found.refusal(name, spend))]).toEqual([name, 409, 'stale_lease'])
  expect(await found.refusal('releaseReservation', { params, body: { lease, key: 'c' } })).toEqual([409, 'stale_lease'])
  await found.ok('completeExecution', { params, body: { lease: next.lease } })
})

test('a renewal of the lease extends its reservations, and not those of a former lease', async () => {
  const found = await served()
  const expiries = async () => {
    const { records } = await found.fabric.store.dump('q:0')
    const held = records.filter((record) => record.type === 'reservation')
    return new Map(held.map(({ key, expiresAt }) => [key.slice(-1), expiresAt]))
  }
  const { params, lease } = await begin(found, { hard: { tokens: 100 }, onBreach: 'refuse_new' })
  const reserve = (key: string, by: string) =>
    found.ok('reserveBudget', { params, body: { lease: by, key, spending: { tokens: 10 }, ttl: '1m' } })
  await reserve('a', lease)
  await found.ok('revokeLease', { params, body: { reason: 'moved' } })
  const next = await claim(found)
  await reserve('b', next.lease)
  const before = await expiries()

  await found.ok('renewLeases', { body: { items: [{ id: params.id, lease: next.lease }], leaseTtl: '10m' } })
  const after = await expiries()
  expect(after.get('a')).toBe(before.get('a'))
  expect(after.get('b')! - before.get('b')!).toBeGreaterThanOrEqual(19 * 60_000)
  await found.ok('completeExecution', { params, body: { lease: next.lease } })
})

test('a schedule names the budgets of its executions', async () => {
  const found = await served()
  await found.ok('defineBudget', { params: { budget: 'model' }, body: { hard: { tokens: 100 } } })
  const schedule = { schedule: 'nightly' }
  const body = { task: 'ask', cron: '0 3 * * *', budgets: [{ budget: 'model', key: 'acme' }] }
  await found.ok('configureSchedule', { params: schedule, body })
  const missing = { ...body, budgets: [{ budget: 'none' }] }
  expect(await found.refusal('configureSchedule', { params: schedule, body: missing })).toEqual([
    404,
    'budget_not_found',
  ])
  await found.ok('triggerSchedule', { params: schedule })
  const { params, lease } = await claim(found)
  await found.ok('spendBudget', { params, body: { lease, key: 'a', spending: { tokens: 10 } } })
  expect(await numbers(found)).toContain('"key":"acme"')
  await found.ok('completeExecution', { params, body: { lease } })
})

test('a budget that asks for an approval suspends the execution, and the answer raises it', async () => {
  const found = await served()
  const first = await begin(found, { hard: { tokens: 10 }, onBreach: 'suspend' })
  const { params } = first
  const reserve = (lease: string) => ({ params, body: { lease, key: 'a', spending: { tokens: 30 } } })
  expect(await found.ok('reserveBudget', reserve(first.lease))).toEqual({ kind: 'suspended' })
  const waitpoint = 'budget model'
  await found.ok('sendSignal', { params, body: { name: 'approve', waitpoint, by: 'ada' } })
  const second = await claim(found)
  expect(await found.ok('reserveBudget', reserve(second.lease))).toEqual({ kind: 'reserved' })

  const spend = (lease: string) => ({ params, body: { lease, key: 'b', spending: { tokens: 100 } } })
  expect(await found.ok('spendBudget', spend(second.lease))).toEqual({ kind: 'suspended' })
  await found.ok('sendSignal', { params, body: { name: 'reject', waitpoint: 'budget model 2', by: 'ada' } })
  const third = await claim(found)
  const rejected = await found.ok('spendBudget', spend(third.lease))
  expect(rejected).toMatchObject({ kind: 'rejected', message: expect.stringContaining('model') as string })
})

test('an approval adds what it was asked for, however much the next call asks for', async () => {
  const found = await served()
  const first = await begin(found, { hard: { tokens: 10 }, onBreach: 'suspend' })
  const { params } = first
  const reserve = (lease: string, tokens: number) =>
    found.ok('reserveBudget', { params, body: { lease, key: 'a', spending: { tokens } } })
  expect(await reserve(first.lease, 15)).toEqual({ kind: 'suspended' })
  await found.ok('sendSignal', { params, body: { name: 'approve', waitpoint: 'budget model', by: 'ada' } })
  const second = await claim(found)
  expect(await reserve(second.lease, 1_000_000)).toEqual({ kind: 'suspended' })
  expect(await numbers(found)).toContain('"hard":15')

  // What is not valid is asked again, and a wait of the worker's own under the name of a question is none.
  const value = { amounts: { tokens: -1 } }
  await found.ok('sendSignal', { params, body: { name: 'approve', value, waitpoint: 'budget model 2', by: 'ada' } })
  const third = await claim(found)
  const wait = { approval: {} }
  const own = { params, body: { lease: third.lease, name: 'budget model 3', wait } }
  expect(await found.ok('suspendExecution', own)).toMatchObject({ kind: 'suspended' })
  await found.ok('sendSignal', { params, body: { name: 'approve', waitpoint: 'budget model 3', by: 'ada' } })
  const fourth = await claim(found)
  expect(await reserve(fourth.lease, 1_000_000)).toEqual({ kind: 'suspended' })
  expect(await numbers(found)).toContain('"hard":15')
  const steps = (await found.ok('listSteps', { params }))['items'] as readonly { name: string; wait?: object }[]
  expect(steps.map(({ name }) => name)).toEqual([1, 2, 3, 4].map((n) => `budget model${n === 1 ? '' : ` ${n}`}`))
  expect(steps.at(-1)?.wait).toMatchObject({ asks: { tokens: 1_000_000 - 15 } })
})

test('a handler holds a limit back for all, under its own key', async () => {
  const found = await served()
  await found.ok('defineLimit', { params: { limit: 'smtp' }, body: { concurrency: 5 } })
  const limits = [{ limit: 'smtp', key: 'acme' }]
  for (const id of ['ask:1', 'ask:2']) await found.ok('submitExecution', { body: { task: 'ask', id, limits } })
  const { params, lease } = await claim(found)
  const body = { lease, limit: 'smtp', retryAfter: '30ms' }
  expect(await found.ok('holdLimitFor', { params, body })).toMatchObject({ kind: 'delayed' })
  expect((await found.refusal('holdLimitFor', { params, body }))[0]).toBe(409)
  for (let i = 0; i < 2; i++) {
    const next = await claim(found)
    await found.ok('completeExecution', { params: next.params, body: { lease: next.lease } })
  }
  expect(await found.refusal('holdLimitFor', { params, body: { ...body, limit: 'x' } })).toEqual([
    409,
    'execution_not_active',
  ])
})

test('a handler holds back keys of its own namespace, and names the key if it uses several', async () => {
  const found = await served({ authenticate: byRole, fabric: { allNamespaces: true } })
  const [admin, worker] = [bearer('admin'), bearer('worker-acme')]
  await found.ok('defineLimit', { headers: admin, params: { limit: 'smtp' }, body: { concurrency: 5 } })
  const limits = ['a', 'b'].map((key) => ({ limit: 'smtp', key }))
  await found.ok('submitExecution', { headers: worker, body: { task: 'ask', limits } })
  await found.ok('submitExecution', { headers: worker, body: { task: 'ask', limits: [{ limit: 'smtp' }] } })
  const claimed = async () => {
    const asked = { tasks: [{ name: 'ask' }], instance: 'i', count: 2, wait: '20s' }
    const { items } = await found.ok('claimExecutions', { headers: worker, body: asked })
    return items as readonly { id: string; lease: string }[]
  }
  const [first, second] = await claimed()
  const hold = async ({ id, lease }: { id: string; lease: string }, key?: string) => {
    const body = { lease, limit: 'smtp', retryAfter: '1m', ...(key === undefined ? {} : { key }) }
    const answer = await found.call('holdLimitFor', { headers: worker, params: { id }, body })
    return answer.body['kind'] ?? answer.body['code']
  }
  expect(await hold(first!)).toBe('invalid_input')
  expect([await hold(first!, 'b'), await hold(second!)]).toEqual(['delayed', 'delayed'])

  const { records } = await found.fabric.store.dump(limitPartition('smtp', found.fabric.store.settings))
  const held = records.flatMap((record) =>
    record.type === 'gauge' && record.heldUntil !== undefined ? [record.key] : [],
  )
  expect(held.sort()).toEqual(['', 'b'].map((key) => storedKey({ namespace: 'acme', key })))
})
