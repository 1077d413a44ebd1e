/** Workers over HTTP whose members add others to their own flow or depend on those that exist, and wait for them. */
import { expect, test } from 'vitest'
import { served } from './served.ts'
import type { Served } from './served.ts'

interface Item {
  readonly params: { readonly id: string }
  readonly lease: string
  readonly [field: string]: unknown
}

async function claim(found: Served, task: string): Promise<Item> {
  const body = { tasks: [{ name: task }], instance: 'i', wait: '20s', takes: ['undo'] }
  const { items } = await found.ok('claimExecutions', { body })
  const [item] = items as readonly (Omit<Item, 'params'> & { readonly id: string })[]
  if (item === undefined) throw new Error('nothing was claimed')
  return { ...item, lease: String(item['lease']), params: { id: item.id } }
}

/** A sealed flow of one member, which is claimed. */
async function holding(found: Served): Promise<Item> {
  await found.ok('submitFlow', { body: { name: 'growing', id: 'g', nodes: [{ name: 'holder', task: 'holder' }] } })
  return await claim(found, 'holder')
}

async function add(found: Served, { params, lease }: Item, name: string, more: object = {}) {
  return await found.ok('addMember', { params, body: { lease, name, task: 'part', ...more } })
}

async function depend(found: Served, { params, lease }: Item, member: string, more: object = {}) {
  return await found.ok('dependOnMember', { params, body: { lease, member, ...more } })
}

async function complete(found: Served, { params, lease }: Item, more: object = {}): Promise<void> {
  await found.ok('completeExecution', { params, body: { lease, ...more } })
}

async function wait(found: Served, { params, lease }: Item) {
  return await found.ok('waitForMembers', { params, body: { lease } })
}

async function fail(found: Served, { params, lease }: Item, more: object = {}) {
  const failure = { lease, message: 'it broke', category: 'permanent', ...more }
  return await found.ok('failExecution', { params, body: failure })
}

async function outcome(found: Served): Promise<unknown> {
  const { outcome: ended } = await found.ok('getFlowResult', { params: { id: 'g' }, query: { wait: '20s' } })
  return ended
}

test('members that wait for each other are added once, and their results are inputs of the one that waits', async () => {
  const found = await served()
  const first = await holding(found)
  expect(await add(found, first, 'a', { input: 1 })).toMatchObject({ kind: 'added', state: 'waiting' })
  const second = { task: 'sum', after: { nodes: ['a'] }, as: 'total' }
  expect(await add(found, first, 'b', second)).toMatchObject({ kind: 'added', state: 'waiting_dependencies' })
  expect(await add(found, first, 'b', second)).toMatchObject({ kind: 'already_member' })
  expect(await add(found, first, 'c', { task: 'bytes', as: null })).toMatchObject({ kind: 'added' })
  expect(await add(found, first, 'd', { delay: '1h', awaited: false })).toMatchObject({ kind: 'added' })
  expect(await wait(found, first)).toEqual({ kind: 'parked' })
  expect(await wait(found, first)).toEqual({ kind: 'already_parked' })
  expect(
    await found.refusal('addMember', { params: first.params, body: { lease: first.lease, name: 'e', task: 'part' } }),
  ).toEqual([409, 'execution_not_active'])

  await complete(found, await claim(found, 'part'), { result: 2 })
  const sum = await claim(found, 'sum')
  expect(sum['inputs']).toEqual({ a: 2 })
  await complete(found, sum, { resultBytes: 'AQI=' })
  await complete(found, await claim(found, 'bytes'))

  const last = await claim(found, 'holder')
  expect(last).toMatchObject({ inputs: { a: 2 }, inputsBytes: { total: 'AQI=' } })
  expect(await add(found, last, 'a', { input: 1 })).toMatchObject({ kind: 'already_member', state: 'completed' })
  expect(await wait(found, last)).toEqual({ kind: 'ready', inputs: { a: 2 }, inputsBytes: { total: 'AQI=' } })
  const stale = { params: last.params, body: { lease: first.lease, name: 'e', task: 'part' } }
  expect(await found.refusal('addMember', stale)).toEqual([409, 'stale_lease'])
  await complete(found, last)
  const { items } = await found.ok('listFlowMembers', { params: { id: 'g' } })
  expect(items).toHaveLength(5)
})

test('members that have ended before the wait leave the lease, and a name belongs to one edge', async () => {
  const found = await served()
  const held = await holding(found)
  await add(found, held, 'a')
  await complete(found, await claim(found, 'part'), { result: 2 })
  expect(await wait(found, held)).toEqual({ kind: 'ready', inputs: { a: 2 } })
  const other = { params: held.params, body: { lease: held.lease, name: 'a', task: 'part', as: 'b' } }
  expect(await found.refusal('addMember', other)).toEqual([409, 'dependency_already_exists'])
  const unknown = { params: held.params, body: { lease: held.lease, name: 'b', task: 'part', after: { nodes: ['x'] } } }
  expect(await found.refusal('addMember', unknown)).toEqual([404, 'execution_not_found'])
  await complete(found, held)
  expect(await outcome(found)).toBe('completed')

  await found.ok('submitExecution', { body: { task: 'alone', id: 'alone' } })
  const { params, lease } = await claim(found, 'alone')
  const alone = { params, body: { lease, name: 'a', task: 'part' } }
  expect(await found.refusal('addMember', alone)).toEqual([409, 'execution_not_in_flow'])
  expect(await found.refusal('waitForMembers', { params, body: { lease } })).toEqual([409, 'execution_not_in_flow'])
})

test('one that waits for a member that fails is skipped, at its wait or at the next member', async () => {
  const found = await served()
  const held = await holding(found)
  await add(found, held, 'a')
  await fail(found, await claim(found, 'part'))
  expect(await add(found, held, 'b')).toEqual({ kind: 'skipped' })
  expect(await wait(found, held)).toEqual({ kind: 'already_skipped' })
  expect(await outcome(found)).toBe('failed')
})

/** A sealed flow whose member `holder` is claimed, and whose member `other` waits for a worker. */
async function beside(found: Served): Promise<readonly [holder: Item, other: string]> {
  const nodes = [
    { name: 'holder', task: 'holder' },
    { name: 'other', task: 'part' },
  ]
  await found.ok('submitFlow', { body: { name: 'growing', id: 'g', nodes } })
  const { items } = await found.ok('listFlowMembers', { params: { id: 'g' } })
  const [, other] = items as readonly { readonly id: string }[]
  if (other === undefined) throw new Error('the flow has no second member')
  return [await claim(found, 'holder'), other.id]
}

test('one that depends on an existing member waits for it, and gets its result under a name', async () => {
  const found = await served()
  const [held] = await beside(found)
  expect(await depend(found, held, 'other', { as: 'found' })).toMatchObject({ kind: 'added' })
  expect(await depend(found, held, 'other', { as: 'found' })).toMatchObject({ kind: 'already_added' })
  const { params, lease } = held
  const refusal = async (body: object, asked = params) =>
    await found.refusal('dependOnMember', { params: asked, body: { lease, ...body } })
  expect(await refusal({ member: 'other' })).toEqual([409, 'dependency_already_exists'])
  expect(await refusal({ member: 'holder' })).toEqual([409, 'self_referencing_edge'])
  expect(await refusal({ member: 'nothing' })).toEqual([404, 'execution_not_found'])
  const elsewhere = String((await found.ok('submitExecution', { body: { task: 'alone' } }))['id'])
  expect(await refusal({ member: elsewhere })).toEqual([409, 'execution_not_in_flow'])
  expect(await wait(found, held)).toEqual({ kind: 'parked' })
  expect(await refusal({ member: 'other', as: 'found' })).toEqual([409, 'execution_not_active'])

  await complete(found, await claim(found, 'part'), { result: 2 })
  const last = await claim(found, 'holder')
  expect(last['inputs']).toEqual({ found: 2 })
  expect(await refusal({ member: 'other', as: 'found' }, last.params)).toEqual([409, 'stale_lease'])
  expect(await depend(found, last, 'other', { as: 'found' })).toMatchObject({ kind: 'already_added' })
  expect(await wait(found, last)).toEqual({ kind: 'ready', inputs: { found: 2 } })
  await complete(found, last)
  expect(await outcome(found)).toBe('completed')
})

test('a member that is named by its id passes no result on, and may fail if its end is tolerated', async () => {
  const found = await served()
  const [held, other] = await beside(found)
  expect(await depend(found, held, other, { onFailure: 'ignore' })).toEqual({ kind: 'added', id: other })
  expect(await wait(found, held)).toEqual({ kind: 'parked' })
  await fail(found, await claim(found, 'part'))
  const last = await claim(found, 'holder')
  expect(await wait(found, last)).toEqual({ kind: 'ready', inputs: {} })
  await complete(found, last)

  await found.ok('submitExecution', { body: { task: 'lonely', id: 'lonely' } })
  const { params, lease } = await claim(found, 'lonely')
  const alone = { params, body: { lease, member: 'a' } }
  expect(await found.refusal('dependOnMember', alone)).toEqual([409, 'execution_not_in_flow'])
})

test('one that depends on a member that has failed is skipped, also when it depends on another one', async () => {
  const found = await served()
  const [held] = await beside(found)
  await fail(found, await claim(found, 'part'))
  await depend(found, held, 'other')
  await add(found, held, 'b', { awaited: false })
  expect(await depend(found, held, 'b')).toEqual({ kind: 'skipped' })
  expect(await wait(found, held)).toEqual({ kind: 'already_skipped' })
})

test('a run that undoes steps finds the members that it has added and depends on, and begins no others', async () => {
  const found = await served()
  const [held] = await beside(found)
  const { params, lease } = held
  await add(found, held, 'a')
  await found.ok('registerCompensations', { params, body: { lease, count: 1 } })
  expect(await fail(found, held, { undo: 'ready' })).toEqual({ kind: 'unwinding' })
  expect(await add(found, held, 'a')).toMatchObject({ kind: 'already_member' })
  const other = { params, body: { lease, name: 'b', task: 'part' } }
  expect(await found.refusal('addMember', other)).toEqual([409, 'execution_failed'])
  expect(await depend(found, held, 'a')).toMatchObject({ kind: 'already_added' })
  const edge = { params, body: { lease, member: 'other' } }
  expect(await found.refusal('dependOnMember', edge)).toEqual([409, 'execution_failed'])
  expect(await found.refusal('waitForMembers', { params, body: { lease } })).toEqual([409, 'execution_failed'])
  await found.ok('endCompensations', { params, body: { lease } })
  expect(await found.ok('getResult', { params })).toMatchObject({ outcome: 'failed' })
})
