/** Parts of one operation that stand alone: the records of a due pass and of a purge, and what is due in front of a claim. */
import { describe, expect, test } from 'vitest'
import { queueId } from '../../../kernel/index.ts'
import type { EventType, ExecutionId, OperationInput, Tx } from '../../../kernel/index.ts'
import { PARTITION, call, kindsOf } from '../../store.fixture.ts'
import type { Call } from '../../store.ts'
import { a, b, mark, scene, useScene } from './scene.fixture.ts'
import { useTestOperations, writing } from './test-operation.fixture.ts'

useTestOperations()

const PASS = { limit: 10, seed: 1 }
const SIDE = { lane: 'side' }

useScene({ clock: 'server' })

function cancel(executionId: ExecutionId): Call {
  return call('cancelExecution', { executionId, reason: 'no', by: 'me', graceMs: 0, force: true })
}

/** Executions whose delays end one after the other, and have ended. */
async function due(count: number, wish: Partial<OperationInput<'createExecution'>> = {}): Promise<ExecutionId[]> {
  const ids: ExecutionId[] = []
  for (let i = 0; i < count; i++) ids.push(await scene.submitted(b, { delayMs: 1_000 + i, ...wish }))
  await scene.runtime.advance(2_000)
  return ids
}

/** Executions whose retention is over, in a lane in which another one is delayed: so no queue of the lane is forgotten. */
async function outdated(count: number): Promise<ExecutionId[]> {
  await scene.submitted(b, { delayMs: 60_000 })
  const ids: ExecutionId[] = []
  for (let i = 0; i < count; i++) {
    ids.push(await scene.submitted(b, { retentionMs: i }))
    await b.run(cancel(ids[i] as ExecutionId))
  }
  await scene.runtime.advance(1_000)
  return ids
}

/** The executions that events tell of, in the order of the log. */
async function executionsWith(type: EventType): Promise<string[]> {
  return (await scene.eventsOf(type)).map(({ executionId }) => executionId)
}

/** Looks at the log in front of a commit of a program: what it has then was applied before. */
function lookBeforeCommit(type: EventType, skipped: number): { seen: string[] } {
  const look: { seen: string[] } = { seen: [] }
  a.beforeCommit(async () => (look.seen = await executionsWith(type)), skipped)
  return look
}

describe('a due pass', () => {
  test('is applied without the record that another program changed, and handles it when it runs again', async () => {
    const [first, second, third] = (await due(3)) as [ExecutionId, ExecutionId, ExecutionId]
    a.beforeCommit(() => b.run(mark(second, 'b')))
    const look = lookBeforeCommit('execution_promoted', 1)

    const { handled, oldestDueAt, at } = await a.do('runDue', PASS)

    expect(look.seen).toEqual([first, third])
    expect(a.commits.map(({ groupCount }) => groupCount)).toEqual([3, 1])
    expect(handled.map(({ executionId }) => executionId)).toEqual([first, second, third])
    expect(oldestDueAt).toBe(at - 1_000)
    expect(await executionsWith('execution_promoted')).toEqual([first, third, second])
  })

  test('does not return a record that another program has handled', async () => {
    const [first, second, third] = (await due(3)) as [ExecutionId, ExecutionId, ExecutionId]
    a.beforeCommit(() => b.run(cancel(second)))

    const { handled, next } = await a.do('runDue', PASS)

    expect(handled.map(({ executionId }) => executionId)).toEqual([first, third])
    expect(next).toBeUndefined()
  })

  test('that conflicts repeatedly handles each record once', async () => {
    const ids = await due(3)
    ids.forEach((id, i) => a.beforeCommit(() => b.run(mark(id, `b ${i}`)), i))

    const { handled } = await a.do('runDue', PASS)

    expect(handled.map(({ executionId }) => executionId)).toEqual(ids)
    expect((await executionsWith('execution_promoted')).toSorted()).toEqual(ids.toSorted())
  })

  test('handles no more records than its limit, however often it runs', async () => {
    const ids = await due(4)
    a.beforeCommit(() => b.run(mark(ids[0] as ExecutionId, 'b')))

    const first = await a.do('runDue', { ...PASS, limit: 2 })
    const second = await a.do('runDue', { ...PASS, limit: 2, from: first.next })

    expect(first.handled.map(({ executionId }) => executionId)).toEqual(ids.slice(0, 2))
    expect(second.handled.map(({ executionId }) => executionId)).toEqual(ids.slice(2))
  })

  test('holds up only those behind it that share the record with a conflict', async () => {
    const [first, second] = (await due(2)) as [ExecutionId, ExecutionId]
    a.beforeCommit(() => b.run(mark(second, 'b')))

    const answers = await a.run(call('runDue', PASS), mark(first, 'a'), mark(second, 'a'))

    expect(kindsOf(answers)).toEqual(['due', 'set', 'set'])
    expect(a.earlyAnswers).toEqual([{ call: 1, commits: 1 }])
  })

  test('counts as one conflict, however many of its records were changed', async () => {
    const ids = await due(3)
    const before = a.counts.conflicts
    a.beforeCommit(() => b.run(...ids.slice(1).map((id) => mark(id, 'b'))))

    await a.do('runDue', PASS)

    expect(a.counts.conflicts - before).toBe(1)
  })

  test('that has to be done one by one still returns what was applied before', async () => {
    const [first, second] = (await due(2)) as [ExecutionId, ExecutionId]
    const throwsWhenMarked = writing((tx) => {
      if (tx.get('execution', second)?.tags.length === 1) throw new Error('it cannot')
      putQueue(tx, 'other')
    })
    a.beforeCommit(() => b.run(mark(second, 'b')))

    const [answer, failure] = await a.run(call('runDue', PASS), throwsWhenMarked)

    expect(answer).toMatchObject({ result: { handled: [{ executionId: first }, { executionId: second }] } })
    expect(failure?.kind).toBe('fault')
  })
})

describe('a purge', () => {
  test('is applied without the record that another program changed, and removes it when it runs again', async () => {
    const [first, second, third] = (await outdated(3)) as [ExecutionId, ExecutionId, ExecutionId]
    a.beforeCommit(() => b.run(mark(second, 'b')))
    const look = lookBeforeCommit('execution_purged', 1)

    const { purged, oldestDueAt, at } = await a.do('purgeExecutions', {})

    expect(look.seen).toEqual([first, third])
    expect(purged).toEqual([first, second, third])
    expect(oldestDueAt).toBe(at - 1_000)
    expect(a.hasAskedForLock).toBe(false)
  })

  test('leaves alone what was replayed meanwhile', async () => {
    const [first, second, third] = (await outdated(3)) as [ExecutionId, ExecutionId, ExecutionId]
    a.beforeCommit(() => b.do('replayExecution', { executionId: second, requestId: 'replay' }))

    const { purged } = await a.do('purgeExecutions', {})

    expect(purged).toEqual([first, third])
    expect((await b.do('describeExecution', { executionId: second })).kind).toBe('described')
  })

  test('forgets a queue under the lock, together with all that leaves it empty', async () => {
    const ids = [await scene.submitted(b, { retentionMs: 0 }), await scene.submitted(b, { retentionMs: 0 })]
    for (const id of ids) await b.run(cancel(id))

    const { purged } = await a.do('purgeExecutions', {})

    expect(purged).toEqual(ids)
    expect(a.commits.map(({ groupCount, lock }) => [groupCount, lock !== undefined])).toEqual([[1, true]])
  })

  test('forgets a queue that falls empty when it runs again', async () => {
    const delayed = await scene.submitted(b, { delayMs: 60_000, retentionMs: 0 })
    const [first, second] = [await scene.submitted(b, { retentionMs: 0 }), await scene.submitted(b, { retentionMs: 0 })]
    for (const id of [first, second]) await b.run(cancel(id))
    a.beforeCommit(() => b.run(mark(second, 'b'), cancel(delayed)))

    const { purged } = await a.do('purgeExecutions', {})

    expect(purged.toSorted()).toEqual([delayed, first, second].toSorted())
    expect((await scene.store.dump(PARTITION)).records).toEqual([])
  })
})

describe('what is due in front of a claim', () => {
  test('does not keep the claim from what it takes, if another program changed it, and is handled afterwards', async () => {
    const executionId = await scene.submitted(b)
    const [first, second] = (await due(2, SIDE)) as [ExecutionId, ExecutionId]
    a.beforeCommit(() => b.run(mark(first, 'b')))
    const look = lookBeforeCommit('attempt_started', 1)

    const { executions } = await a.do('claimForWorker', scene.claimInput())

    expect(executions).toMatchObject([{ executionId }])
    expect(look.seen).toEqual([executionId])
    expect(a.commits.map(({ groupCount }) => groupCount)).toEqual([3, 1])
    expect(await executionsWith('attempt_started')).toEqual([executionId])
    expect(await executionsWith('execution_promoted')).toEqual([second, first])
  })

  test('is not waited for by the claim once it takes the lock', async () => {
    await scene.submitted(b)
    const [delayed] = (await due(1, SIDE)) as [ExecutionId]
    for (const i of [0, 1]) a.beforeCommit(() => b.run(mark(delayed, `b ${i}`)), i)

    await a.do('claimForWorker', scene.claimInput())

    expect(a.earlyAnswers).toEqual([{ call: 0, commits: 2 }])
    expect(a.commits.map(({ lock }) => lock !== undefined)).toEqual([false, false, true])
    expect(await executionsWith('execution_promoted')).toEqual([delayed])
  })

  test('does not take back the answer of the claim, if the store fails then', async () => {
    const executionId = await scene.submitted(b)
    const [delayed] = (await due(1, SIDE)) as [ExecutionId]
    a.beforeCommit(() => b.run(mark(delayed, 'b')))
    a.beforeCommit(() => {
      throw new Error('cut off')
    }, 1)

    const { executions } = await a.do('claimForWorker', scene.claimInput())

    expect(executions).toMatchObject([{ executionId }])
    expect((await b.do('runDue', PASS)).handled).toMatchObject([{ executionId: delayed }])
  })

  test('does not keep a completion from what it claims either', async () => {
    const held = await scene.held(b)
    const executionId = await scene.submitted(b)
    const [delayed] = (await due(1, SIDE)) as [ExecutionId]
    a.beforeCommit(() => b.run(mark(delayed, 'b')))

    const result = await a.do('completeExecution', { ...held, next: scene.claimInput() })

    expect(result).toMatchObject({ kind: 'completed', next: { executions: [{ executionId }] } })
    expect(await executionsWith('attempt_started')).toEqual([held.executionId, executionId])
    expect(await executionsWith('execution_promoted')).toEqual([delayed])
  })

  test('fails with the claim that takes it, which then takes what is left', async () => {
    const [first, second] = (await due(2)) as [ExecutionId, ExecutionId]
    a.beforeCommit(() => b.run(cancel(first)))

    const { executions } = await a.do('claimForWorker', scene.claimInput())

    expect(executions).toMatchObject([{ executionId: second }])
    expect(await executionsWith('attempt_started')).toEqual([second])
  })

  test('is applied if the claim fails for something else', async () => {
    const [taken, other] = [await scene.submitted(b), await scene.submitted(b)]
    const [delayed] = (await due(1, SIDE)) as [ExecutionId]
    a.beforeCommit(() => b.run(cancel(taken)))
    const look = lookBeforeCommit('execution_promoted', 1)

    const { executions } = await a.do('claimForWorker', scene.claimInput())

    expect(look.seen).toEqual([delayed])
    expect(executions).toMatchObject([{ executionId: other }])
  })
})

function putQueue(tx: Tx, lane: string): void {
  tx.put({
    type: 'queue',
    id: queueId(lane, 'greet'),
    lane,
    class: 'greet',
    createdAt: tx.now,
    needs: undefined,
    keeps: undefined,
  })
}

describe('an operation with parts', () => {
  test('that meets an impossible state has written nothing, in whichever part, and returns the fault under the lock', async () => {
    const faults = writing((tx) => {
      tx.part(() => {
        putQueue(tx, 'one')
        return { lane: 'one' }
      })
      tx.part(() => tx.fault('it cannot be', 'two'))
    })

    const [answer] = await a.run(faults)

    expect(answer).toEqual({ kind: 'fault', reason: 'it cannot be', recordId: 'two' })
    expect(a.hasAskedForLock).toBe(true)
    expect((await scene.store.dump(PARTITION)).records).toEqual([])
  })

  test('that meets an impossible state depends on what each of its parts has read', async () => {
    const executionId = await scene.submitted(b)
    const faults = writing((tx) => {
      tx.part(() => {
        tx.get('execution', executionId)
        return undefined
      })
      return tx.fault('it cannot be', 'one')
    })

    const [answer] = await a.run(faults)

    expect(answer?.kind).toBe('fault')
    expect(a.commits.map(({ conditions }) => conditions.map(({ id }) => id))).toEqual([[executionId]])
  })

  test('commits parts together that share a record', async () => {
    const executionId = await scene.submitted(b)
    const shares = writing((tx) => {
      for (const lane of ['one', 'two', 'three']) {
        tx.part(() => {
          if (lane !== 'two') tx.get('execution', executionId)
          putQueue(tx, lane)
          return undefined
        })
      }
    })

    await a.run(shares)

    const [commit] = a.commits
    const groups = commit?.records.map(({ operation }) => commit.groupOf[operation])
    expect(groups).toEqual([0, 1, 0])
  })
})
