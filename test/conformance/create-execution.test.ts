import { expect, test } from 'vitest'
import { PRIORITY_MAX, TAG_COUNT_MAX } from '../../src/kernel/index.ts'
import { CLASS, LANE, RETENTION_MS, fixedRetry } from './given.ts'
import { conforms } from './harness.ts'

conforms('createExecution', ({ fabric, given, clock }) => {
  test('accepts a piece of work that can be claimed at once', async () => {
    const input = given.createInput({ key: 'greeting:ada' })

    const result = await fabric.run('createExecution', input)

    expect(result).toEqual({
      kind: 'created',
      executionId: input.executionId,
      state: 'waiting',
      at: clock.now(),
    })
    expect(await fabric.look(input.executionId)).toMatchObject({
      key: 'greeting:ada',
      requestId: input.requestId,
      state: { phase: 'eligible' },
      next: 'initial',
      createdAt: clock.now(),
      changedAt: clock.now(),
      epoch: 0,
      failureCount: 0,
      reclaimCount: 0,
      replayCount: 0,
    })
    expect(await given.readyOrder()).toEqual([input.executionId])
  })

  test('stores everything it was given', async () => {
    const input = given.createInput({
      namespace: 'acme',
      task: 'research.brief',
      lane: 'research',
      class: 'research.brief',
      priority: 17,
      retry: {
        attempts: 5,
        backoff: { kind: 'exponential', initialMs: 500, maxMs: 60_000, factor: 1.5 },
        jitter: true,
        onlyCategories: ['transient', 'timeout'],
      },
      attemptTimeoutMs: 600_000,
      totalTimeoutMs: 604_800_000,
      retentionMs: 1_000,
      tags: [{ name: 'plan', value: 'pro', indexed: false }],
    })

    await fabric.run('createExecution', input)

    const { requestId, executionId, ifExists: _ifExists, payload: _payload, ...stored } = input
    expect(await fabric.look(executionId)).toMatchObject({
      ...stored,
      requestId,
      deadlineAt: clock.now() + 604_800_000,
    })
  })

  test('emits one event for a new execution', async () => {
    const created = await given.eligibleExecution({
      namespace: 'acme',
      tags: [{ name: 'plan', value: 'pro', indexed: false }],
    })

    expect(await given.eventsOf(created)).toEqual([
      expect.objectContaining({
        type: 'execution_created',
        at: clock.now(),
        namespace: 'acme',
        task: 'greet',
        lane: LANE,
        tags: ['plan', 'pro'],
      }),
    ])
  })

  test('registers the queue of a new lane', async () => {
    await given.eligibleExecution({ lane: 'never seen', class: 'tool.call' })
    await given.eligibleExecution({ lane: 'never seen', class: 'tool.call' })

    const { records } = await fabric.dump()
    expect(records.filter((record) => record.type === 'queue')).toEqual([
      expect.objectContaining({ lane: 'never seen', class: 'tool.call', createdAt: clock.now() }),
    ])
  })

  test('with a delay, cannot be claimed before the delay is over', async () => {
    const input = given.createInput({ delayMs: 5_000 })
    expect(await fabric.run('createExecution', input)).toMatchObject({ kind: 'created', state: 'delayed' })

    clock.advance(4_999)
    expect((await given.claim()).executions).toEqual([])
    clock.advance(1)
    expect((await given.claim()).executions).toHaveLength(1)

    expect(await given.eventTypesOf(input)).toEqual(['execution_created', 'execution_promoted', 'attempt_started'])
  })

  test.each([0, -1, -86_400_000])('a delay of %d ms is no delay', async (delayMs) => {
    expect(await given.submit({ delayMs })).toMatchObject({ kind: 'created', state: 'waiting' })
    expect((await given.claim()).executions).toHaveLength(1)
  })

  test('arms the total deadline from the moment of the submit, also while delayed', async () => {
    const waiting = await given.eligibleExecution({ totalTimeoutMs: 10_000 })
    const delayed = await given.delayedExecution({ totalTimeoutMs: 10_000, delayMs: 20_000 })

    expect((await fabric.look(waiting.executionId)).deadlineAt).toBe(clock.now() + 10_000)
    expect((await fabric.duePass()).nextDueAt).toBe(clock.now() + 10_000)
    clock.advance(10_000)
    await fabric.duePass()
    expect((await fabric.look(delayed.executionId)).state).toMatchObject({ phase: 'ended', outcome: 'expired' })
  })

  test('a deadline that is over at once ends the execution in the next due pass and never runs it', async () => {
    const created = await given.eligibleExecution({ totalTimeoutMs: 0 })

    expect((await given.claim()).executions).toEqual([])
    expect((await fabric.look(created.executionId)).state).toMatchObject({ phase: 'ended', outcome: 'expired' })
  })

  test('stands in the queue by priority, then by age', async () => {
    const low = await given.eligibleExecution({ priority: 0 })
    clock.advance(1)
    const middle = await given.eligibleExecution({ priority: 5 })
    clock.advance(1)
    const youngerMiddle = await given.eligibleExecution({ priority: 5 })
    clock.advance(1)
    const top = await given.eligibleExecution({ priority: PRIORITY_MAX })

    const order = [top, middle, youngerMiddle, low].map((execution) => execution.executionId)
    expect(await given.readyOrder()).toEqual(order)
  })

  test('one step of priority outweighs any age', async () => {
    const old = await given.eligibleExecution({ priority: PRIORITY_MAX - 1 })
    clock.advance(20 * 365 * 86_400_000)
    const young = await given.eligibleExecution({ priority: PRIORITY_MAX })

    expect(await given.readyOrder()).toEqual([young.executionId, old.executionId])
  })

  test('keeps a tag with an index where it can be found, and any other on the record alone', async () => {
    const created = await given.eligibleExecution({
      tags: [
        { name: 'colour', value: 'blue', indexed: false },
        { name: 'team', value: 'red', indexed: true },
      ],
    })

    const { entries } = await fabric.dump()
    const tagIndexes = entries.filter((entry) => entry.index.startsWith('tag\u001f'))
    expect(tagIndexes).toEqual([{ index: 'tag\u001fteam\u001fred', score: clock.now(), id: created.executionId }])
  })

  test('keeps tags in the order of their names, whatever the order they came in', async () => {
    const created = await given.eligibleExecution({
      tags: [
        { name: 'team', value: 'red', indexed: true },
        { name: 'colour', value: 'blue', indexed: false },
      ],
    })

    expect((await fabric.look(created.executionId)).tags.map((tag) => tag.name)).toEqual(['colour', 'team'])
  })

  test('takes as many tags as an execution may have', async () => {
    const tags = Array.from({ length: TAG_COUNT_MAX }, (_, i) => ({
      name: `tag-${String.fromCharCode(97 + i)}`,
      value: `${i}`,
      indexed: false,
    }))

    const created = await given.eligibleExecution({ tags })

    expect((await fabric.look(created.executionId)).tags).toEqual(tags)
  })

  test('a hundred submits at once are a hundred executions', async () => {
    const created = await given.executions(100)

    expect(new Set(created.map((execution) => execution.executionId)).size).toBe(100)
    expect(await given.readyOrder()).toHaveLength(100)
  })

  test('text comes back as it went in', async () => {
    const odd = 'quotes \' " ` backslash \\ newline \n tab \t null \u0000 snowman ☃ astral 😀 combining e\u0301'
    const created = await given.eligibleExecution({ key: odd, task: odd, namespace: odd })

    expect(await fabric.look(created.executionId)).toMatchObject({ key: odd, task: odd, namespace: odd })
    expect(await given.eventsOf(created)).toEqual([expect.objectContaining({ task: odd, namespace: odd })])
  })

  test('keeps its own retention and policy, not those of another execution', async () => {
    const first = await given.eligibleExecution({ retentionMs: RETENTION_MS, retry: fixedRetry(3, 10) })
    const second = await given.eligibleExecution({ retentionMs: 1, retry: fixedRetry(7, 20), class: CLASS })

    expect(await fabric.look(first.executionId)).toMatchObject({ retentionMs: RETENTION_MS, retry: fixedRetry(3, 10) })
    expect(await fabric.look(second.executionId)).toMatchObject({ retentionMs: 1, retry: fixedRetry(7, 20) })
  })
})
