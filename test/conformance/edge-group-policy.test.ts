import { expect, test } from 'vitest'
import type { PolicyInput } from '../../src/kernel/index.ts'
import { anyOf, anyOfLettingRun, quorum } from './given-flow.ts'
import type { Graph } from './graph.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('setEdgeGroupPolicy', ({ fabric, flows, given }) => {
  const set = (graph: Graph, name: string, policy: PolicyInput) =>
    fabric.run('setEdgeGroupPolicy', { flowId: graph.flowId, executionId: graph.id(name), policy })

  test('sets how a group will be judged, before it has an edge', async () => {
    const graph = await flows.open(['a', 'b', 'c'])

    expect(await set(graph, 'c', anyOf)).toEqual({ kind: 'policy_set' })
    await graph.link('a', 'c')
    await graph.link('b', 'c')
    await graph.complete('b')

    expect(await graph.group('c')).toMatchObject({ policy: 'any_of', need: 1, losers: 'cancel', verdict: 'satisfied' })
    expect(await graph.state('a')).toBe('cancelled')
  })

  test('may change until the first edge; the same policy again is a no-op', async () => {
    const graph = await flows.open(['a', 'c'])
    await set(graph, 'c', quorum(2))

    expect((await set(graph, 'c', quorum(2))).kind).toBe('policy_already_set')
    expect((await set(graph, 'c', quorum(3))).kind).toBe('policy_set')
    expect((await set(graph, 'c', quorum(3, 'let_run'))).kind).toBe('policy_set')
    expect((await set(graph, 'c', anyOfLettingRun)).kind).toBe('policy_set')
    expect((await graph.view()).flow.shortGroupCount).toBe(1)
    expect((await set(graph, 'c', { policy: 'all_of' })).kind).toBe('policy_set')
    expect((await graph.view()).flow.shortGroupCount).toBe(0)
  })

  test('refuses another policy once there is an edge, and takes the same', async () => {
    const graph = await flows.open(['a', 'c'])
    await set(graph, 'c', quorum(2))
    await graph.link('a', 'c')

    expect((await set(graph, 'c', quorum(2))).kind).toBe('policy_already_set')
    for (const other of [quorum(1), quorum(2, 'let_run'), anyOf]) {
      expect((await refusal(fabric, () => set(graph, 'c', other))).code).toBe('edge_group_policy_fixed')
    }
  })

  test('refuses what does not exist, is not in the flow, or may not change any more', async () => {
    const graph = await flows.open(['a'])
    const sealed = await flows.graph({ a: [] })
    const cancelled = await flows.open(['a'])
    await cancelled.cancel()
    const { executionId } = await given.eligibleExecution()
    const of = (flowId: typeof graph.flowId, id: typeof executionId) =>
      fabric.run('setEdgeGroupPolicy', { flowId, executionId: id, policy: anyOf })

    expect((await refusal(fabric, () => of(flows.newId(), executionId))).code).toBe('flow_not_found')
    expect((await refusal(fabric, () => of(graph.flowId, given.newId()))).code).toBe('execution_not_found')
    expect((await refusal(fabric, () => of(graph.flowId, executionId))).code).toBe('execution_not_in_flow')
    expect((await refusal(fabric, () => set(sealed, 'a', anyOf))).code).toBe('flow_sealed')
    expect((await refusal(fabric, () => set(cancelled, 'a', anyOf))).code).toBe('flow_ended')
  })
})
