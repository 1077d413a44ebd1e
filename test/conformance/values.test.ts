import { expect, test } from 'vitest'
import {
  DURATION_MAX_MS,
  FAILURE_MESSAGE_BYTES,
  KEY_BYTES,
  NAME_BYTES,
  PRIORITY_MAX,
  REASON_BYTES,
  STACK_BYTES,
  TAG_VALUE_BYTES,
} from '../../src/kernel/index.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { fixedRetry, politeCancel } from './given.ts'
import { conformsOnServers } from './harness.ts'

/** A text of exactly so many bytes, with letters of one to four of them. */
function textOf(bytes: number): string {
  const letters = 'aäあ🐝'
  const times = Math.floor(bytes / Buffer.byteLength(letters))
  return letters.repeat(times) + 'z'.repeat(bytes - times * Buffer.byteLength(letters))
}

conformsOnServers('text', ({ fabric, given, clock }) => {
  const texts = [
    ['nothing', ''],
    ['umlauts', 'Größe: übermäßig'],
    ['other scripts', '進捗は順調です · שלום · ٣٫١٤'],
    ['letters of two code units', '👩‍🚀🐝𝒳'],
    ['what programs use', '\u0000\u001f\u007f\r\n\t"\'\\%${}<>'],
    ['words of a program', 'null false undefined nil [] {}'],
    ['digits', '0012345678901234567890'],
  ] as const

  test.each(texts)('of any kind comes back as it was, wherever it is kept: %s', async (_, text) => {
    const tags = [{ name: 'team', value: text, indexed: true }]
    const failing = await given.activeExecution({ key: text, tags, retry: fixedRetry(2, 0) })
    const { executionId } = failing
    await fabric.run('updateProgress', { ...failing, message: text })
    await fabric.run('failExecution', {
      ...failing,
      failure: { category: text, message: text, stack: text },
      seed: 1,
    })
    const held = await given.claimOf(failing)
    await fabric.run('cancelExecution', { ...held, ...politeCancel, reason: text, by: text })
    const ended = await fabric.look(executionId)
    await fabric.run('replayExecution', { executionId, requestId: text, reason: text, by: text })

    expect(ended).toMatchObject({ state: { reason: text, by: text }, progress: { message: text } })
    const execution = await fabric.look(executionId)
    expect(execution).toMatchObject({
      key: text,
      tags,
      lastReplay: { requestId: text, reason: text, by: text },
    })
    expect(await fabric.attemptsOf(executionId)).toMatchObject([
      { failure: { category: text, message: text, stack: text, at: clock.now() } },
      { outcome: 'cancelled' },
    ])
    expect((await fabric.run('listExecutions', { tag: tags[0], limit: 10 })).executions).toEqual([execution])
    const events = await given.eventsOf(failing)
    expect(events.map((event) => event.tags)).toEqual(events.map(() => ['team', text]))
    expect(events.find((event) => event.type === 'attempt_failed')).toMatchObject({ category: text })
    expect(events.find((event) => event.type === 'execution_ended')).toMatchObject({ reason: text, by: text })
    expect(events.find((event) => event.type === 'execution_replayed')).toMatchObject({ reason: text, by: text })
  })

  test('as long as it may be comes back as it was', async () => {
    const name = 'n'.repeat(NAME_BYTES)
    const tags = [{ name: 'team', value: textOf(TAG_VALUE_BYTES), indexed: true }]
    const key = textOf(KEY_BYTES)
    const lane = 'l'.repeat(NAME_BYTES)
    const held = await given.activeExecution(
      { key, tags, task: name, namespace: name, class: name, lane },
      { workerId: name, workerInstanceId: name },
    )
    const { executionId } = held
    const failure = {
      category: 'permanent',
      message: textOf(FAILURE_MESSAGE_BYTES),
      stack: textOf(STACK_BYTES),
    }
    await fabric.run('failExecution', { ...held, failure, seed: 1 })
    const reason = textOf(REASON_BYTES)
    await fabric.run('replayExecution', { executionId, requestId: 'again', reason })

    expect(await fabric.look(executionId)).toMatchObject({
      key,
      tags,
      task: name,
      namespace: name,
      class: name,
      lane,
      attempt: { workerId: name, workerInstanceId: name },
      lastReplay: { reason },
    })
    expect(await fabric.attemptsOf(executionId)).toMatchObject([{ failure }])
  })

  test('of a very long id names its execution and nothing else', async () => {
    const ids = ['a', 'b'].map((end) => `0-${'1'.repeat(2_000)}${end}` as ExecutionId)
    for (const executionId of ids) await given.eligibleExecution({ executionId, bytes: Uint8Array.of(1) })

    const { executions } = await given.claim({ count: 2 })

    expect(executions.map((one) => one.executionId)).toEqual(ids)
    expect((await fabric.dump()).records.map((record) => record.id)).toEqual([...ids, expect.any(String)])
  })
})

conformsOnServers('a number', ({ fabric, given, clock }) => {
  test('with a fraction comes back to the last digit', async () => {
    const held = await given.activeExecution({
      retry: {
        attempts: 5,
        backoff: { kind: 'exponential', initialMs: 3, maxMs: 86_400_000, factor: 1.1 },
        jitter: true,
        onlyCategories: [],
      },
    })
    await fabric.run('updateProgress', { ...held, percent: 100 / 3 })

    const { retry, progress } = await fabric.look(held.executionId)

    expect(retry.backoff).toMatchObject({ factor: 1.1 })
    expect(progress?.percent).toBe(100 / 3)
  })

  test('that is zero is not the same as none', async () => {
    const held = await given.activeExecution({ retentionMs: 0, delayMs: 0, bytes: new Uint8Array(0) })
    await fabric.run('updateProgress', { ...held, percent: 0 })

    expect(await fabric.look(held.executionId)).toMatchObject({
      priority: 0,
      retentionMs: 0,
      payload: { size: 0 },
      progress: { percent: 0 },
    })
  })

  test('that is the longest of durations is kept to the millisecond', async () => {
    const { executionId } = await given.delayedExecution({
      delayMs: DURATION_MAX_MS,
      totalTimeoutMs: DURATION_MAX_MS,
      retentionMs: DURATION_MAX_MS,
    })

    expect(await fabric.look(executionId)).toMatchObject({
      state: { until: clock.now() + DURATION_MAX_MS },
      deadlineAt: clock.now() + DURATION_MAX_MS,
      retentionMs: DURATION_MAX_MS,
    })
    expect((await fabric.duePass()).nextDueAt).toBe(clock.now() + DURATION_MAX_MS)
  })

  test('of the highest priority still distinguishes one millisecond from the next', async () => {
    const order: string[] = []
    for (let i = 0; i < 5; i++) {
      order.push((await given.eligibleExecution({ priority: PRIORITY_MAX })).executionId)
      clock.advance(1)
    }

    expect(await given.readyOrder()).toEqual(order)
    expect((await given.claim({ count: 5 })).executions.map((one) => one.executionId)).toEqual(order)
  })
})
