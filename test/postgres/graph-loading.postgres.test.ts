/** How often an operation that walks through a graph has to run until all that it reads is loaded: once for each level. */
import { describe, expect, test } from 'vitest'
import { DUE_INDEX, edgeId, entriesOf, inboundIndex, outboundIndex, unpackRecord } from '../../src/kernel/index.ts'
import type { AnyRecord, Edge, ExecutionId, Flow, FlowId, Membership, Tx } from '../../src/kernel/index.ts'
import { PARTITION, submit } from '../../src/stores/store.fixture.ts'
import type { Store } from '../../src/stores/store.ts'
import { writeInProcess } from '../conformance/write-in-process.ts'
import { versions } from './places.ts'
import { newStore } from './store-place.ts'

const FLOW_ID = 'f0-1' as FlowId
const LENGTH = 5
/** Before anything is loaded, nothing is known of what is to be read. */
const FIRST = 1

function flowOf(memberCount: number): Flow {
  return {
    ...unpackRecord('flow', []),
    id: FLOW_ID,
    namespace: 'default',
    name: 'brief',
    tags: [],
    outcomeRule: 'all_members',
    retentionMs: 1,
    createdAt: 1,
    changedAt: 1,
    state: { phase: 'held', until: 5 },
    memberCount,
    edgeCount: memberCount - 1,
    counts: {
      waiting: memberCount,
      delayed: 0,
      rate_limited: 0,
      waiting_dependencies: 0,
      active: 0,
      suspended: 0,
      completed: 0,
      failed: 0,
      cancelled: 0,
      expired: 0,
      skipped: 0,
      superseded: 0,
    },
  }
}

function edgeOf(upstreamId: ExecutionId, downstreamId: ExecutionId): Edge {
  const id = edgeId(upstreamId, downstreamId)
  return { ...unpackRecord('edge', []), id, flowId: FLOW_ID, upstreamId, downstreamId, state: 'open', createdAt: 1 }
}

function memberOf(rank: number): Membership {
  return {
    flowId: FLOW_ID,
    name: `${rank}`,
    rank,
    group: undefined,
    delay: undefined,
    inputCount: 0,
    given: [],
    payloadEdgeCount: 0,
    payloadFrom: undefined,
    owesEdges: false,
    hasCondition: undefined,
    takesOutcomes: undefined,
    mayFail: undefined,
  }
}

/** Members of one flow, each of which depends on the one before it. */
async function givenChain(store: Store): Promise<ExecutionId[]> {
  const ids: ExecutionId[] = []
  for (let i = 0; i < LENGTH; i++) ids.push(await submit(store))
  await writeInProcess(store, PARTITION, (tx) => {
    tx.put(flowOf(LENGTH))
    for (const [i, execution] of tx.getMany('execution', ids).entries()) {
      tx.put({ ...execution, member: memberOf(i) })
      const next = ids[i + 1]
      if (next !== undefined) tx.put(edgeOf(execution.id, next))
    }
  })
  return ids
}

/** Runs something as an operation, and returns how often it ran. */
async function passesOf(store: Store, work: (tx: Tx) => void): Promise<number> {
  let count = 0
  await writeInProcess(store, PARTITION, (tx) => {
    count += 1
    work(tx)
  })
  return count
}

/** Reads what one end of a chain leads to: every member with its flow, every edge. Answers what was found. */
function walk(tx: Tx, from: ExecutionId, direction: 'down' | 'up'): AnyRecord[] {
  const found: AnyRecord[] = []
  let id: string = from
  for (let level = 0; level < LENGTH; level++) {
    const execution = tx.get('execution', id)
    if (execution?.member === undefined) return found
    found.push(execution)
    const flow = tx.get('flow', execution.member.flowId)
    if (flow !== undefined && level === 0) found.push(flow)
    const next = tx.range({ index: direction === 'down' ? outboundIndex(id) : inboundIndex(id), limit: 10 })[0]?.id
    if (next === undefined) return found
    const edge = tx.get('edge', direction === 'down' ? edgeId(id, next) : edgeId(next, id))
    if (edge !== undefined) found.push(edge)
    id = next
  }
  return found
}

describe.each(versions)('a walk through a graph on %s', (version) => {
  test.each(['down', 'up'] as const)('%s takes one pass for each level', async (direction) => {
    const { store } = await newStore(version)
    const ids = await givenChain(store)
    const start = direction === 'down' ? ids[0]! : ids.at(-1)!
    let found: AnyRecord[] = []

    const passes = await passesOf(store, (tx) => {
      found = walk(tx, start, direction)
    })

    expect(found.filter(({ type }) => type === 'execution')).toHaveLength(LENGTH)
    expect(found.filter(({ type }) => type === 'edge')).toHaveLength(LENGTH - 1)
    expect(found.filter(({ type }) => type === 'flow')).toEqual([flowOf(LENGTH)])
    // The first member comes by its id, and each level by the index that leads to it; the last leads nowhere.
    expect(passes).toBe(FIRST + 1 + LENGTH)
  })

  test('finds a flow that is due in the pass that finds that it is', async () => {
    const { store } = await newStore(version)
    await givenChain(store)
    const found: (Flow | undefined)[] = []

    const passes = await passesOf(store, (tx) => {
      for (const { id } of tx.range({ index: DUE_INDEX, limit: 10 })) {
        expect(tx.get('execution', id)).toBeUndefined()
        found.push(tx.get('flow', id))
      }
    })

    expect(found).toEqual([flowOf(LENGTH)])
    expect(passes).toBe(FIRST + 1)
  })

  test('finds what it has planned for in one pass, and a flow that is gone as gone', async () => {
    const { store, query } = await newStore(version)
    const [first] = await givenChain(store)
    await query('delete from flow')

    const passes = await passesOf(store, (tx) => {
      const execution = tx.get('execution', first!)
      if (execution?.member !== undefined) expect(tx.get('flow', execution.member.flowId)).toBeUndefined()
    })

    expect(passes).toBe(FIRST + 1)
  })

  test('leaves the tables consistent with the records', async () => {
    const { store, query } = await newStore(version)
    const ids = await givenChain(store)

    const { records, entries } = await store.dump(PARTITION)

    expect(entries.length).toBe(records.flatMap(entriesOf).length)
    expect(await query('select id, state, phase, member_count, due_at from flow')).toEqual([
      { id: FLOW_ID, state: 'open', phase: 'held', member_count: LENGTH, due_at: 5 },
    ])
    expect(await query('select upstream_id, downstream_id, state from edge order by id')).toEqual(
      ids.slice(1).map((id, i) => ({ upstream_id: ids[i], downstream_id: id, state: 'open' })),
    )
    expect(await query('select distinct flow_id from execution')).toEqual([{ flow_id: FLOW_ID }])
  })
})
