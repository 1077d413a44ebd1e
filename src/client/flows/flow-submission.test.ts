import { expect, test } from 'vitest'
import { z } from 'zod'
import { BATCH_WORK_LIMIT, FLOW_ATOMIC_NODE_MAX } from '../../kernel/index.ts'
import type { OperationInput, OperationResult } from '../../kernel/index.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { Client } from '../client.ts'
import type { FlowNode } from '../define/flow-node.ts'
import type { FlowProgress } from './flow-submission.ts'
import { flow } from '../define/flow.ts'
import type { FlowDefinition } from '../define/flow.ts'
import { memberIdOf } from '../transport/ids.ts'
import { task } from '../define/task.ts'
import { allOf, anyOf } from '../define/upstreams.ts'

const plain = task<unknown, string>('plain')
const strict = task('strict', { input: z.object({ count: z.number() }) })

/** A root, a number of nodes after it, and one after those. */
const diamond = flow('diamond', (f, width: number) => {
  const root = f.node('root', plain)
  const middle = range(width).map((i) => f.node(`m${i}`, plain, { after: allOf(root), input: i }))
  return f.node('last', plain, { after: allOf(middle) })
})

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

/** A client whose store can lose replies, and remembers what it was sent. */
function createClient(namespace = 'default', partitionCount = 1) {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: partitionCount, indexedTags: [] })
  const client = new Client(store, runtime, { namespace })
  const run = store.run.bind(store)
  const sent: OperationInput<'submitFlow'>[] = []
  const lost = { every: 0, broken: false }
  store.run = async (partition, batch) => {
    if (lost.broken) throw new EngineError('store_full')
    const answers = await run(partition, batch)
    const calls = batch.filter((call) => call.operation === 'submitFlow')
    sent.push(...calls.map((call) => call.input as OperationInput<'submitFlow'>))
    if (lost.every > 0 && calls.length > 0 && sent.length % lost.every === 0) throw new EngineError('store_unavailable')
    return answers
  }
  return { client, runtime, store, sent, lost }
}

test('a small graph is submitted in one call', async () => {
  const { client, sent } = createClient()
  await using _ = client

  const handle = await client.submit(diamond, 3, { id: 'd', tags: { plan: 'pro' } })

  expect(sent).toHaveLength(1)
  expect(handle.created).toBe('created')
  expect(await handle.describe()).toMatchObject({
    key: 'd',
    name: 'diamond',
    state: 'open',
    phase: 'sealed',
    tags: { plan: 'pro' },
    memberCount: 5,
    edgeCount: 6,
    counts: { waiting: 1, waiting_dependencies: 4 },
    outcomeRule: 'all_members',
    isSettled: false,
  })
  expect(await handle.member('m2').describe()).toMatchObject({
    id: memberIdOf(handle.id, 'm2'),
    flowId: handle.id,
    node: 'm2',
    input: 2,
    dependencies: { policy: 'all_of', total: 1 },
  })
})

test('ids follow from key and node, in the partition of the flow, and are the same in every process', async () => {
  const first = createClient('acme', 8)
  const second = createClient('acme', 8)
  await using _ = first.client
  await using __ = second.client

  const one = await first.client.submit(diamond, 3, { id: 'd' })
  const other = await second.client.submit(diamond, 3, { id: 'd' })
  const minted = await first.client.submit(diamond, 3)

  expect(other.id).toBe(one.id)
  expect(other.member('root').id).toBe(one.member('root').id)
  expect(one.id).toMatch(/^f[0-7]-[0-9a-f]{8}-[0-9a-f]{4}-8/)
  expect(one.member('root').id.split('-')[0]).toBe(one.id.split('-')[0]?.slice(1))
  expect(minted.id).not.toBe(one.id)
  expect(second.sent[0]?.digest).toBe(first.sent[0]?.digest)
})

const due = { operation: 'runDue', input: { limit: 100, seed: 1 }, blobs: [] } as const

test('the same graph submitted twice with one id is one flow, and another graph is refused', async () => {
  const { client } = createClient()
  await using _ = client

  const first = await client.submit(diamond, 3, { id: 'd' })
  const again = await client.submit(diamond, 3, { id: 'd', tags: { who: 'another' } })

  expect([first.created, again.created]).toEqual(['created', 'joined'])
  expect((await client.flows()).items).toHaveLength(1)
  await expect(client.submit(diamond, 4, { id: 'd' })).rejects.toMatchObject({ code: 'input_differs' })
  expect(await client.try.submitFlow(diamond, 4, { id: 'd' })).toMatchObject({ kind: 'refused', code: 'input_differs' })
})

test('a flow that has ended is replaced, also if it is large, and one that has not is refused', async () => {
  const { client } = createClient()
  await using _ = client
  const first = await client.submit(diamond, 150, { id: 'd' })
  const again = { id: 'd', ifExists: 'replace' } as const

  await expect(client.submit(diamond, 3, again)).rejects.toMatchObject({ code: 'flow_in_progress' })
  await first.cancel('again', { force: true })
  for (let i = 0; i < 10; i++) await client.store.run('fp:0', [due])
  const second = await client.submit(diamond, 3, again)

  expect([first.created, second.created]).toEqual(['created', 'replaced'])
  expect(await second.describe()).toMatchObject({ phase: 'sealed', memberCount: 5 })
  expect((await client.submit(diamond, 9, { id: 'd', ifExists: 'join' })).created).toBe('joined')
  await expect(client.submit(diamond, 3, { id: 'd', ifExists: 'reject' })).rejects.toMatchObject({
    code: 'flow_exists',
  })
})

test('a flow of which only the id is kept has an outcome, and no result', async () => {
  const { client, runtime } = createClient()
  await using _ = client
  const one = flow('one', (f) => f.node('a', task('a')))
  const options = { id: 'd', retention: '1h', dedupe: '30d' } as const
  await client.submit(one, undefined, options)
  const claim = {
    requestId: 'claim',
    workerId: 'w',
    workerInstanceId: 'w',
    queues: [{ lane: 'default', class: 'a' }],
    count: 1,
    leaseTtlMs: 30_000,
    seed: 1,
  }
  const [claimed] = await client.store.run('fp:0', [{ operation: 'claimForWorker', input: claim, blobs: [] }])
  if (claimed?.kind !== 'answered') throw new Error('nothing was claimed')
  const { executionId, fence } = (claimed.result as OperationResult<'claimForWorker'>).executions[0]!
  await client.store.run('fp:0', [{ operation: 'completeExecution', input: { executionId, fence }, blobs: [] }])
  await runtime.advance(3_600_000)
  await client.store.run('fp:0', [{ operation: 'purgeExecutions', input: {}, blobs: [] }])

  const joined = await client.submit(one, undefined, options)
  expect(joined.created).toBe('joined')
  expect(await joined.describe()).toMatchObject({ outcome: 'completed', removedAt: runtime.now(), memberCount: 0 })
  await expect(joined.result()).rejects.toMatchObject({ code: 'result_expired', detail: { flowId: joined.id } })
  expect((await client.flows()).items).toEqual([])
})

test('the digest depends on names, tasks, settings, payloads, edges and policies', async () => {
  const { client, sent } = createClient()
  await using _ = client
  const other = task<unknown, string>('other')
  const graphs: FlowDefinition<unknown, unknown>[] = [
    flow('g', (f) => f.node('b', plain, { after: allOf(f.node('a', plain, { input: 1 })) })),
    flow('h', (f) => f.node('b', plain, { after: allOf(f.node('a', plain, { input: 1 })) })),
    flow('g', { outcome: 'sinks' }, (f) => f.node('b', plain, { after: allOf(f.node('a', plain, { input: 1 })) })),
    flow('g', (f) => f.node('c', plain, { after: allOf(f.node('a', plain, { input: 1 })) })),
    flow('g', (f) => f.node('b', other, { after: allOf(f.node('a', plain, { input: 1 })) })),
    flow('g', (f) => f.node('b', plain, { after: allOf(f.node('a', plain, { input: 2 })) })),
    flow('g', (f) => f.node('b', plain, { after: anyOf([f.node('a', plain, { input: 1 })]) })),
    flow('g', (f) => f.node('b', plain, { after: allOf({ x: f.node('a', plain, { input: 1 }) }) })),
    flow('g', (f) => f.node('b', plain, { after: allOf(f.node('a', plain, { input: 1 })), inputs: false })),
    flow('g', (f) => f.node('b', plain, { after: allOf(f.node('a', plain, { input: 1, priority: 1 })) })),
    flow('g', (f) => ({ a: f.node('a', plain, { input: 1 }), b: f.node('b', plain) })),
  ]

  for (const [i, graph] of [...graphs, ...graphs].entries()) await client.submit(graph, undefined, { id: `g${i}` })

  const digests = sent.map((input) => input.digest)
  expect(new Set(digests).size).toBe(graphs.length)
  expect(digests.slice(graphs.length)).toEqual(digests.slice(0, graphs.length))
})

test('a large graph is sent in pieces that each fit one call, and nothing of it runs before the last', async () => {
  const { client, sent } = createClient()
  await using _ = client
  const seen: FlowProgress[] = []

  const handle = await client.submit(diamond, 300, { onProgress: (progress) => seen.push(progress) })

  expect(sent.length).toBeGreaterThan(4)
  for (const { nodes, edges } of sent)
    expect(2 * (nodes.length + edges.length) + 1).toBeLessThanOrEqual(BATCH_WORK_LIMIT)
  expect(seen[0]).toEqual({ nodes: 90, edges: 0, totalNodes: 302, totalEdges: 600 })
  expect(seen.at(-1)).toEqual({ nodes: 302, edges: 600, totalNodes: 302, totalEdges: 600 })
  expect(await handle.describe()).toMatchObject({ phase: 'sealed', counts: { waiting: 1, waiting_dependencies: 301 } })
})

test('fifty nodes are one call, unless their edges or their bytes are too many for it', async () => {
  const { client, sent } = createClient()
  await using _ = client
  const chain = (count: number, input: unknown) =>
    flow('chain', (f) => {
      let last: FlowNode<string> = f.node('n0', plain, { input })
      for (const i of range(count - 1)) last = f.node(`n${i + 1}`, plain, { after: allOf(last), input })
    })
  const dense = flow('dense', (f) => {
    const made = range(25).map((i) => f.node(`n${i}`, plain))
    for (const i of range(25)) f.node(`m${i}`, plain, { after: allOf(made) })
  })
  const callsOf = async (submit: () => Promise<unknown>) => {
    sent.length = 0
    await submit()
    return sent.length
  }

  expect(await callsOf(() => client.submit(chain(FLOW_ATOMIC_NODE_MAX, 1), undefined))).toBe(1)
  expect(await callsOf(() => client.submit(chain(FLOW_ATOMIC_NODE_MAX + 1, 1), undefined))).toBe(2)
  expect(await callsOf(() => client.submit(chain(10, 'x'.repeat(1_000_000)), undefined))).toBe(4)
  expect(await callsOf(() => client.submit(dense, undefined))).toBe(8)
})

test('lost replies on the way change nothing', async () => {
  const { client, runtime, lost } = createClient()
  await using _ = client
  lost.every = 2
  const submitting = client.submit(diamond, 300, { id: 'd' })
  await runtime.advance(10_000)
  const handle = await submitting

  expect(handle.created).toBe('created')
  expect(await handle.describe()).toMatchObject({ memberCount: 302, edgeCount: 600, phase: 'sealed' })
})

test('a submit of the same graph resumes where an interrupted one stopped', async () => {
  const { client, sent, lost } = createClient()
  await using _ = client
  const broken = client.submit(diamond, 300, { id: 'd', onProgress: ({ edges }) => (lost.broken = edges >= 180) })
  await expect(broken).rejects.toMatchObject({ code: 'store_full' })
  lost.broken = false
  const half = client.flow('d')
  expect(await half.describe()).toMatchObject({ phase: 'held', edgeCount: 180, submission: { edgeCount: 600 } })
  expect((await half.member('root').why()).text).toContain('before the flow is whole and sealed')
  sent.length = 0

  const handle = await client.submit(diamond, 300, { id: 'd' })

  expect(sent.map((input) => input.edgesBefore)).toEqual([0, 180, 270, 360, 450, 540])
  expect(await handle.describe()).toMatchObject({ phase: 'sealed', edgeCount: 600 })
  await expect(client.submit(diamond, 299, { id: 'd' })).rejects.toMatchObject({ code: 'input_differs' })
})

test('an error in a node names the node, and nothing is stored', async () => {
  const { client, store } = createClient()
  await using _ = client
  const wrong = flow('wrong', (f, count: unknown) => f.node('counted', strict, { input: { count } as never }))
  const misplaced = flow('misplaced', (f) => f.node('far', plain, { lane: '' }))

  const refused = client.submit(wrong, 'many')

  await expect(refused).rejects.toMatchObject({ code: 'invalid_payload', detail: { nodes: ['counted'] } })
  await expect(refused).rejects.toThrow("Node 'counted': input.count")
  await expect(client.submit(misplaced, undefined)).rejects.toThrow("Node 'far': lane is")
  expect((await store.dump('fp:0')).records).toHaveLength(0)
})

test("a flow's own input has to fit its schema", async () => {
  const { client } = createClient()
  await using _ = client
  const parsed = flow('parsed', { input: z.object({ at: z.coerce.number<string>() }) }, (f, input) =>
    f.node('a', plain, { input: input.at }),
  )

  const handle = await client.submit(parsed, { at: '7' })

  expect(await handle.member('a').describe()).toMatchObject({ input: 7 })
  await expect(client.submit(parsed, { at: 'x' })).rejects.toMatchObject({ code: 'invalid_payload' })
})

test.each<[string, object]>([
  ['tx', { tx: { query: () => undefined } }],
  ['ifExists', { id: 'one', ifExists: 'later' }],
  ['dedupe', { dedupe: '30d' }],
  ['dedupe', { id: 'one', dedupe: 'ever' }],
  ['id', { id: '' }],
  ['id', { id: 'f0-0190a7a0-1111-7222-8333-444455556666' }],
  ['outcome', { outcome: 'best' }],
  ['retention', { retention: 'ever' }],
  ['tags', { tags: { 'Not A Name': 'x' } }],
])('a wrong %s of a submit is refused by name', async (field, options) => {
  const { client, sent } = createClient()
  await using _ = client

  await expect(client.submit(diamond, 1, options)).rejects.toMatchObject({ code: 'invalid_input', detail: { field } })
  expect(sent).toHaveLength(0)
})

test('a transaction is refused with what to do instead', async () => {
  const { client } = createClient()
  await using _ = client

  await expect(client.submit(diamond, 1, { tx: {} } as never)).rejects.toThrow('Submit it after the commit')
})
