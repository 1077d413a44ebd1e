import { describe, expect, test } from 'vitest'
import { readyIndex } from '../kernel/index.ts'
import type { ExecutionId, FlowId, OperationInput } from '../kernel/index.ts'
import { Batcher } from './batcher.ts'
import { hintsOf } from './in-process-hints.ts'
import { MemoryStore } from './memory/memory-store.ts'
import { PARTITION, call, creation } from './store.fixture.ts'
import { virtualRuntime } from '../runtime/index.ts'
import type { Call } from './store.ts'

const READY = readyIndex('main', 'greet')
const HELD = { executionId: 'p0-1' as ExecutionId, fence: { leaseId: 'l', epoch: 1, attempt: 1 } }

function readyIn(hinting: Call): string[] {
  return [...hintsOf(hinting).ready]
}

function flowOf(nodeCount: number, ...edges: [number, number][]): OperationInput<'submitFlow'> {
  const nodes = ['first', 'second'].map((name) => ({ name, create: creation({ class: name }) }))
  const id = (i: number) => nodes[i]?.create.executionId as ExecutionId
  const links = edges.map(([from, to]) => ({ upstreamId: id(from), downstreamId: id(to) }))
  const head = { flowId: 'f0-1' as FlowId, requestId: 'r', digest: '', namespace: 'default', name: 'release', tags: [] }
  const settings = { outcomeRule: 'all_members' as const, retentionMs: 1_000 }
  return {
    ...head,
    ...settings,
    nodeCount,
    nodesBefore: 0,
    nodes,
    edgeCount: edges.length,
    edgesBefore: 0,
    edges: links,
  }
}

describe('a call gives a hint of ready work', () => {
  test('if it creates an execution without a delay', () => {
    expect(readyIn(call('createExecution', creation({})))).toEqual([READY])
    expect(readyIn(call('createExecution', creation({ delayMs: 1 })))).toEqual([])
  })

  test('if it submits a whole flow, for the members that wait for no other', () => {
    expect(readyIn(call('submitFlow', flowOf(2, [0, 1])))).toEqual([readyIndex('main', 'first')])
    expect(readyIn(call('submitFlow', flowOf(3)))).toEqual([])
  })

  test('if a running member adds one that waits for no other', () => {
    const create = creation({})
    const { executionId } = create
    const added = { flowId: 'f0-1' as FlowId, executionId, name: 'child', create, after: [] }

    expect(readyIn(call('addExecutionToFlow', { ...added, holder: HELD }))).toEqual([READY])
    expect(readyIn(call('addExecutionToFlow', added))).toEqual([])
    const after = [{ upstreamId: HELD.executionId }]
    expect(readyIn(call('addExecutionToFlow', { ...added, holder: HELD, after }))).toEqual([])
  })
})

test('a completion gives a hint of an end, a failure does not', () => {
  expect(hintsOf(call('completeExecution', HELD)).ended).toBe(HELD.executionId)
  const failure = { code: 'x', category: 'transient' as const, message: 'no' }
  expect(hintsOf(call('failExecution', { ...HELD, failure, seed: 1 })).ended).toBe(undefined)
})

test('listeners are notified in the turn in which a call is made, until they are removed', async () => {
  const runtime = virtualRuntime()
  const batcher = new Batcher(new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] }), runtime)
  const hints: string[] = []
  const removes = [
    batcher.hints.onReady((partition, index) => hints.push(`${partition} ${index}`)),
    batcher.hints.onEnd((_, id) => hints.push(id)),
  ]

  const answers = [
    batcher.run(PARTITION, 'createExecution', creation({})),
    batcher.run(PARTITION, 'completeExecution', HELD),
  ]
  expect(hints).toEqual([`${PARTITION} ${READY}`, HELD.executionId])
  for (const remove of removes) remove()
  answers.push(batcher.run(PARTITION, 'createExecution', creation({})))
  await runtime.advance(0)
  await Promise.all(answers)

  expect(hints).toHaveLength(2)
})
