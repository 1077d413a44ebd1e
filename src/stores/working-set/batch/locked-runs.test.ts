/** What no record guards is decided under the lock of the partition, and only there are impossible states reported. */
import { afterEach, describe, expect, test } from 'vitest'
import { laneIndex } from '../../../kernel/index.ts'
import type { ExecutionId } from '../../../kernel/index.ts'
import { PARTITION, call, creation, kindsOf } from '../../store.fixture.ts'
import type { Process } from './process.fixture.ts'
import { a, b, scene, useScene } from './scene.fixture.ts'
import { reading, useTestOperations, writing } from './test-operation.fixture.ts'

useTestOperations()
useScene()

afterEach(() => {
  expect(scene.store.expireLock(PARTITION)).toBe(false)
})

const AT_ONCE = { reason: 'no', by: 'me', graceMs: 0, force: true }

/** An execution that is due to be purged, alone in its queue. */
async function ended(by: Process): Promise<ExecutionId> {
  const executionId = await scene.submitted(by, { retentionMs: 0 })
  await by.do('cancelExecution', { executionId, ...AT_ONCE })
  by.reset()
  return executionId
}

async function queueCount(): Promise<number> {
  const { records } = await scene.store.dump(PARTITION)
  return records.filter(({ type }) => type === 'queue').length
}

describe('a decision by a range without a guard', () => {
  test('is made again under the lock', async () => {
    await ended(b)

    const result = await a.do('purgeExecutions', {})

    expect(result.purged).toHaveLength(1)
    expect(a.commits.map(({ lock }) => lock !== undefined)).toEqual([true])
    expect(await queueCount()).toBe(0)
  })

  test('leaves a queue to an execution that was created before the lock was taken', async () => {
    await ended(b)
    a.beforeLoad(() => scene.submitted(b), 1)

    await a.do('purgeExecutions', {})

    expect(await queueCount()).toBe(1)
  })

  test('holds up an execution that is created meanwhile, which brings its queue with it', async () => {
    await ended(b)
    let creating: Promise<unknown> | undefined
    a.beforeCommit(async () => {
      creating = scene.submitted(b)
      await scene.runtime.advance(0)
    })

    await a.do('purgeExecutions', {})
    await creating

    expect(b.pauses.length).toBeGreaterThan(0)
    expect(await queueCount()).toBe(1)
  })

  test('that writes nothing needs no lock', async () => {
    await scene.submitted(b)

    await a.do('purgeExecutions', {})

    expect(a.commits).toEqual([])
  })
})

describe('the lock', () => {
  test('is waited for while another program has it', async () => {
    await ended(b)
    await ended(b)
    let other: Promise<unknown> | undefined
    a.beforeCommit(async () => {
      other = b.do('purgeExecutions', {})
      await scene.runtime.advance(0)
    })

    const [mine] = await Promise.all([a.do('purgeExecutions', {})])
    await other

    expect(mine.purged).toHaveLength(2)
    expect(b.pauses.length).toBeGreaterThan(0)
    expect(await scene.eventsOf('execution_purged')).toHaveLength(2)
  })

  test('that was lost before the commit has the batch run again', async () => {
    await ended(b)
    a.beforeCommit(async () => {
      scene.store.expireLock(PARTITION)
      await scene.submitted(b)
    })

    const result = await a.do('purgeExecutions', {})

    expect(result.purged).toHaveLength(1)
    expect(await queueCount()).toBe(1)
    expect(await scene.eventsOf('execution_purged')).toHaveLength(1)
  })

  test('that was lost between two loads has the batch run again, and is not taken anew for the rest', async () => {
    const claimed = await scene.submitted(b)
    const [first, second] = [await scene.submitted(b), await scene.submitted(b)]
    const count = writing((tx) => {
      const active = tx.countUpTo({ index: laneIndex('main', 'active'), limit: 9 })
      const one = tx.get('execution', first)
      const other = one === undefined ? undefined : tx.get('execution', second)
      if (other === undefined) return undefined
      other.priority = active
      tx.put(other)
      return active
    })
    // The first two loads are of the optimistic run; of the locked one, the third finds the lock gone.
    a.beforeLoad(async () => {
      expect(scene.store.expireLock(PARTITION)).toBe(true)
      const { executions } = await b.do('claimForWorker', scene.claimInput(1))
      expect(executions).toMatchObject([{ executionId: claimed }])
    }, 4)

    const [answer] = await a.run(count)

    expect(answer).toMatchObject({ result: { value: 1 } })
    expect(a.trips).toEqual({ loads: 8, commits: 1 })
  })

  test('lets renewals of leases pass, and is still held behind them', async () => {
    const held = await scene.held(b)
    await ended(b)
    a.beforeCommit(async () => {
      const result = await b.do('renewLease', { ...held, leaseTtlMs: 60_000 })
      expect(result.kind).toBe('renewed')
    })

    const result = await a.do('purgeExecutions', {})

    expect(b.pauses).toEqual([])
    expect(result.purged).toHaveLength(1)
    expect(a.commitCount).toBe(1)
  })

  test('is released by a batch that turns out to write nothing', async () => {
    await scene.submitted(b)
    const fault = writing((tx) => tx.fault('this is never so', 'x'))

    expect(kindsOf(await a.run(fault))).toEqual(['fault'])

    expect(kindsOf(await b.run(call('createExecution', creation())))).toEqual(['created'])
    expect(b.pauses).toEqual([])
  })
})

describe('an impossible state', () => {
  function setBoth(ids: readonly ExecutionId[], priority: number) {
    return writing((tx) => {
      for (const execution of tx.getMany('execution', [...ids])) tx.put(Object.assign(execution, { priority }))
    })
  }

  /** Faults if two executions that are only ever changed together differ. */
  function compare(kind: typeof writing, [first, second]: readonly ExecutionId[]) {
    return kind((tx) => {
      const one = tx.get('execution', first ?? '')
      const other = one === undefined ? undefined : tx.get('execution', second ?? '')
      if (one?.priority !== other?.priority) tx.fault('the two differ', one?.id ?? '')
      return one?.priority
    })
  }

  test.each([
    ['a read', reading],
    ['a write', writing],
  ])('that only %s over two moments sees is never reported', async (_, kind) => {
    const ids = [await scene.submitted(b), await scene.submitted(b)]
    a.beforeLoad(() => b.run(setBoth(ids, 7)), 1)

    const [answer] = await a.run(compare(kind, ids))

    expect(answer).toMatchObject({ kind: 'answered', result: { value: 7 } })
  })

  test.each([
    ['a read', reading],
    ['a write', writing],
  ])('that is there is reported by %s under the lock, and not before', async (_, kind) => {
    const ids = [await scene.submitted(b), await scene.submitted(b)]
    await b.run(setBoth(ids.slice(0, 1), 7))

    const [answer] = await a.run(compare(kind, ids))

    expect(answer).toEqual({ kind: 'fault', reason: 'the two differ', recordId: ids[0] })
    expect(a.commits.map(({ lock }) => lock !== undefined)).toEqual([true])
  })

  test('does not keep the others of its batch from being applied', async () => {
    const held = await scene.held(a)

    const answers = await a.run(
      writing((tx) => tx.fault('this is never so', 'x')),
      call('updateProgress', { ...held, percent: 1 }),
    )

    expect(kindsOf(answers)).toEqual(['fault', 'updated'])
    expect(await scene.eventsOf('progress_updated')).toHaveLength(1)
  })
})
