/** An answer counts only if everything that its operation read was true at one moment. */
import { describe, expect, test } from 'vitest'
import { outboundIndex, payloadKey } from '../../../kernel/index.ts'
import type { Claimed, ExecutionId, FlowId, Tx } from '../../../kernel/index.ts'
import { call, claim, creation, kindsOf } from '../../store.fixture.ts'
import { a, b, scene, useScene } from './scene.fixture.ts'
import { reading, useTestOperations, writing } from './test-operation.fixture.ts'

useTestOperations()
useScene()

let flowCount = 0

async function newFlow(): Promise<FlowId> {
  flowCount += 1
  const flowId = `f0-${flowCount}` as FlowId
  const details = { namespace: 'default', name: 'release', tags: [], outcomeRule: 'all_members' as const }
  await b.do('createFlow', { flowId, requestId: flowId, ...details, retentionMs: 1_000, hold: false })
  return flowId
}

async function addMember(flowId: FlowId, after: readonly ExecutionId[] = []): Promise<ExecutionId> {
  const create = creation()
  const { executionId } = create
  const upstreams = after.map((upstreamId) => ({ upstreamId }))
  await b.do('addExecutionToFlow', { flowId, executionId, name: executionId, create, after: upstreams })
  return executionId
}

async function claimOne(): Promise<Claimed> {
  const { executions } = await b.do('claimForWorker', claim({ count: 1 }))
  if (executions[0] === undefined) throw new Error('Nothing was claimed.')
  return executions[0]
}

/** Sets the priority of two executions in one step: they never differ. */
function setBoth(ids: readonly ExecutionId[], priority: number) {
  return writing((tx) => {
    for (const execution of tx.getMany('execution', [...ids])) {
      execution.priority = priority
      tx.put(execution)
    }
  })
}

/** Reads two executions, the second one only when it has seen the first. */
function prioritiesOf(tx: Tx, [first, second]: readonly ExecutionId[]): (number | undefined)[] {
  const one = tx.get('execution', first ?? '')
  return [one?.priority, one === undefined ? undefined : tx.get('execution', second ?? '')?.priority]
}

async function pair(): Promise<ExecutionId[]> {
  return [await scene.submitted(b), await scene.submitted(b)]
}

describe('a read that takes two loads', () => {
  test('is answered from one moment although both records change in between', async () => {
    const ids = await pair()
    a.beforeLoad(() => b.run(setBoth(ids, 7)), 1)

    const [answer] = await a.run(reading((tx) => prioritiesOf(tx, ids)))

    expect(answer).toMatchObject({ result: { value: [7, 7] } })
  })

  test('is confirmed by a commit that writes nothing', async () => {
    const ids = await pair()

    await a.run(reading((tx) => prioritiesOf(tx, ids)))

    expect(a.trips).toEqual({ loads: 2, commits: 1 })
    expect(a.commits[0]).toMatchObject({ conditions: [{ id: ids[0] }, { id: ids[1] }], records: [] })
  })

  test('is answered from the later moment if a record changes behind the loads', async () => {
    const ids = await pair()
    a.beforeCommit(() => b.run(setBoth(ids, 7)))

    const [answer] = await a.run(reading((tx) => prioritiesOf(tx, ids)))

    expect(answer).toMatchObject({ result: { value: [7, 7] } })
  })

  test('never compares the counts of a flow with the members of another moment', async () => {
    const flowId = await newFlow()
    await addMember(flowId)
    a.beforeLoad(() => addMember(flowId), 1)

    const result = await a.do('auditFlows', {})

    expect(result).toMatchObject({ audited: 1, drifts: [] })
  })

  test('of a range without a guard is repeated in one load', async () => {
    const flowId = await newFlow()
    await addMember(flowId)

    await a.do('auditFlows', {})

    expect(a.trips).toEqual({ loads: 3, commits: 0 })
  })
})

describe('a guarded range', () => {
  test('that was loaded before its guard is read again', async () => {
    const [flowId, anotherFlow] = [await newFlow(), await newFlow()]
    const upstreamId = await addMember(flowId)
    const held = await claimOne()
    let downstreamId: ExecutionId | undefined
    a.beforeLoad(async () => (downstreamId = await addMember(flowId, [upstreamId])), 1)

    // The hint names another flow, so that the edges are loaded first, and the flow that guards them behind.
    const result = await a.do('completeExecution', { ...held, flowId: anotherFlow })

    expect(result.kind).toBe('completed')
    const described = await b.do('describeExecution', { executionId: downstreamId ?? upstreamId })
    expect(described).toMatchObject({ state: 'waiting' })
  })

  test('protects only an operation that has read its guard itself', async () => {
    const flowId = await newFlow()
    const [upstreamId, target] = [await addMember(flowId), await scene.submitted(b)]
    const index = outboundIndex(upstreamId)
    const countEdges = writing((tx) => {
      const execution = tx.get('execution', target)
      if (execution === undefined) return
      execution.priority = tx.range({ index, limit: 10 }).length
      tx.put(execution)
    })
    const readGuard = writing((tx) => [tx.get('execution', upstreamId), tx.get('flow', flowId)])
    a.beforeCommit(() => addMember(flowId, [upstreamId]), 1)

    await a.run(countEdges, readGuard)

    // Without a condition on the guard no commit detects a change, so the operation counts under the lock only.
    const writers = a.commits.filter(({ records }) => records.length > 0)
    expect(writers.map(({ lock }) => lock !== undefined)).toEqual([true])
  })

  test('whose change goes unseen by its reader has the reader run again', async () => {
    const flowId = await newFlow()
    const upstreamId = await addMember(flowId)
    const held = await claimOne()
    let downstreamId: ExecutionId | undefined
    a.beforeCommit(async () => (downstreamId = await addMember(flowId, [upstreamId])))

    await a.do('completeExecution', { ...held, flowId })

    const described = await b.do('describeExecution', { executionId: downstreamId ?? upstreamId })
    expect(described).toMatchObject({ state: 'waiting' })
  })
})

describe('a record that is absent', () => {
  test('is a condition: who found none runs again once there is one', async () => {
    const ids = await pair()
    const later = creation()
    a.beforeCommit(() => b.do('createExecution', later))

    // The first one takes two loads, so that nothing in the batch is of one moment.
    const answers = await a.run(
      writing((tx) => prioritiesOf(tx, ids)),
      call('cancelExecution', { executionId: later.executionId, reason: 'no', by: 'me', graceMs: 0, force: false }),
    )

    expect(kindsOf(answers)).toEqual(['done', 'cancelled'])
  })

  test('guards the range that it would own', async () => {
    const ids = await pair()
    const later = creation()
    const look = reading((tx) => {
      const found = tx.get('execution', later.executionId)
      return {
        exists: found !== undefined,
        attempts: tx.range({ index: `attempts\u001f${later.executionId}`, limit: 5 }),
      }
    })
    a.beforeCommit(() => b.do('createExecution', later))

    const [answer] = await a.run(
      look,
      reading((tx) => prioritiesOf(tx, ids)),
    )

    expect(answer).toMatchObject({ result: { value: { exists: true, attempts: [] } } })
  })
})

describe('bytes that come with the commit', () => {
  const payload = { blob: 0, size: 1, encoding: 'bytes' as const }

  async function given(): Promise<ExecutionId> {
    return await scene.submitted(b, { payload, requestId: 'first', retentionMs: 0 }, new Uint8Array([1]))
  }

  test('are those of the record that the operation has read', async () => {
    const executionId = await given()
    const replacement = creation({ executionId, requestId: 'second', ifExists: 'replace', payload })
    a.beforeCommit(() => b.do('createExecution', replacement, new Uint8Array([2])))

    const [answer] = await a.run(call('claimForWorker', scene.claimInput()))

    expect(answer).toMatchObject({ result: { executions: [{ executionId }] }, blobs: [new Uint8Array([2])] })
    expect(await scene.eventsOf('attempt_started')).toHaveLength(1)
  })

  test('fail their group if they are missing, which is then answered from a load', async () => {
    const other = await scene.held(b)
    const executionId = await given()
    a.beforeCommit(() => b.run(writing((tx) => tx.forget(payloadKey(executionId)))))

    const answers = await a.run(
      call('claimForWorker', scene.claimInput()),
      call('renewLease', { ...other, leaseTtlMs: 5_000 }),
    )

    expect(kindsOf(answers)).toEqual(['claimed', 'renewed'])
    expect(answers[0]).toMatchObject({ result: { executions: [{ executionId, payloadBlob: undefined }] }, blobs: [] })
    expect(await scene.eventsOf('attempt_started')).toHaveLength(2)
    await b.do('cancelExecution', { executionId, reason: 'damaged', by: 'me', graceMs: 0, force: true })
    await b.do('purgeExecutions', {})
  })
})

test('a claim counts entries of its batch that are then not written as more: a hint, which takes nothing', async () => {
  const ended = await scene.submitted(b)
  await b.do('cancelExecution', { executionId: ended, reason: 'no', by: 'me', force: false, graceMs: 0 })
  const ready = await scene.submitted(a, { priority: 9 })
  // This process does not know the ended execution, so it assumes that the id is new until the commit is refused.
  const again = call('createExecution', creation({ executionId: ended }))

  const answers = await a.run(again, call('claimForWorker', claim({ count: 1 })))

  const [joined, claimed] = answers.map((answer) => (answer.kind === 'answered' ? answer.result : undefined))
  expect(joined).toMatchObject({ kind: 'joined' })
  expect(claimed).toMatchObject({ executions: [{ executionId: ready }], more: true })
  expect(await a.do('claimForWorker', claim({ requestId: 'the next' }))).toMatchObject({ executions: [], more: false })
  expect(await scene.problems()).toEqual([])
})
