/** Workers over HTTP that evaluate conditions of flows, and that undo what their handlers have done. */
import { expect, test } from 'vitest'
import { allOf, flow, task } from '../../src/contract.ts'
import { until } from '../servers/until.ts'
import { served } from './served.ts'
import type { Served } from './served.ts'

interface Item {
  readonly params: { readonly id: string }
  readonly lease: string
  readonly [field: string]: unknown
}

async function claim(found: Served, name: string, more: Readonly<Record<string, unknown>> = {}): Promise<Item[]> {
  const body = { tasks: [{ name }], instance: 'i', ...more }
  const { items } = await found.ok('claimExecutions', { body })
  return (items as readonly (Item & { readonly id: string })[]).map((item) => ({ ...item, params: { id: item.id } }))
}

async function claimOne(found: Served, name: string, more: Readonly<Record<string, unknown>> = {}): Promise<Item> {
  const [item] = await claim(found, name, { wait: '10s', ...more })
  if (item === undefined) throw new Error('nothing was claimed')
  return item
}

const UNDO = { takes: ['undo'] }

/** Books, and registers how the booking is undone. */
async function booked(found: Served, id = 'b'): Promise<Item> {
  await found.ok('submitExecution', { body: { task: 'booking', id } })
  const held = await claimOne(found, 'booking', UNDO)
  const { params, lease } = held
  const register = { params, body: { lease, count: 1 } }
  expect(await found.ok('registerCompensations', register)).toEqual({ kind: 'registered' })
  expect(await found.ok('registerCompensations', register)).toEqual({ kind: 'already_registered' })
  await found.ok('recordStep', { params, body: { lease, name: 'book', value: 17 } })
  return held
}

test('a worker that takes conditions decides whether a member runs or is skipped', async () => {
  const found = await served()
  const nodes = [
    { name: 'measure', task: 'measure' },
    ...['shrink', 'copy'].map((name) => ({ name, task: name, after: { nodes: ['measure'] }, isConditional: true })),
  ]
  await found.ok('submitFlow', { body: { name: 'resize', id: 'r', nodes } })
  const measure = await claimOne(found, 'measure')
  expect(measure['condition']).toBeUndefined()
  await found.ok('completeExecution', { params: measure.params, body: { lease: measure.lease, result: { size: 9 } } })

  expect(await claim(found, 'shrink')).toEqual([])
  const shrink = await claimOne(found, 'shrink', { takes: ['conditions'] })
  expect(shrink).toMatchObject({ condition: { flow: 'resize', node: 'shrink' }, inputs: { measure: { size: 9 } } })
  await found.ok('completeExecution', { params: shrink.params, body: { lease: shrink.lease, result: 'small' } })
  const copy = await claimOne(found, 'copy', { takes: ['conditions'] })
  const skip = { params: copy.params, body: { lease: copy.lease } }
  expect(await found.ok('skipExecution', skip)).toEqual({ kind: 'skipped' })
  expect(await found.ok('skipExecution', skip)).toEqual({ kind: 'already_skipped' })

  const result = await found.ok('getFlowResult', { params: { id: 'r' }, query: { wait: '20s' } })
  expect(result).toMatchObject({ state: 'completed' })
  const { items } = await found.ok('listFlowMembers', { params: { id: 'r' } })
  expect(items).toMatchObject([{ state: 'completed' }, { state: 'completed' }, { state: 'skipped' }])
})

test('a condition of a program has the input of its flow, and only a member with one is skipped', async () => {
  const found = await served()
  const measure = task<undefined, number>('measure')
  const shrink = task<unknown, undefined>('shrink')
  const resize = flow('resize', (f, input: { limit: number }) => {
    const measured = f.node('measure', measure)
    f.node('shrink', shrink, { after: allOf({ measured }), when: ({ measured: size }) => size > input.limit })
  })
  await found.fabric.submit(resize, { limit: 5 })
  const first = await claimOne(found, 'measure')
  const refused = await found.refusal('skipExecution', { params: first.params, body: { lease: first.lease } })
  expect(refused).toEqual([400, 'invalid_input'])
  await found.ok('completeExecution', { params: first.params, body: { lease: first.lease, result: 9 } })
  const second = await claimOne(found, 'shrink', { takes: ['conditions'] })
  expect(second).toMatchObject({ condition: { input: { limit: 5 } }, inputs: { measured: 9 } })
})

test('a final failure leaves the lease to the compensations, and the execution fails after them', async () => {
  const found = await served()
  const { params, lease } = await booked(found)
  const early = await found.refusal('endCompensations', { params, body: { lease } })
  expect(early).toEqual([400, 'invalid_input'])

  const failure = { lease, message: 'it broke', category: 'permanent', undo: 'ready' }
  expect(await found.ok('failExecution', { params, body: failure })).toEqual({ kind: 'unwinding' })
  expect(await found.ok('failExecution', { params, body: failure })).toEqual({ kind: 'already_unwinding' })
  const record = { params, body: { lease, name: 'book' } }
  expect(await found.ok('recordCompensation', record)).toEqual({ kind: 'recorded' })
  expect(await found.ok('recordCompensation', record)).toEqual({ kind: 'already_recorded' })
  const { items } = await found.ok('listSteps', { params })
  expect(items).toMatchObject([{ name: 'book' }, { name: 'book#undo', state: 'completed' }])
  const end = { params, body: { lease } }
  expect(await found.ok('endCompensations', end)).toEqual({ kind: 'ended' })
  expect(await found.ok('endCompensations', end)).toEqual({ kind: 'already_ended' })
  expect(await found.ok('getResult', { params })).toMatchObject({ outcome: 'failed', failure: { message: 'it broke' } })
})

test('another worker continues the compensations of one that is lost, and says what went wrong', async () => {
  const found = await served()
  const { params, lease } = await booked(found)
  await found.ok('failExecution', {
    params,
    body: { lease, message: 'it broke', category: 'permanent', undo: 'ready' },
  })
  await found.ok('revokeLease', { params, body: { reason: 'it is lost' } })

  expect(await claim(found, 'booking')).toEqual([])
  const next = await claimOne(found, 'booking', UNDO)
  expect(next).toMatchObject({
    compensationCount: 1,
    unwinding: { outcome: 'failed', reason: 'it broke' },
    stepCount: 1,
  })
  const body = { lease: next.lease, name: 'book', failure: 'the hotel is closed' }
  await found.ok('recordCompensation', { params, body })
  await found.ok('endCompensations', { params, body: { lease: next.lease, failure: 'book: the hotel is closed' } })
  expect(await found.ok('describeExecution', { params })).toMatchObject({
    outcome: 'failed',
    undoFailure: { category: 'compensation_failed', message: 'book: the hotel is closed' },
  })
})

test('a cancel asks for the compensations, and a run that has registered too few is repeated', async () => {
  const found = await served()
  const { params, lease } = await booked(found)
  await found.ok('cancelExecution', { params, body: { reason: 'the customer left' } })
  const { items } = await found.ok('renewLeases', { body: { items: [{ ...params, lease }] } })
  expect(items).toMatchObject([{ ok: true, cancel: { reason: 'the customer left' } }])
  await found.ok('recordCompensation', { params, body: { lease, name: 'book' } })
  await found.ok('endCompensations', { params, body: { lease } })
  expect(await found.ok('getResult', { params })).toMatchObject({ outcome: 'cancelled', reason: 'the customer left' })

  const again = await booked(found, 'c')
  await found.ok('releaseExecution', { params: again.params, body: { lease: again.lease, reason: 'stopping' } })
  const other = await claimOne(found, 'booking', UNDO)
  expect(other['compensationCount']).toBe(1)
  const body = { lease: other.lease, message: 'it broke', category: 'permanent', undo: 'incomplete' }
  expect(await found.ok('failExecution', { params: other.params, body })).toMatchObject({ kind: 'retry_scheduled' })
})

test('a run that undoes its steps begins no wait and no child, and finds those of earlier runs', async () => {
  const found = await served()
  const { params, lease } = await booked(found)
  await found.ok('startChildren', { params, body: { lease, children: [{ name: 'a', task: 'part' }] } })
  await found.ok('sendSignal', { params, body: { name: 'paid', value: 3 } })
  await found.ok('suspendExecution', { params, body: { lease, wait: { signal: 'paid' } } })
  await found.ok('cancelExecution', { params, body: { reason: 'the customer left' } })
  const sleeping = { params, body: { lease, wait: { sleep: '1h' } } }
  expect(await found.ok('suspendExecution', sleeping)).toEqual({ kind: 'cancelled' })

  const next = await claimOne(found, 'booking', UNDO)
  expect(next).toMatchObject({ unwinding: { outcome: 'cancelled' } })
  const refusal = async (name: 'suspendExecution' | 'startChildren' | 'joinChildren', body: object) =>
    await found.refusal(name, { params, body: { lease: next.lease, ...body } })
  const cancelled = [409, 'execution_cancelled']
  expect(await refusal('suspendExecution', { wait: { sleep: '1h' } })).toEqual(cancelled)
  expect(await refusal('suspendExecution', { wait: { signal: 'other' } })).toEqual(cancelled)
  expect(
    await refusal('startChildren', {
      children: [
        { name: 'a', task: 'part' },
        { name: 'b', task: 'part' },
      ],
    }),
  ).toEqual(cancelled)
  expect(await refusal('joinChildren', { name: 'all', children: ['a'] })).toEqual(cancelled)

  const ok = async (name: 'suspendExecution' | 'startChildren', body: object) =>
    await found.ok(name, { params, body: { lease: next.lease, ...body } })
  expect(await ok('suspendExecution', { wait: { signal: 'paid' } })).toMatchObject({
    kind: 'answered',
    answer: { value: 3 },
  })
  expect(await ok('startChildren', { children: [{ name: 'a', task: 'part' }] })).toMatchObject({
    children: [{ name: 'a', isNew: false }],
  })
  await found.ok('recordCompensation', { params, body: { lease: next.lease, name: 'book' } })
  await found.ok('endCompensations', { params, body: { lease: next.lease } })
  expect(await found.ok('getResult', { params })).toMatchObject({ outcome: 'cancelled' })
})

test('a worker in a program releases a member with a condition of the graph, and why shows the reason', async () => {
  const found = await served()
  const nodes = [{ name: 'shrink', task: 'shrink', isConditional: true }]
  await found.ok('submitFlow', { body: { name: 'resize', id: 'r', nodes } })
  const { items } = await found.ok('listFlowMembers', { params: { id: 'r' } })
  const [member] = items as readonly { readonly id: string }[]
  const shrink = found.fabric.execution(String(member?.id))
  const worker = await found.fabric.work([task('shrink').handle(() => 'small')])
  await until('it is released', 20_000, async () =>
    (await shrink.describe()).refusals === undefined ? undefined : true,
  )
  expect((await shrink.why()).text).toContain('submitted with isConditional is left to a worker over HTTP')
  await worker.close()
})
