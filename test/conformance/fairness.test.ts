/** Executions of a task with fairness take turns: a lane is divided between keys, whatever each of them has submitted. */
import { describe, expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import { FAIRNESS_UNIT, ROTATION_STEP } from '../../src/kernel/limits.ts'
import { SHARE_CHECK_MS, fairClass } from '../../src/kernel/index.ts'
import type { Claimed } from '../../src/kernel/index.ts'
import { CLASS, LANE, RETENTION_MS, fixedRetry, heldOf, transientFailure } from './given.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const FAIR = fairClass(CLASS)
const fairQueue = [{ lane: LANE, class: FAIR }]

conforms('fairness', ({ fabric, given, clock, flows }) => {
  /** Submits one after the other, so that each key has its turns in the order of its submits. */
  const submit = async (key: string, count: number, weight = 1): Promise<void> => {
    for (let i = 0; i < count; i++) await submitOne(key, weight)
  }
  const submitOne = (key: string, weight = 1, priority = 0) =>
    given.eligibleExecution({ class: FAIR, fairness: { key, weight }, key: undefined, priority, tags: keyTag(key) })
  const keyTag = (key: string) => [{ name: 'key', value: key, indexed: false }]
  const keyOf = (claimed: Claimed): string | undefined => claimed.tags[0]?.value
  const claimKeys = async (count: number): Promise<(string | undefined)[]> =>
    (await given.claim({ queues: fairQueue, count })).executions.map(keyOf)
  const drain = async (count: number): Promise<void> => {
    const { executions } = await given.claim({ queues: fairQueue, count })
    for (const claimed of executions) await fabric.run('completeExecution', heldOf(claimed))
  }

  describe('between keys', () => {
    test('the first execution of a key starts before the backlog of another', async () => {
      await submit('large', 12)
      expect(await claimKeys(2)).toEqual(['large', 'large'])
      await submit('small', 1)

      expect(await claimKeys(1)).toEqual(['small'])
    })

    test('keys with a backlog alternate', async () => {
      await submit('a', 4)
      await submit('b', 4)

      expect(await claimKeys(8)).toSatisfy((keys: string[]) =>
        [0, 2, 4, 6].every((i) => new Set(keys.slice(i, i + 2)).size === 2),
      )
    })

    test('a key with twice the weight gets twice the share', async () => {
      await submit('one', 12)
      await submit('two', 12, 2)

      const keys = await claimKeys(12)

      expect(keys.filter((key) => key === 'two')).toHaveLength(8)
    })

    test('a key that was idle has saved nothing up', async () => {
      await submit('busy', 40)
      await drain(40)
      await submit('late', 10)
      await submit('busy', 10)

      const keys = await claimKeys(10)

      // The turn that the lane is in may still go to the key that was idle.
      expect([4, 5]).toContain(keys.filter((key) => key === 'busy').length)
    })

    test('a key that was idle has saved nothing up where the workers leave work to others', async () => {
      await flows.graph({ first: [] }, { conditions: ['first'], drafts: { first: { class: FAIR, priority: 9 } } })
      const claimPlain = async () => {
        const { executions } = await given.claim({ queues: fairQueue, isPlain: true, count: 1 })
        return executions.map(keyOf).join()
      }
      const turns = 2 * (ROTATION_STEP / FAIRNESS_UNIT) + 1
      await submit('busy', turns)
      for (let i = 0; i < turns; i++) expect(await claimPlain()).toBe('busy')
      await submit('late', 6)
      await submit('busy', 6)

      const keys: string[] = []
      while (keys.length < 6) keys.push(await claimPlain())
      expect([2, 3]).toContain(keys.filter((key) => key === 'busy').length)
    })

    test('an urgent execution does not move the others of its key ahead', async () => {
      await submit('large', 40)
      await submitOne('large', 1, 5)
      expect(await claimKeys(1)).toEqual(['large'])
      await submit('small', 1)

      expect(await claimKeys(2)).toContain('small')
    })

    test('a replaced execution keeps its turn', async () => {
      const first = await given.eligibleExecution({ class: FAIR, fairness: { key: 'a', weight: 1 }, key: 'k' })
      await submit('b', 2)
      for (let i = 0; i < 5; i++) {
        const again = { class: FAIR, fairness: { key: 'a', weight: 1 }, key: 'k', ifExists: 'replace' } as const
        await given.submit({ ...again, executionId: first.executionId })
      }

      expect((await given.readyOrder(LANE, FAIR)).indexOf(first.executionId)).toBeLessThan(2)
    })

    test('a priority precedes every turn', async () => {
      await submit('a', 3)
      const urgent = await submitOne('a', 1, 5)

      expect((await given.claim({ queues: fairQueue })).executions).toMatchObject([{ executionId: urgent.executionId }])
    })
  })

  test('a retried execution keeps its turn', async () => {
    const first = await given.eligibleExecution({
      class: FAIR,
      fairness: { key: 'a', weight: 1 },
      retry: fixedRetry(2, 1_000),
    })
    await submit('a', 3)
    const held = await given.claimOf(first, { queues: fairQueue })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    clock.advance(1_000)

    await given.claimOf(first, { queues: fairQueue })
  })

  test('tasks without fairness in the same lane are served alternately', async () => {
    await submit('a', 4)
    await given.executions(4)
    const queues = [...fairQueue, { lane: LANE, class: CLASS }]

    const { executions } = await given.claim({ queues, count: 4 })

    expect(executions.map(keyOf).filter((key) => key === 'a')).toHaveLength(2)
  })

  test('a priority precedes also between tasks with and without fairness', async () => {
    await submit('a', 2)
    const urgent = await given.eligibleExecution({ priority: 1 })
    const queues = [...fairQueue, { lane: LANE, class: CLASS }]

    for (const seed of [0, 1]) {
      const { executions } = await given.claim({ queues, count: 1, seed })
      if (seed === 0) expect(executions).toMatchObject([urgent])
      else expect(executions.map(keyOf)).toEqual(['a'])
    }
  })

  test('nothing is left of the keys of a lane when its executions are purged', async () => {
    await submit('a', 2)
    await submit('b', 1)
    await drain(3)
    clock.advance(RETENTION_MS)
    await fabric.run('purgeExecutions', {})

    expect(await fabric.dump()).toMatchObject({ records: [], entries: [] })
  })

  test('keys that a busy lane is past are forgotten', async () => {
    const shares = async () => (await fabric.dump()).records.filter(({ type }) => type === 'share').length
    await submit('gone', 1)
    await submit('busy', 40)
    await drain(41)
    await submit('busy', 1)
    expect(await shares()).toBe(2)
    clock.advance(2 * SHARE_CHECK_MS)
    await fabric.duePass()

    expect(await shares()).toBe(1)
  })

  test('a follow-up takes a turn of its own', async () => {
    const input = { executionId: given.newId(), class: FAIR, fairness: { key: 'a', weight: 1 } }
    const first = await given.eligibleExecution({ ...input, key: 'k' })
    await given.submit({ ...input, key: 'k', ifExists: 'after' })
    await submit('a', 1)
    const held = await given.claimOf(first, { queues: fairQueue })
    await fabric.run('completeExecution', held)

    expect(await given.readyOrder(LANE, FAIR)).toHaveLength(2)
    expect((await given.readyOrder(LANE, FAIR))[1]).toBe(first.executionId)
  })

  test('a worker whose definition has no fairness serves a backlog that takes turns', async () => {
    await using working = new Working(fabric)
    const fair = task<string, string>('brief', { fairness: (tenant) => tenant })
    const submitted = await working.client.submit(fair, 'acme')
    working.work([task<string, string>('brief').handle((tenant) => tenant)])

    expect(await working.until(submitted.result())).toBe('acme')
  })

  test('a worker serves the executions of a task that takes turns, and those submitted without', async () => {
    await using working = new Working(fabric)
    const fair = task<{ tenant: string }, string>('brief', { fairness: ({ tenant }) => ({ key: tenant, weight: 3 }) })
    const plain = task<{ tenant: string }, string>('brief')
    const submitted = [
      await working.client.submit(fair, { tenant: 'acme' }),
      await working.client.submit(plain, { tenant: 'none' }),
    ]
    working.work([fair.handle(({ tenant }) => tenant)])

    const results = await working.until(Promise.all(submitted.map((execution) => execution.result())))

    expect(results).toEqual(['acme', 'none'])
  })
})
