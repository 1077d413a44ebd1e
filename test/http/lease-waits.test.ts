/** Waits and children of workers over HTTP: what is recorded once, what is refused, and what ends a lease. */
import { expect, test } from 'vitest'
import { KeyRing } from '../../src/client/index.ts'
import { served } from './served.ts'
import type { Served } from './served.ts'

interface Held {
  readonly params: { readonly id: string }
  readonly lease: string
}

async function claim(found: Served, task = 'order'): Promise<Held> {
  const { items } = await found.ok('claimExecutions', { body: { tasks: [{ name: task }], instance: 'i', wait: '20s' } })
  const [item] = items as readonly { readonly id: string; readonly lease: string }[]
  if (item === undefined) throw new Error('nothing was claimed')
  return { params: { id: item.id }, lease: item.lease }
}

async function begin(found: Served): Promise<Held> {
  await found.ok('submitExecution', { body: { task: 'order', id: 'order:1' } })
  return await claim(found)
}

test('a sleep ends the lease, and is over for the next holder', async () => {
  const found = await served()
  const { params, lease } = await begin(found)
  const body = { lease, name: 'pause', wait: { sleep: '20ms' } }
  expect(await found.ok('suspendExecution', { params, body })).toMatchObject({ kind: 'suspended' })
  expect((await found.ok('suspendExecution', { params, body }))['kind']).toBe('already_suspended')
  expect((await found.refusal('completeExecution', { params, body: { lease } }))[0]).toBe(409)

  const next = await claim(found)
  const again = { ...body, lease: next.lease }
  expect(await found.ok('suspendExecution', { params, body: again })).toEqual({ kind: 'answered' })
  expect(await found.refusal('suspendExecution', { params, body })).toEqual([409, 'stale_lease'])
})

test('a signal that came first answers at once, and the lease stays', async () => {
  const found = await served()
  const { params, lease } = await begin(found)
  await found.ok('sendSignal', { params, body: { name: 'paid', value: { amount: 12 }, by: 'bank' } })
  await found.ok('sendSignal', { params, body: { name: 'packed', valueBytes: 'AQI=' } })

  const paid = await found.ok('suspendExecution', { params, body: { lease, wait: { signal: 'paid' } } })
  expect(paid).toMatchObject({ kind: 'answered', answer: { ok: true, name: 'paid', value: { amount: 12 } } })
  const ready = { every: [{ signal: 'packed' }], timeout: '1h' }
  const packed = await found.ok('suspendExecution', { params, body: { lease, name: 'ready', wait: ready } })
  expect(packed).toMatchObject({ answer: { ok: true, signals: [{ name: 'packed', valueBytes: 'AQI=' }] } })
  const late = { signal: 'late', timeout: '1ms' }
  expect(await found.ok('suspendExecution', { params, body: { lease, wait: late } })).toMatchObject({
    kind: 'suspended',
  })
  const next = await claim(found)
  const timedOut = await found.ok('suspendExecution', { params, body: { lease: next.lease, wait: late } })
  expect(timedOut).toMatchObject({ kind: 'answered', answer: { ok: false, reason: 'timed_out' } })
})

test('conditions count signals, operators end waits, and what cannot be met is refused', async () => {
  const found = await served({ fabric: { keys: KeyRing.begin(Date.now()) } })
  const { params, lease } = await begin(found)
  const wait = async (name: string, given: unknown, held = lease) =>
    await found.ok('suspendExecution', { params, body: { lease: held, name, wait: given } })
  for (const by of ['ada', 'bob']) await found.ok('sendSignal', { params, body: { name: 'yes', by } })
  const count = { count: 2, at: [{ signal: 'yes' }], by: 'sources', name: 'yes' }
  expect(await wait('votes', count)).toMatchObject({ kind: 'answered', answer: { ok: true } })
  await found.ok('openWaitpoint', { params, body: { lease, key: 'door', expires: '1h' } })
  await found.ok('sendSignal', { params, body: { name: 'knock', waitpoint: 'door', value: 1 } })
  expect(await wait('door', { waitpoint: 'door' })).toMatchObject({ answer: { name: 'knock', value: 1 } })
  await found.ok('openWaitpoint', { params, body: { lease, key: 'gate' } })
  const either = { either: [{ signal: 'no' }, { waitpoint: 'gate' }] }
  expect(await wait('one', either)).toMatchObject({ kind: 'suspended' })
  await found.ok('resumeExecution', { params, body: { reason: 'by phone' } })
  const next = await claim(found)
  const ended = await wait('one', either, next.lease)
  expect(ended).toMatchObject({ answer: { ok: false, reason: 'resumed', note: 'by phone' } })

  const refused = async (given: unknown, name?: string) =>
    await found.refusal('suspendExecution', { params, body: { lease: next.lease, name, wait: given } })
  expect(await refused({ approval: { need: 2, of: ['ada'] } }, 'x')).toEqual([400, 'invalid_input'])
  expect(await refused({ operator: true })).toEqual([400, 'invalid_input'])
  expect(await refused({ signal: 'a', sleep: '1s' })).toEqual([400, 'invalid_input'])
  expect(await refused({ waitpoint: 'unknown' })).toEqual([404, 'waitpoint_not_found'])
})

test('children are started once, and a wait for them gets one verdict', async () => {
  const found = await served()
  const { params, lease } = await begin(found)
  const children = ['a', 'b', 'c'].map((name) => ({ name, task: 'part', input: name }))
  const start = { params, body: { lease, children } }
  const [first, again] = [await found.ok('startChildren', start), await found.ok('startChildren', start)]
  const ids = (answer: typeof first) => (answer['children'] as readonly { readonly id: string }[]).map(({ id }) => id)
  expect(ids(again)).toEqual(ids(first))
  expect(again['children']).toMatchObject([{ isNew: false }, { isNew: false }, { isNew: false }])
  const one = { lease, name: 'one', children: ['a', 'b', 'c'], policy: 'quorum', need: 1 }
  expect(await found.ok('joinChildren', { params, body: one })).toEqual({ kind: 'suspended' })
  const part = await claim(found, 'part')
  await found.ok('completeExecution', { params: part.params, body: { lease: part.lease, resultBytes: 'AQI=' } })

  const next = await claim(found)
  const decided = await found.ok('joinChildren', { params, body: { ...one, lease: next.lease } })
  expect(decided).toMatchObject({ kind: 'decided', verdict: 'satisfied' })
  expect(decided['winners']).toHaveLength(1)
  expect(JSON.stringify(decided['children'])).toContain('"resultBytes":"AQI="')
  const second = await claim(found, 'part')
  await found.ok('completeExecution', { params: second.params, body: { lease: second.lease } })
  const third = await claim(found, 'part')
  const failure = { lease: third.lease, message: 'it broke', category: 'permanent' }
  await found.ok('failExecution', { params: third.params, body: failure })
  const all = { name: 'all', children: ['a', 'b', 'c'], policy: 'settled' }
  const ended = await found.ok('joinChildren', { params, body: { ...all, lease: next.lease } })
  const outcomes = (ended['children'] as readonly { readonly outcome: string }[]).map(({ outcome }) => outcome)
  expect(outcomes.toSorted()).toEqual(['completed', 'completed', 'failed'])
  expect(JSON.stringify(ended['children'])).toContain('"message":"it broke"')
  const refused = async (more: object) =>
    await found.refusal('joinChildren', { params, body: { ...all, lease: next.lease, ...more } })
  expect(await refused({ name: 'other', children: ['x'] })).toEqual([404, 'step_not_found'])
  expect(await refused({ need: 2 })).toEqual([400, 'invalid_input'])
  expect(await found.refusal('startChildren', start)).toEqual([409, 'stale_lease'])
})

test('an inbox gives what was not taken again, waits for the next message, and belongs to the holder', async () => {
  const found = await served()
  const { params, lease } = await begin(found)
  const inbox = async (more: object = {}) =>
    (await found.ok('readInbox', { params, body: { lease, name: 'say', ...more } }))['items'] as readonly {
      readonly sequence: number
      readonly value?: unknown
    }[]
  expect(await inbox()).toEqual([])
  await found.ok('sendSignal', { params, body: { name: 'say', value: 'one', by: 'ada', key: 'k1' } })
  await found.ok('sendSignal', { params, body: { name: 'say', valueBytes: 'AQI=' } })
  await found.ok('sendSignal', { params, body: { name: 'other', value: 'elsewhere' } })

  expect(await inbox({ limit: 1 })).toMatchObject([{ sequence: 1, value: 'one', by: 'ada', key: 'k1' }])
  expect(await inbox()).toMatchObject([{ value: 'one' }, { sequence: 2, valueBytes: 'AQI=' }])
  expect(await inbox({ takenTo: 1 })).toMatchObject([{ sequence: 2 }])

  const waiting = inbox({ takenTo: 2, wait: '20s' })
  await found.ok('sendSignal', { params, body: { name: 'say', value: 'three' } })
  expect(await waiting).toMatchObject([{ value: 'three' }])
  const body = { lease, name: 'say', takenTo: 4, limit: 0 }
  await found.ok('readInbox', { params, body })
  await found.ok('releaseExecution', { params, body: { lease, reason: 'shutdown' } })

  const next = await claim(found)
  expect(await found.refusal('readInbox', { params, body })).toEqual([409, 'stale_lease'])
  expect(await found.ok('readInbox', { params, body: { lease: next.lease, name: 'say', wait: '1ms' } })).toEqual({
    items: [],
  })
  const wrong = { lease: next.lease, name: 'say', limit: 1_000 }
  expect(await found.refusal('readInbox', { params, body: wrong })).toEqual([400, 'invalid_input'])
})
