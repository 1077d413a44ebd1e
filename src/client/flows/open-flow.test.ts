import { expect, test } from 'vitest'
import { virtualRuntime } from '../../runtime/index.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { testFabric } from '../../testing/index.ts'
import { Client } from '../client.ts'
import { task } from '../define/task.ts'
import { allOf, anyOf, quorum } from '../define/upstreams.ts'

const part = task<number, number>('part')
const sum = task<undefined, number>('sum')
const typed = task<undefined, number, { first: number }>('typed')
const handlers = [
  part.handle((value) => value),
  sum.handle((_input, ctx) => Object.values(ctx.inputs as Record<string, number>).reduce((a, b) => a + b, 0)),
  typed.handle((_input, ctx) => ctx.inputs.first),
]

function createClient(partitionCount = 1): Client {
  const runtime = virtualRuntime()
  return new Client(new MemoryStore(runtime, { executionPartitions: partitionCount, indexedTags: [] }), runtime)
}

test('a flow is put together step by step, and ends once it is sealed', async () => {
  await using t = await testFabric(handlers)
  const open = await t.createFlow('import', { id: 'import:7', hold: true, tags: { plan: 'pro' }, outcome: 'sinks' })
  const first = await open.add('first', part, 1)
  const second = await open.add('second', part, 2, { priority: 5 })
  const total = await open.add('total', sum, undefined, { after: allOf(first, { other: second }) })
  await open.add('again', typed, undefined, { after: allOf(first) })
  await t.advance('1h')
  expect(await open.describe()).toMatchObject({ phase: 'held', memberCount: 4, edgeCount: 3, tags: { plan: 'pro' } })
  expect(await first.describe()).toMatchObject({ state: 'waiting', startedAt: undefined })

  await open.seal()
  await t.advance(0)

  expect(await total.result()).toBe(3)
  expect(await open.wait()).toMatchObject({ state: 'completed', outcomeRule: 'sinks' })
  expect(await open.result()).toEqual({ total: 3, again: 1 })
})

test('an open flow runs at once, and adding a member is idempotent', async () => {
  await using t = await testFabric(handlers)
  const open = await t.createFlow('import', { id: 'import:7' })
  const again = await t.createFlow('import', { id: 'import:7' })

  const first = await open.add('first', part, 1)
  const met = await again.add('first', part, 1)
  await t.advance(0)

  expect([open.created, again.created]).toEqual(['created', 'joined'])
  expect([first.created, met.created]).toEqual(['created', 'joined'])
  expect(await first.result()).toBe(1)
  expect(await open.describe()).toMatchObject({ phase: 'open', state: 'completed', memberCount: 1, outcome: undefined })
  await expect(t.createFlow('export', { id: 'import:7' })).rejects.toMatchObject({ code: 'flow_exists' })
})

test('a member can be made to wait for another, by handle, by name or by id', async () => {
  await using t = await testFabric(handlers)
  const open = await t.createFlow('import', { hold: true })
  const first = await open.add('first', part, 1)
  const second = await open.add('second', part, 2)
  const third = await open.add('third', part, 4)
  const total = await open.add('total', sum, undefined)

  await open.depend(first, total)
  await open.depend('second', total.id, { as: 'named' })
  await open.depend(third.id, 'total')
  await open.seal()
  await t.advance(0)

  expect((await t.describe(total.id, { inputs: true })).inputs).toEqual({ first: 1, named: 2 })
  expect(await total.result()).toBe(3)
  expect(await second.result()).toBe(2)
})

test('a result can be handed on as the payload', async () => {
  await using t = await testFabric(handlers)
  const open = await t.createFlow('import', { hold: true })
  const first = await open.add('first', part, 41)
  const second = await open.add('second', part, 0)
  await open.depend(first, second, { payload: true })
  await open.seal()
  await t.advance(0)

  expect(await second.result()).toBe(41)
})

test('a second payload is refused with the reason', async () => {
  await using client = createClient()
  const open = await client.createFlow('import', { hold: true })
  const last = await open.add('last', part, 0)
  await open.depend(await open.add('a', part, 1), last, { payload: true })

  const refused = open.depend(await open.add('b', part, 2), last, { payload: true })

  await expect(refused).rejects.toMatchObject({ code: 'invalid_input', detail: { field: 'payload' } })
})

test('a member with many upstreams is wired edge by edge while the flow is held', async () => {
  await using client = createClient()
  const open = await client.createFlow('import', { hold: true })
  const parts = await Promise.all(Array.from({ length: 41 }, (_, i) => open.add(`part-${i}`, part, i)))

  await expect(open.add('total', sum, undefined, { after: allOf(parts) })).rejects.toThrow('the limit is 40')
  const total = await open.add('total', sum, undefined)
  for (const each of parts) await open.depend(each, total)

  expect(await total.describe()).toMatchObject({ dependencies: { total: 41 } })
})

test('an execution that exists becomes a member', async () => {
  await using t = await testFabric(handlers)
  const open = await t.createFlow('import')
  const execution = await t.submit(part, 5)

  const member = await open.addExecution(execution, 'taken in')
  const total = await open.add('total', sum, undefined, { after: allOf({ value: member }) })
  await open.seal()
  await t.advance(0)

  expect(await total.result()).toBe(5)
  expect(await execution.describe()).toMatchObject({ flowId: open.id, node: 'taken in' })
})

test('an execution of another partition is refused with what to do instead', async () => {
  await using client = createClient(8)
  const open = await client.createFlow('import', { id: 'import:7' })
  const number = open.id.split('-')[0]?.slice(1)
  const executions = await Promise.all(Array.from({ length: 8 }, (_, i) => client.submit(part, i, { id: `e${i}` })))
  const far = executions.find((execution) => execution.id.split('-')[0] !== number) ?? expect.fail('all are near')

  await expect(open.addExecution(far, 'far')).rejects.toThrow('create members with add(…)')
})

test('a policy is set before the first edge, and a group that cannot be satisfied keeps the flow from being sealed', async () => {
  await using client = createClient()
  const open = await client.createFlow('import', { hold: true })
  const first = await open.add('first', part, 1)
  const second = await open.add('second', part, 2)
  const total = await open.add('total', sum, undefined)

  await open.setPolicy(total, { policy: 'quorum', need: 2, losers: 'let_run' })
  await open.depend(first, total)

  await expect(open.setPolicy('total', { policy: 'all_of' })).rejects.toMatchObject({ code: 'edge_group_policy_fixed' })
  await expect(open.seal()).rejects.toThrow("A group needs more upstreams than it has. Node 'total'.")
  await open.depend(second, total)
  expect(await open.seal()).toBe('open')
  expect(await total.describe()).toMatchObject({ dependencies: { policy: 'quorum', need: 2, losers: 'let_run' } })
})

test('a race is added with what it waits for', async () => {
  await using client = createClient()
  const open = await client.createFlow('import', { hold: true })
  const members = [await open.add('a', part, 1), await open.add('b', part, 2)]

  const any = await open.add('any', sum, undefined, { after: anyOf(members) })
  const both = await open.add('both', sum, undefined, {
    after: quorum(2, members, { losers: 'let_run' }),
    inputs: false,
  })

  expect(await any.describe()).toMatchObject({ dependencies: { policy: 'any_of', losers: 'cancel', total: 2 } })
  expect(await both.describe()).toMatchObject({ dependencies: { policy: 'quorum', need: 2, losers: 'let_run' } })
})

test('an edge that closes a cycle is refused with its path', async () => {
  await using client = createClient()
  const open = await client.createFlow('import', { hold: true })
  await open.add('a', part, 1)
  await open.add('b', part, 2)
  await open.add('c', part, 3)
  await open.depend('a', 'b')
  await open.depend('b', 'c')

  await expect(open.depend('c', 'a')).rejects.toMatchObject({ code: 'cycle_detected' })
  await expect(open.depend('c', 'a')).rejects.toThrow(/The path is .*a → b → c/)
  await expect(open.depend('a', 'a')).rejects.toMatchObject({ code: 'self_referencing_edge' })
})

test('an edge is refused if the graph is not the one that was looked at', async () => {
  await using client = createClient()
  const open = await client.createFlow('import', { hold: true })
  await open.add('a', part, 1)
  await open.add('b', part, 2)
  const { revision } = await open.describe()
  await open.add('c', part, 3)

  await expect(open.depend('a', 'b', { expectedRevision: revision })).rejects.toMatchObject({
    code: 'stale_graph_revision',
  })
  await open.depend('a', 'b', { expectedRevision: revision + 1 })
})

test('a sealed flow takes no more members', async () => {
  await using client = createClient()
  const open = await client.createFlow('import')
  await open.add('a', part, 1)
  await open.seal()

  await expect(open.add('b', part, 2)).rejects.toMatchObject({ code: 'flow_sealed' })
})

test('what cannot be is refused by name before anything is sent', async () => {
  await using client = createClient()
  const open = await client.createFlow('import')
  const other = await client.createFlow('export')
  const strange = await other.add('strange', part, 1)
  const own = await open.add('own', part, 1)

  await expect(open.add('b', part, 1, { after: allOf(strange) })).rejects.toThrow("'strange', which is no member")
  await expect(open.add('b', part, 1, { after: own as never })).rejects.toThrow("after of node 'b'")
  await expect(open.add('', part, 1)).rejects.toThrow('node name is ""')
  await expect(open.add('b', 'part' as never, 1)).rejects.toMatchObject({ code: 'unknown_task' })
  await expect(open.add('b', part, 1, { lane: '' })).rejects.toThrow("Node 'b': lane is")
  await expect(open.depend(own, own, { as: 'x', payload: true })).rejects.toThrow('not both')
  await expect(open.setPolicy(own, { policy: 'most_of' as never })).rejects.toThrow('policy is "most_of"')
  await expect(open.setPolicy(own, { policy: 'quorum' })).rejects.toThrow('need is undefined')
  await expect(client.createFlow('')).rejects.toThrow('flow name is ""')
  await expect(client.createFlow('x', { hold: 1 as never })).rejects.toThrow('hold is 1')
  expect((await open.describe()).memberCount).toBe(1)
})

test('a member that wants inputs does not compile without them', async () => {
  await using client = createClient()
  const open = await client.createFlow('import')
  const first = await open.add('first', part, 1)
  const other = await open.add('other', part, 1)

  await open.add('typed', typed, undefined, { after: allOf(first) })
  // @ts-expect-error -- nothing is handed on
  await open.add('none', typed, undefined)
  // @ts-expect-error -- it is handed on under another name
  await open.add('misnamed', typed, undefined, { after: allOf(other) })
})
