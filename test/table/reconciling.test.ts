import { describe, expect, test } from 'vitest'
import {
  CANCEL_BACKLOG_INDEX,
  CREATED_INDEX,
  DUE_INDEX,
  FLOWS_INDEX,
  PURGE_INDEX,
  SIBLING_CANCELS_INDEX,
  inboundIndex,
  laneIndex,
  membersIndex,
  outboundIndex,
  readyIndex,
  tagIndex,
} from '../../src/kernel/index.ts'
import type { FlowId, IndexProblem, Tx } from '../../src/kernel/index.ts'
import { Partition, idOf } from './partition.ts'
import { expectAgreement, walk } from './reconcile-walk.ts'

function livelyPartition(): Partition {
  const partition = new Partition()
  partition.submit()
  partition.submit({ delayMs: 500 })
  partition.submit({ lane: 'side', totalTimeoutMs: 900 })
  partition.hold()
  partition.run('cancelExecution', { executionId: idOf(2), reason: '', by: '', force: true, graceMs: 0 })
  return partition
}

describe('reconciling', () => {
  test('finds nothing where operations alone wrote', () => {
    expect(walk(livelyPartition())).toEqual([])
  })

  const active = idOf(1)
  const ended = idOf(2)
  const waiting = idOf(3)

  test.each<{ damage: string; inflict: (tx: Tx) => void; problem: IndexProblem }>([
    {
      damage: 'a missing entry of a queue',
      inflict: (tx) => tx.repair(readyIndex('side', 'default'), waiting, undefined),
      problem: { problem: 'missing_entry', index: readyIndex('side', 'default'), id: waiting },
    },
    {
      damage: 'a missing entry of a lane',
      inflict: (tx) => tx.repair(laneIndex('main', 'active'), active, undefined),
      problem: { problem: 'missing_entry', index: laneIndex('main', 'active'), id: active },
    },
    {
      damage: 'a missing timer',
      inflict: (tx) => tx.repair(DUE_INDEX, active, undefined),
      problem: { problem: 'missing_entry', index: DUE_INDEX, id: active },
    },
    {
      damage: 'a missing end of retention',
      inflict: (tx) => tx.repair(PURGE_INDEX, ended, undefined),
      problem: { problem: 'missing_entry', index: PURGE_INDEX, id: ended },
    },
    {
      damage: 'a missing tag',
      inflict: (tx) => tx.repair(tagIndex('plan', 'pro'), waiting, undefined),
      problem: { problem: 'missing_entry', index: tagIndex('plan', 'pro'), id: waiting },
    },
    {
      damage: 'an execution missing among all executions',
      inflict: (tx) => tx.repair(CREATED_INDEX, waiting, undefined),
      problem: { problem: 'missing_entry', index: CREATED_INDEX, id: waiting },
    },
    {
      damage: 'a timer at the wrong time',
      inflict: (tx) => tx.repair(DUE_INDEX, active, 1),
      problem: { problem: 'wrong_score', index: DUE_INDEX, id: active },
    },
    {
      damage: 'an entry of a queue in which the execution does not wait',
      inflict: (tx) => tx.repair(readyIndex('main', 'default'), ended, 1),
      problem: { problem: 'extra_entry', index: readyIndex('main', 'default'), id: ended },
    },
    {
      damage: 'an entry in another lane',
      inflict: (tx) => tx.repair(laneIndex('side', 'active'), active, 1),
      problem: { problem: 'extra_entry', index: laneIndex('side', 'active'), id: active },
    },
    {
      damage: 'a timer of an execution that has ended',
      inflict: (tx) => tx.repair(DUE_INDEX, ended, 1),
      problem: { problem: 'extra_entry', index: DUE_INDEX, id: ended },
    },
    {
      damage: 'an entry whose execution does not exist',
      inflict: (tx) => tx.repair(CREATED_INDEX, '0-gone', 1),
      problem: { problem: 'extra_entry', index: CREATED_INDEX, id: '0-gone' },
    },
    {
      damage: 'an end of retention of an execution that runs',
      inflict: (tx) => tx.repair(PURGE_INDEX, active, 1),
      problem: { problem: 'extra_entry', index: PURGE_INDEX, id: active },
    },
  ])('repairs and reports $damage', ({ inflict, problem }) => {
    const partition = livelyPartition()
    partition.write(inflict)

    expect(walk(partition)).toEqual([problem])
    expectAgreement(partition)
    expect(walk(partition)).toEqual([])
  })

  test('repairs any amount of damage in one walk, a bounded part of it in each call', () => {
    const partition = new Partition()
    const ids = partition.submitMany(450, { totalTimeoutMs: 5_000 })
    partition.write((tx) => {
      for (const id of ids) {
        tx.repair(DUE_INDEX, id, undefined)
        tx.repair(readyIndex('main', 'default'), id, undefined)
      }
      for (let i = 0; i < 250; i++) tx.repair(CREATED_INDEX, `0-gone-${i}`, i)
    })

    expect(walk(partition)).toHaveLength(450 * 2 + 250)
    expectAgreement(partition)
  })

  test('leaves the executions of other tenants alone', () => {
    const partition = new Partition()
    const other = partition.submit({ namespace: 'beta', totalTimeoutMs: 100 })
    partition.write((tx) => tx.repair(DUE_INDEX, other, undefined))

    expect(walk(partition, { namespace: 'default' })).toEqual([])
    expect(walk(partition, { namespace: 'beta' })).toHaveLength(1)
  })
})

/** Two flows: a → b → c, waiting; and one that is over. */
function partitionWithFlows(): Partition {
  const partition = new Partition()
  for (const flowId of [living, over]) {
    partition.run('createFlow', {
      flowId,
      namespace: 'default',
      name: 'graph',
      tags: [],
      outcomeRule: 'all_members',
      retentionMs: 1_000,
      hold: false,
    })
  }
  const add = (flowId: FlowId, number: number, after: readonly number[]): void => {
    const executionId = partition.submit({ executionId: idOf(number) })
    const upstreams = after.map((upstream) => ({ upstreamId: idOf(upstream) }))
    partition.run('addExecutionToFlow', { flowId, executionId, name: `node ${number}`, after: upstreams })
  }
  add(living, 1, [])
  add(living, 2, [1])
  add(living, 3, [2])
  add(over, 4, [])
  const wish = { policy: 'cancel_all' as const, reason: '', by: '', force: true, graceMs: 0 }
  partition.run('cancelFlow', { ...wish, flowId: over })
  return partition
}

const living = 'f0-living' as FlowId
const over = 'f0-over' as FlowId

describe('reconciling a partition with flows', () => {
  test('finds nothing where operations alone wrote', () => {
    expect(walk(partitionWithFlows())).toEqual([])
  })

  const [a, b, c] = [idOf(1), idOf(2), idOf(3)] as const

  test.each<{ damage: string; inflict: (tx: Tx) => void; problem: IndexProblem }>([
    {
      damage: 'a flow missing among all flows',
      inflict: (tx) => tx.repair(FLOWS_INDEX, over, undefined),
      problem: { problem: 'missing_entry', index: FLOWS_INDEX, id: over },
    },
    {
      damage: 'a flow that does not exist among all flows',
      inflict: (tx) => tx.repair(FLOWS_INDEX, 'f0-gone', 1),
      problem: { problem: 'extra_entry', index: FLOWS_INDEX, id: 'f0-gone' },
    },
    {
      damage: 'a missing end of the retention of a flow',
      inflict: (tx) => tx.repair(PURGE_INDEX, over, undefined),
      problem: { problem: 'missing_entry', index: PURGE_INDEX, id: over },
    },
    {
      damage: 'an end of the retention of a flow that lives',
      inflict: (tx) => tx.repair(PURGE_INDEX, living, 1),
      problem: { problem: 'extra_entry', index: PURGE_INDEX, id: living },
    },
    {
      damage: 'a timer of a flow that has none',
      inflict: (tx) => tx.repair(DUE_INDEX, living, 1),
      problem: { problem: 'extra_entry', index: DUE_INDEX, id: living },
    },
    {
      damage: 'a flow that owes no cancels in the backlog of cancels',
      inflict: (tx) => tx.repair(CANCEL_BACKLOG_INDEX, over, 1),
      problem: { problem: 'extra_entry', index: CANCEL_BACKLOG_INDEX, id: over },
    },
    {
      damage: 'a member that owes no cancels among those that do',
      inflict: (tx) => tx.repair(SIBLING_CANCELS_INDEX, b, 1),
      problem: { problem: 'extra_entry', index: SIBLING_CANCELS_INDEX, id: b },
    },
    {
      damage: 'a member that its flow has lost',
      inflict: (tx) => tx.repair(membersIndex(living), b, undefined),
      problem: { problem: 'missing_entry', index: membersIndex(living), id: b },
    },
    {
      damage: 'a member at the wrong place of the graph',
      inflict: (tx) => tx.repair(membersIndex(living), b, 1),
      problem: { problem: 'wrong_score', index: membersIndex(living), id: b },
    },
    {
      damage: 'a member of another flow',
      inflict: (tx) => tx.repair(membersIndex(over), b, 1),
      problem: { problem: 'extra_entry', index: membersIndex(over), id: b },
    },
    {
      damage: 'a member that does not exist',
      inflict: (tx) => tx.repair(membersIndex(living), '0-gone', 1),
      problem: { problem: 'extra_entry', index: membersIndex(living), id: '0-gone' },
    },
    {
      damage: 'an edge that its upstream has lost',
      inflict: (tx) => tx.repair(outboundIndex(a), b, undefined),
      problem: { problem: 'missing_entry', index: outboundIndex(a), id: b },
    },
    {
      damage: 'an edge that its downstream has lost',
      inflict: (tx) => tx.repair(inboundIndex(c), b, undefined),
      problem: { problem: 'missing_entry', index: inboundIndex(c), id: b },
    },
    {
      damage: 'an open edge that is taken for a resolved one',
      inflict: (tx) => tx.repair(inboundIndex(b), a, 1),
      problem: { problem: 'wrong_score', index: inboundIndex(b), id: a },
    },
    {
      damage: 'an edge that does not exist',
      inflict: (tx) => tx.repair(outboundIndex(a), c, 0),
      problem: { problem: 'extra_entry', index: outboundIndex(a), id: c },
    },
  ])('repairs and reports $damage', ({ inflict, problem }) => {
    const partition = partitionWithFlows()
    partition.write(inflict)

    expect(walk(partition)).toEqual([problem])
    expectAgreement(partition)
    expect(walk(partition)).toEqual([])
  })

  test('repairs any amount of damage in one walk, a bounded part of it in each call', () => {
    const partition = partitionWithFlows()
    const strays = Array.from({ length: 450 }, (_, i) => `0-gone-${i}`)
    partition.write((tx) => {
      for (const stray of strays) {
        tx.repair(outboundIndex(a), stray, 0)
        tx.repair(inboundIndex(c), stray, 1)
        tx.repair(membersIndex(living), stray, 1)
      }
    })

    expect(walk(partition)).toHaveLength(3 * strays.length)
    expectAgreement(partition)
  })

  test('reaches the edges of every member, however many stand before it', () => {
    const partition = new Partition()
    partition.submitMany(450)
    partition.run('createFlow', {
      flowId: living,
      namespace: 'default',
      name: 'graph',
      tags: [],
      outcomeRule: 'all_members',
      retentionMs: 1_000,
      hold: false,
    })
    const ids = partition.submitMany(300)
    for (const executionId of ids) {
      const [first] = ids
      const after = executionId === first ? [] : [{ upstreamId: first! }]
      partition.run('addExecutionToFlow', { flowId: living, executionId, name: executionId, after })
    }
    const last = ids.at(-1)!
    partition.write((tx) => tx.repair(outboundIndex(ids[0]!), last, undefined))

    expect(walk(partition)).toEqual([{ problem: 'missing_entry', index: outboundIndex(ids[0]!), id: last }])
    expectAgreement(partition)
  })

  test('leaves the flows of other tenants alone', () => {
    const partition = partitionWithFlows()
    partition.write((tx) => {
      tx.repair(outboundIndex(a), b, undefined)
      tx.repair(PURGE_INDEX, over, undefined)
    })

    expect(walk(partition, { namespace: 'beta' })).toEqual([])
    expect(walk(partition, { namespace: 'default' })).toHaveLength(2)
  })
})
