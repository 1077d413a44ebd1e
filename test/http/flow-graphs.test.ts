/** Flows over HTTP: graphs as JSON, joins of every policy, graphs that grow, and what is refused. */
import { expect, test } from 'vitest'
import { task } from '../../src/contract.ts'
import { served } from './served.ts'
import type { Served } from './served.ts'

const echo = task('echo').handle((input: unknown, { inputs }) => ({ input, inputs }))
const broken = task('broken').handle(() => {
  throw new Error('it broke')
})

async function withWorker(): Promise<Served> {
  const found = await served()
  await found.fabric.work([echo, broken], { lanes: ['default'] })
  return found
}

const resultOf = async (found: Served, id: string) =>
  await found.ok('getFlowResult', { params: { id }, query: { wait: '20s' } })

test('a graph passes results on under names of its own, and is submitted once', async () => {
  const found = await withWorker()
  const nodes = [
    { name: 'build', task: 'echo', input: { sha: 'f00' } },
    { name: 'tests', task: 'echo', inputBytes: 'AQI=' },
    { name: 'lint', task: 'broken' },
    {
      name: 'deploy',
      task: 'echo',
      input: 'prod',
      after: { nodes: [{ node: 'build', as: 'image' }, 'tests', { node: 'lint', onFailure: 'ignore' }] },
    },
  ]
  const body = { name: 'release', id: 'release:1', nodes, outcome: 'sinks', tags: { plan: 'pro' }, retention: '1h' }
  const first = await found.call('submitFlow', { body })
  const again = await found.call('submitFlow', { body })
  expect([first.status, again.status, again.body['kind']]).toEqual([201, 200, 'joined'])

  const { results } = await resultOf(found, 'release:1')
  expect(results).toMatchObject({ deploy: { input: 'prod', inputs: { image: { input: { sha: 'f00' } } } } })
  expect(JSON.stringify(results)).toContain('"outcome":"failed"')
  const other = { ...body, nodes: nodes.slice(0, 1) }
  expect(await found.refusal('submitFlow', { body: other })).toEqual([409, 'input_differs'])
})

test('a node can need some of its upstreams, or the ends of all', async () => {
  const found = await withWorker()
  const nodes = [
    { name: 'a', task: 'echo', input: 1 },
    { name: 'b', task: 'broken' },
    { name: 'one', task: 'echo', after: { policy: 'any_of', nodes: ['a', 'b'], losers: 'let_run' } },
    { name: 'two', task: 'echo', after: { policy: 'quorum', need: 1, nodes: ['a', 'b'] } },
    { name: 'all', task: 'echo', after: { policy: 'ended', nodes: ['a', 'b'] } },
    { name: 'last', task: 'echo', after: { nodes: ['one', 'two', 'all'] }, inputs: false },
  ]
  const headers = { 'idempotency-key': 'joins:1' }
  const { id } = await found.ok('submitFlow', { headers, body: { name: 'joins', nodes, outcome: 'sinks' } })
  const { results } = await resultOf(found, String(id))
  expect(results).toMatchObject({ last: { inputs: {} } })
  const { results: same } = await resultOf(found, 'joins:1')
  expect(same).toEqual(results)
})

test('a held flow grows until it is sealed', async () => {
  const found = await withWorker()
  const { id } = await found.ok('createFlow', { body: { name: 'import', id: 'import:1', hold: true } })
  expect((await found.call('createFlow', { body: { name: 'import', id: 'import:1', hold: true } })).status).toBe(200)
  const params = { id: String(id) }
  const part = { name: 'part', task: 'echo', input: 1 }
  expect(await found.ok('addFlowMember', { params, body: part })).toMatchObject({ node: 'part', isNew: true })
  expect(await found.ok('addFlowMember', { params, body: part })).toMatchObject({ isNew: false })
  await found.ok('addFlowMember', { params, body: { name: 'other', task: 'echo', after: { nodes: ['part'] } } })
  await found.ok('addFlowMember', { params, body: { name: 'sum', task: 'echo' } })
  const policy = { params: { ...params, node: 'sum' }, body: { policy: 'quorum', need: 2 } }
  await found.ok('setEdgeGroupPolicy', policy)
  const edge = (upstream: string, more: object = {}) => ({ params, body: { upstream, downstream: 'sum', ...more } })
  await found.ok('addDependency', edge('part', { as: 'first' }))
  await found.ok('addDependency', edge('other', { as: null }))
  expect(await found.refusal('addDependency', edge('sum'))).toEqual([409, 'self_referencing_edge'])
  expect(await found.refusal('setEdgeGroupPolicy', { ...policy, body: { policy: 'any_of' } })).toEqual([
    409,
    'edge_group_policy_fixed',
  ])
  await found.ok('sealFlow', { params })
  expect((await resultOf(found, 'import:1'))['results']).toMatchObject({ sum: { inputs: { first: { input: 1 } } } })
  expect((await found.refusal('addFlowMember', { params, body: { name: 'late', task: 'echo' } }))[0]).toBe(409)
})

test('graphs that cannot be are refused before anything is stored', async () => {
  const found = await served()
  const node = (name: string, after?: unknown) => ({ name, task: 'echo', ...(after === undefined ? {} : { after }) })
  const refused = async (nodes: readonly unknown[], more: object = {}) =>
    await found.refusal('submitFlow', { body: { name: 'wrong', id: 'wrong:1', nodes, ...more } })
  const invalid = [
    await refused([]),
    await refused([node('a'), node('a')]),
    await refused([node('b', { nodes: ['a'] }), node('a')]),
    await refused([node('a'), node('b', { nodes: ['a', 'a'] })]),
    await refused([node('a'), node('b', { nodes: ['a'], policy: 'quorum' })]),
    await refused([node('a'), node('b', { nodes: ['a'], policy: 'quorum', need: 2 })]),
    await refused([node('a'), node('b', { nodes: ['a'], losers: 'cancel' })]),
    await refused([{ ...node('a'), retention: '1d' }]),
    await refused([{ ...node('a'), task: 'flowfabric.webhooks' }]),
    await refused([node('a')], { id: 'flowfabric.x' }),
    await refused([node('__proto__'), node('b', { nodes: [{ node: 'constructor' }] })]),
  ]
  expect(invalid).toEqual(invalid.map(() => [400, 'invalid_input']))
  expect(await found.refusal('describeFlow', { params: { id: 'wrong:1' } })).toEqual([404, 'flow_not_found'])
})
