/** The edges of flows that a process has made. */
import { beforeEach, describe, expect, test } from 'vitest'
import { outboundIndex } from '../../../kernel/index.ts'
import type { Claimed, Edge, ExecutionId, Flow, FlowId } from '../../../kernel/index.ts'
import { call, creation } from '../../store.fixture.ts'
import type { AppliedContent } from '../commit/commit-groups.ts'
import type { HeldRecord } from '../overlay/held-record.ts'
import { KnownEdges } from './known-edges.ts'
import type { Process } from '../batch/process.fixture.ts'
import { a, b, mark, scene, useScene } from '../batch/scene.fixture.ts'

const flowId = 'f0-1' as FlowId

useScene()

beforeEach(async () => {
  const details = { namespace: 'default', name: 'release', tags: [], outcomeRule: 'all_members' as const }
  await a.do('createFlow', { flowId, requestId: flowId, ...details, retentionMs: 1_000, hold: false })
})

async function addMember(by: Process, ...after: ExecutionId[]): Promise<ExecutionId> {
  const create = creation()
  const { executionId } = create
  const upstreams = after.map((upstreamId) => ({ upstreamId }))
  await by.do('addExecutionToFlow', { flowId, executionId, name: executionId, create, after: upstreams })
  return executionId
}

/** The first member, held by a process that has seen that nothing else is ready. */
async function heldMember(by: Process): Promise<Claimed> {
  const { executions } = await by.do('claimForWorker', scene.claimInput(1))
  await by.do('claimForWorker', scene.claimInput(1))
  const [claimed] = executions
  if (claimed === undefined) throw new Error('Nothing was claimed.')
  by.reset()
  return claimed
}

async function stateOf(executionId: ExecutionId): Promise<unknown> {
  const described = await b.do('describeExecution', { executionId })
  return 'state' in described ? described.state : undefined
}

/** Lets two processes meet over an execution, so that batches which read it take the lock for a while. */
async function makeHot(executionId: ExecutionId): Promise<void> {
  for (const value of ['1', '2']) {
    a.beforeCommit(() => b.run(mark(executionId, `b${value}`)))
    await a.run(mark(executionId, `a${value}`))
  }
  a.reset()
}

describe('the process that made a flow', () => {
  test('ends a member and claims the next one in one round trip', async () => {
    const first = await addMember(a)
    const second = await addMember(a, first)
    const held = await heldMember(a)

    const result = await a.do('completeExecution', { ...held, flowId, next: scene.claimInput(1) })

    expect(result).toMatchObject({ kind: 'completed', next: { executions: [{ executionId: second }] } })
    expect(a.trips).toEqual({ loads: 0, commits: 1 })
  })

  test('ends the last member and reads its result in one round trip', async () => {
    const member = await addMember(a)
    const held = await heldMember(a)
    const bytes = Buffer.from('42')
    const result = { blob: 0, size: bytes.byteLength, encoding: 'json' as const }

    const answers = await a.run(
      call('completeExecution', { ...held, flowId, result }, bytes),
      call('describeFlow', { flowId }),
      call('describeExecution', { executionId: member, result: true }),
      call('claimForWorker', scene.claimInput(1)),
    )

    expect(answers[2]).toMatchObject({ result: { state: 'completed' }, blobs: [bytes] })
    expect(a.trips).toEqual({ loads: 0, commits: 1 })
  })

  test('loads edges for a batch in which they are listed', async () => {
    const first = await addMember(a)
    await addMember(a, first)
    const held = await heldMember(a)

    await a.run(
      call('completeExecution', { ...held, flowId }),
      call('listEdges', { executionId: first, direction: 'outbound', limit: 10 }),
    )

    expect(a.loadCount).toBeGreaterThan(0)
  })

  test('knows edges that it added later', async () => {
    const first = await addMember(a)
    const held = await heldMember(a)
    const others = [await addMember(a, first), await addMember(a, first)]
    a.reset()

    await a.do('completeExecution', { ...held, flowId })

    expect(await Promise.all(others.map(stateOf))).toEqual(['waiting', 'waiting'])
    expect(a.trips).toEqual({ loads: 0, commits: 1 })
  })

  test('takes in what another process has added', async () => {
    const first = await addMember(a)
    const held = await heldMember(a)
    const second = await addMember(b, first)

    await a.do('completeExecution', { ...held, flowId })

    expect(await stateOf(second)).toBe('waiting')
    expect(a.commitCount).toBe(2)
  })

  test('takes in what another process has added when it has written the flow since', async () => {
    const first = await addMember(a)
    const held = await heldMember(a)
    const second = await addMember(b, first)
    await a.do('setFlowTags', { flowId, set: [{ name: 'x', value: 'y', indexed: false }], remove: [] })

    await a.do('completeExecution', { ...held, flowId })

    expect(await stateOf(second)).toBe('waiting')
  })

  test('takes in what another process has added when a claim of the same batch brings the flow', async () => {
    const first = await addMember(a)
    const held = await heldMember(a)
    await addMember(a)
    const second = await addMember(b, first)

    const complete = call('completeExecution', { ...held, flowId })
    await a.run(complete, call('claimForWorker', scene.claimInput(1)))

    expect(await stateOf(second)).toBe('waiting')
  })

  test('takes in what another process has added when its own batch runs under the lock', async () => {
    const first = await addMember(a)
    const held = await heldMember(a)
    const contended = await scene.submitted(a)
    await makeHot(contended)
    await addMember(a)
    const second = await addMember(b, first)

    const complete = call('completeExecution', { ...held, flowId })
    await a.run(complete, mark(contended, 'a'), call('claimForWorker', scene.claimInput(1)))

    expect(a.hasAskedForLock).toBe(true)
    expect(await stateOf(second)).toBe('waiting')
  })
})

test('a batch that only reads takes no lock, however contended its records are', async () => {
  const contended = await scene.submitted(a)
  await makeHot(contended)
  a.hasAskedForLock = false

  await a.do('describeExecution', { executionId: contended })
  expect(a.hasAskedForLock).toBe(false)

  await a.run(mark(contended, 'a'))
  expect(a.hasAskedForLock).toBe(true)
})

test('a process that did not make the flow loads its edges', async () => {
  const first = await addMember(a)
  const second = await addMember(a, first)
  const held = await heldMember(b)

  await b.do('completeExecution', { ...held, flowId })

  expect(await stateOf(second)).toBe('waiting')
  expect(b.loadCount).toBeGreaterThan(0)
})

describe('edges are known', () => {
  interface Wish {
    /** The version that the commit expected; undefined if the flow was absent. */
    readonly before?: string
    readonly isRemoved?: boolean
    readonly added?: readonly string[]
    readonly removed?: readonly string[]
  }

  /** A commit that writes the flow, and edges from `up`. */
  function written(id: string, { before, isRemoved = false, added = [], removed = [] }: Wish): AppliedContent {
    const held = (downstreamId: string, isAdded: boolean): HeldRecord => {
      const edge = { type: 'edge', flowId: id, upstreamId: 'up', downstreamId, state: 'open' } as Edge
      const [stored, current] = isAdded ? [undefined, edge] : [edge, undefined]
      const type = 'edge' as const
      const state = { stored, current, isChanged: true, entries: undefined }
      return { type, id: downstreamId, found: undefined, ...state, operation: 0, writer: 0 }
    }
    const record = isRemoved ? undefined : ({ type: 'flow', id } as Flow)
    return {
      touched: [...removed.map((to) => held(to, false)), ...added.map((to) => held(to, true))],
      conditions: [{ type: 'flow', id, version: before, length: 0, operation: 0 }],
      records: [{ type: 'flow', id, record, entries: undefined, operation: 0, length: 0 }],
      entries: [],
      events: [],
    }
  }

  function downstreams(known: KnownEdges, id: string): string[] {
    return known.entriesIn(outboundIndex('up'), id).map((entry) => entry.id)
  }

  test('for the version that the process has written last, and for no other', () => {
    const known = new KnownEdges()
    known.wrote(written('f', { added: ['b', 'a'] }), '1')
    expect(known.knows('f', '1')).toBe(true)

    known.wrote(written('f', { before: '1', removed: ['b'], added: ['c'] }), '2')

    expect([known.knows('f', '1'), known.knows('f', '2'), known.knows('other', '2')]).toEqual([false, true, false])
    expect(downstreams(known, 'f')).toEqual(['a', 'c'])
  })

  test('no longer if another process has written the flow in between', () => {
    const known = new KnownEdges()
    known.wrote(written('f', { added: ['a'] }), '1')

    known.wrote(written('f', { before: 'of another', added: ['b'] }), '3')

    expect(known.knows('f', '3')).toBe(false)
  })

  test('of a flow that is made again without those of the flow that was removed', () => {
    const known = new KnownEdges()
    known.wrote(written('f', { added: ['a'] }), '1')

    known.wrote(written('f', { before: '1', isRemoved: true, removed: ['a'] }), '2')
    expect(known.knows('f', '2')).toBe(false)
    known.wrote(written('f', { added: ['b'] }), '3')

    expect(downstreams(known, 'f')).toEqual(['b'])
  })

  test('of the flows that were written last, up to a bound', () => {
    const known = new KnownEdges()
    const many = Array.from({ length: 2_400 }, (_, i) => `to ${i}`)
    known.wrote(written('first', { added: many }), '1')
    known.wrote(written('second', { added: ['a'] }), '1')
    known.wrote(written('third', {}), '1')
    known.wrote(written('first', { before: '1' }), '2')

    known.wrote(written('second', { before: '1', added: many }), '2')
    expect(known.knows('first', '2')).toBe(false)

    expect([known.knows('second', '2'), known.knows('third', '1')]).toEqual([true, false])
  })
})
