/** The invariants of flows are only worth something if they notice: each kind of damage to a healthy flow is found. */
import { describe, expect, test } from 'vitest'
import type { AnyRecord, Edge, EdgeGroup, Execution, Flow, Membership } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { Clock } from './clock.ts'
import { TestFabric } from './fabric.ts'
import { flowProblems } from './flow-invariants.ts'
import { GivenFlow, anyOf, input, payload } from './given-flow.ts'
import { Given } from './given.ts'
import { graphProblems } from './graph-invariants.ts'
import { memory } from './targets.ts'

/** Of a flow that runs: `a` and `b` have completed, `lost` failed, `skipped` was; `ready`, `any` and `last` live. */
async function healthyFlow(): Promise<PartitionDump> {
  const fabric = new TestFabric(memory)
  await fabric.open()
  try {
    const given = new Given(fabric, new Clock(fabric))
    const flows = new GivenFlow(fabric, given)
    const shape = {
      a: [],
      b: [],
      lost: [],
      skipped: ['lost'],
      ready: [payload('a')],
      any: ['a', 'b'],
      last: [input('ready')],
    }
    const graph = await flows.graph(shape, { policies: { any: anyOf }, flow: { outcomeRule: 'sinks' } })
    await graph.completeWith('a', new Uint8Array([1]))
    await graph.fail('lost')
    return await fabric.dump()
  } finally {
    await fabric.close()
  }
}

const records = (dump: PartitionDump, change: (record: AnyRecord) => AnyRecord | undefined): PartitionDump => ({
  ...dump,
  records: dump.records.map(change).filter((record) => record !== undefined),
})
const flow = (dump: PartitionDump, change: (flow: Flow) => Partial<Flow>): PartitionDump =>
  records(dump, (record) => (record.type === 'flow' ? { ...record, ...change(record) } : record))
const node = (dump: PartitionDump, name: string, change: (execution: Execution) => Partial<Execution>): PartitionDump =>
  records(dump, (record) =>
    record.type === 'execution' && record.member?.name === name ? { ...record, ...change(record) } : record,
  )
const member = (dump: PartitionDump, name: string, change: Partial<Membership>): PartitionDump =>
  node(dump, name, (execution) => ({ member: { ...execution.member!, ...change } }))
const group = (dump: PartitionDump, name: string, change: Partial<EdgeGroup>): PartitionDump =>
  node(dump, name, ({ member: old }) => ({ member: { ...old!, group: { ...old!.group!, ...change } } }))
const edges = (dump: PartitionDump, state: Edge['state'], change: Partial<Edge>): PartitionDump =>
  records(dump, (record) => (record.type === 'edge' && record.state === state ? { ...record, ...change } : record))

const damages: Record<string, (dump: PartitionDump) => PartitionDump> = {
  'a flow has vanished': (dump) => records(dump, (record) => (record.type === 'flow' ? undefined : record)),
  'a member has vanished': (dump) =>
    records(dump, (record) => (record.type === 'execution' && record.member?.name === 'last' ? undefined : record)),
  'an edge has vanished': (dump) =>
    records(dump, (record) => (record.type === 'edge' && record.state === 'open' ? undefined : record)),
  'members are miscounted': (dump) => flow(dump, () => ({ memberCount: 9 })),
  'edges are miscounted': (dump) => flow(dump, () => ({ edgeCount: 9 })),
  'a state is miscounted': (dump) => flow(dump, ({ counts }) => ({ counts: { ...counts, waiting: 0, delayed: 1 } })),
  'short groups are miscounted': (dump) => flow(dump, () => ({ shortGroupCount: 1 })),
  'failed sinks are miscounted': (dump) => flow(dump, () => ({ failedSinkCount: 0 })),
  'a flow forgets that a group cancels': (dump) => flow(dump, () => ({ cancelsLosers: false })),
  'a flow has ended before its members': (dump) =>
    flow(dump, () => ({ state: { phase: 'ended', outcome: 'failed', at: 1 } })),
  'a flow that was not cancelled cancels': (dump) =>
    flow(dump, () => ({ walk: { purpose: 'cancel', fromRank: undefined, fromId: undefined, rootId: undefined } })),
  'an edge leads backward': (dump) => member(dump, 'a', { rank: 2_000_000_000 }),
  'an edge leads to another flow': (dump) => edges(dump, 'open', { flowId: 'f0-other' as Edge['flowId'] }),
  'an edge is open though its upstream has ended': (dump) =>
    edges(dump, 'satisfied', { state: 'open', resolvedAt: undefined }),
  'an edge is satisfied by what failed': (dump) => edges(dump, 'impossible', { state: 'satisfied' }),
  'an edge is impossible by what completed': (dump) => edges(dump, 'satisfied', { state: 'impossible' }),
  'an edge is counted twice': (dump) => group(dump, 'any', { completed: 2 }),
  'a group has more edges than lead to it': (dump) => group(dump, 'last', { total: 2 }),
  'a verdict does not follow from the edges': (dump) => group(dump, 'last', { verdict: 'satisfied', decidedAt: 1 }),
  'a decided group is marked as undecided': (dump) =>
    group(dump, 'ready', { verdict: 'pending', decidedAt: undefined }),
  'a member runs before its group is satisfied': (dump) => node(dump, 'last', () => ({ state: { phase: 'eligible' } })),
  'a member waits though its group is satisfied': (dump) =>
    node(dump, 'ready', () => ({ state: { phase: 'blocked', by: 'dependencies', gate: undefined } })),
  'a member is held back without a reason': (dump) =>
    node(dump, 'ready', () => ({ state: { phase: 'blocked', by: 'hold', gate: undefined } })),
  'a member is skipped without a reason': (dump) =>
    node(dump, 'last', () => ({
      state: { phase: 'ended', outcome: 'skipped', at: 1, reason: undefined, by: undefined },
    })),
  'a member that lives owes edges': (dump) => member(dump, 'ready', { owesEdges: true }),
  'inputs are miscounted': (dump) => member(dump, 'last', { inputCount: 0 }),
  'payload edges are miscounted': (dump) => member(dump, 'ready', { payloadEdgeCount: 0 }),
  'a payload comes from nowhere': (dump) => member(dump, 'last', { payloadFrom: 'unknown' as Execution['id'] }),
}

describe('the invariants of flows', () => {
  const problems = (dump: PartitionDump) => [...flowProblems(dump), ...graphProblems(dump)]

  test('hold for a healthy flow', async () => {
    expect(problems(await healthyFlow())).toEqual([])
  })

  test.each(Object.keys(damages))('notice that %s', async (damage) => {
    expect(problems(damages[damage]!(await healthyFlow()))).not.toEqual([])
  })
})
