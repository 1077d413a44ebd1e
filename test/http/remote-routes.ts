/** The part of the story of all routes in which a worker over HTTP waits, and starts children. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { KeyRing, changeKeyFile } from '../../src/client/index.ts'
import { startServed, stopServed } from './served.ts'
import type { Asked, RouteName, Served } from './served.ts'

interface Held {
  readonly params: { readonly id: string }
  readonly lease: string
}

const LANE = 'remote-waits'

/** Claims the one execution of a task that is ready. */
async function claim(served: Served, task: string, takes: readonly string[] = []): Promise<Held> {
  const body = { tasks: [{ name: task }], lanes: [LANE], instance: 'remote-2', wait: '20s', takes }
  const { items } = await served.ok('claimExecutions', { body })
  const [item] = items as readonly { readonly id: string; readonly lease: string }[]
  if (item === undefined) throw new Error(`no ${task} was claimed`)
  return { params: { id: item.id }, lease: item.lease }
}

export async function remoteWaits(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  await ok('submitExecution', { body: { task: 'waiting', id: 'waiting:1', lane: LANE } })
  const first = await claim(served, 'waiting')
  const links = { key: 'review', tokens: [{ for: 'ada' }] }
  const opened = await ok('openWaitpoint', { params: first.params, body: { lease: first.lease, ...links } })
  expect(opened).toMatchObject({ key: 'review', isOpen: true })
  const wait = { approval: { on: 'review' } }
  const suspended = await ok('suspendExecution', { params: first.params, body: { lease: first.lease, wait } })
  expect(suspended).toEqual({ kind: 'suspended' })
  const [token] = opened['tokens'] as readonly string[]
  await ok('answerWaitpoint', { body: { token, name: 'approve', value: 'fine' } })

  const second = await claim(served, 'waiting')
  const answered = await ok('suspendExecution', { params: second.params, body: { lease: second.lease, wait } })
  expect(answered).toMatchObject({
    kind: 'answered',
    answer: { ok: true, votes: [{ verdict: 'approve', by: { identity: 'ada' }, value: 'fine' }] },
  })
  await ok('sendSignal', { params: second.params, body: { name: 'note', value: 'hello' } })
  expect(await ok('readInbox', { params: second.params, body: { lease: second.lease, name: 'note' } })).toMatchObject({
    items: [{ value: 'hello' }],
  })
  const children = [{ name: 'part', task: 'part', input: 7, lane: LANE }]
  const started = await ok('startChildren', { params: second.params, body: { lease: second.lease, children } })
  expect(started).toMatchObject({ kind: 'started', children: [{ name: 'part', isNew: true }] })
  const join = { name: 'parts', children: ['part'] }
  expect(await ok('joinChildren', { params: second.params, body: { lease: second.lease, ...join } })).toEqual({
    kind: 'suspended',
  })
  const part = await claim(served, 'part')
  await ok('completeExecution', { params: part.params, body: { lease: part.lease, result: 8 } })

  const last = await claim(served, 'waiting')
  const joined = await ok('joinChildren', { params: last.params, body: { lease: last.lease, ...join } })
  expect(joined).toMatchObject({ kind: 'decided', verdict: 'satisfied', children: [{ name: 'part', result: 8 }] })
  await ok('completeExecution', { params: last.params, body: { lease: last.lease } })
}

/** The part of the story in which a worker over HTTP adds a member to a sealed flow, and waits for it. */
export async function remoteMembers(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const nodes = [{ name: 'holder', task: 'holder', lane: LANE }]
  await ok('submitFlow', { body: { name: 'growing', id: 'growing:1', nodes } })
  const first = await claim(served, 'holder')
  const member = { name: 'added', task: 'added', input: 3, lane: LANE }
  const add = { params: first.params, body: { lease: first.lease, ...member } }
  expect(await ok('addMember', add)).toMatchObject({ kind: 'added', state: 'waiting' })
  expect(await ok('addMember', add)).toMatchObject({ kind: 'already_member' })
  const edge = { params: first.params, body: { lease: first.lease, member: 'added' } }
  expect(await ok('dependOnMember', edge)).toMatchObject({ kind: 'already_added' })
  const wait = { params: first.params, body: { lease: first.lease } }
  expect(await ok('waitForMembers', wait)).toEqual({ kind: 'parked' })
  const added = await claim(served, 'added')
  await ok('completeExecution', { params: added.params, body: { lease: added.lease, result: 4 } })

  const { params, lease } = await claim(served, 'holder')
  await ok('addMember', { params, body: { lease, ...member } })
  expect(await ok('waitForMembers', { params, body: { lease } })).toEqual({ kind: 'ready', inputs: { added: 4 } })
  await ok('completeExecution', { params, body: { lease } })
  const result = await ok('getFlowResult', { params: { id: 'growing:1' }, query: { wait: '20s' } })
  expect(result).toMatchObject({ outcome: 'completed' })
}

/** The part of the story in which a worker over HTTP skips a member, and undoes a step. */
export async function remoteUndo(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const node = { name: 'maybe', task: 'maybe', lane: LANE, isConditional: true }
  await ok('submitFlow', { body: { name: 'choice', id: 'choice:1', nodes: [node] } })
  const maybe = await claim(served, 'maybe', ['conditions'])
  expect(await ok('skipExecution', { params: maybe.params, body: { lease: maybe.lease } })).toEqual({ kind: 'skipped' })
  await ok('submitExecution', { body: { task: 'undoing', id: 'undoing:1', lane: LANE } })
  const { params, lease } = await claim(served, 'undoing')
  await ok('registerCompensations', { params, body: { lease, count: 1 } })
  const failure = { message: 'it broke', category: 'permanent', undo: 'ready' }
  expect(await ok('failExecution', { params, body: { lease, ...failure } })).toEqual({ kind: 'unwinding' })
  await ok('revokeLease', { params, body: { reason: 'it is lost' } })
  const next = await claim(served, 'undoing', ['undo'])
  await ok('recordCompensation', { params, body: { lease: next.lease, name: 'book' } })
  await ok('endCompensations', { params, body: { lease: next.lease } })
  expect(await ok('getResult', { params })).toMatchObject({ outcome: 'failed' })
}

/** The part of the story in which a worker over HTTP spends, and holds a limit back. */
export async function remoteSpending(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  await ok('defineBudget', { params: { budget: 'remote' }, body: { hard: { tokens: 100 } } })
  await ok('defineLimit', { params: { limit: 'remote' }, body: { concurrency: 1 } })
  const uses = { budgets: [{ budget: 'remote' }], limits: [{ limit: 'remote' }] }
  await ok('submitExecution', { body: { task: 'spending', id: 'spending:1', lane: LANE, ...uses } })
  const { params, lease } = await claim(served, 'spending')
  const spending = { tokens: 10 }
  expect(await ok('spendBudget', { params, body: { lease, key: 'a', spending } })).toMatchObject({ kind: 'spent' })
  for (const key of ['b', 'c']) {
    expect(await ok('reserveBudget', { params, body: { lease, key, spending } })).toEqual({ kind: 'reserved' })
  }
  await ok('settleReservation', { params, body: { lease, key: 'b', spending } })
  await ok('releaseReservation', { params, body: { lease, key: 'c' } })
  await ok('updateProgress', { params, body: { lease, percent: 50, message: 'half' } })
  expect((await ok('describeExecution', { params }))['progress']).toMatchObject({ percent: 50, message: 'half' })
  await ok('holdLimitFor', { params, body: { lease, limit: 'remote', retryAfter: '10ms' } })
  const last = await claim(served, 'spending')
  await ok('completeExecution', { params, body: { lease: last.lease } })
}

/** The part of the story in which flows are submitted and grow. */
export async function graphs(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const first = { name: 'first', task: 'greet', input: 1 }
  const nodes = [first, { name: 'second', task: 'greet', after: { nodes: ['first'] } }]
  await ok('submitFlow', { body: { name: 'pair', id: 'pair:1', nodes } })
  const result = await ok('getFlowResult', { params: { id: 'pair:1' }, query: { wait: '20s' } })
  expect(result).toMatchObject({ outcome: 'completed' })

  const params = { id: 'grown:1' }
  await ok('createFlow', { body: { name: 'open', id: params.id, hold: true } })
  await ok('addFlowMember', { params, body: first })
  await ok('addFlowMember', { params, body: { name: 'second', task: 'greet' } })
  await ok('setEdgeGroupPolicy', { params: { ...params, node: 'second' }, body: { policy: 'any_of' } })
  await ok('addDependency', { params, body: { upstream: 'first', downstream: 'second' } })
  await ok('sealFlow', { params })
  const { groups } = await ok('listFailures', { query: { examine: 500 } })
  expect(groups).toBeInstanceOf(Array)
  const { items } = await ok('listKeys')
  expect(items).toMatchObject([{ isCurrent: true }])
}

/** Only keys in a file are rotated over HTTP, and no answer has a secret. */
export async function keys(served: Served): Promise<void> {
  expect(await served.refusal('rotateKeys')).toEqual([403, 'forbidden'])
  expect(await served.refusal('retireKey', { params: { key: 'k1' } })).toEqual([403, 'forbidden'])
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-keys-'))
  const file = path.join(folder, 'flowfabric.keys')
  await changeKeyFile(file, served.fabric.runtime, () => KeyRing.begin(Date.now()))
  const other = await startServed({ fabric: { keys: { file } } })
  try {
    const [before] = (await other.ok('listKeys'))['items'] as readonly { readonly id: string }[]
    const rotated = await other.ok('rotateKeys', { body: { grace: '1h' } })
    expect(rotated['items']).toMatchObject([{ id: before?.id, isCurrent: false }, { isCurrent: true }])
    expect(await other.ok('listKeys')).toEqual(rotated)
    expect(JSON.stringify(rotated)).not.toContain('secret')
    const retired = await other.ok('retireKey', { params: { key: String(before?.id) } })
    expect(retired['items']).toMatchObject([{ isCurrent: true }])
    expect(await other.refusal('retireKey', { params: { key: String(before?.id) } })).toEqual([400, 'invalid_input'])
  } finally {
    await stopServed(other)
    await rm(folder, { recursive: true })
  }
  served.succeeded.add('rotateKeys')
  served.succeeded.add('retireKey')
}
