import { describe, expect, test } from 'vitest'
import { ATTEMPT_HISTORY_MAX, OPERATION_WORK_LIMIT, PURGE_COUNT_MAX } from '../../src/kernel/index.ts'
import type { ExecutionId, Position } from '../../src/kernel/index.ts'
import { storedEntries, storedRecords } from './trials/memory.ts'
import { RETENTION_MS } from './trials/world.ts'
import { Partition } from './partition.ts'

function end(partition: Partition, id: ExecutionId): void {
  partition.run('cancelExecution', { executionId: id, reason: '', by: '', force: true, graceMs: 0 })
}

/** Fails attempts until the execution has had so many. */
function useAttempts(partition: Partition, id: ExecutionId, count: number): void {
  for (let i = 0; i < count; i++) {
    const { fence } = partition.hold()
    const failure = { category: 'error', message: `failure ${i + 1}` }
    partition.run('failExecution', { executionId: id, fence, failure, retryAfterMs: 0, seed: 1 })
  }
}

const patient = {
  retry: { attempts: 1_000, backoff: { kind: 'fixed' as const, delayMs: 0 }, jitter: false, onlyCategories: [] },
}

describe('the history of attempts', () => {
  test('keeps the latest and drops the oldest', () => {
    const partition = new Partition()
    const id = partition.submit(patient)
    useAttempts(partition, id, ATTEMPT_HISTORY_MAX + 7)
    const described = partition.run('describeExecution', { executionId: id, attempts: true })
    const numbers = described.kind === 'described' ? described.attempts.map((attempt) => attempt.number) : []

    expect(numbers).toHaveLength(ATTEMPT_HISTORY_MAX)
    expect([numbers[0], numbers.at(-1)]).toEqual([8, ATTEMPT_HISTORY_MAX + 7])
  })
})

describe('purging', () => {
  test('removes everything that belongs to an execution, its queue included', () => {
    const partition = new Partition()
    const id = partition.submit(patient)
    useAttempts(partition, id, 3)
    const { fence } = partition.hold()
    const result = { blob: 0, size: 5, encoding: 'json' as const }
    partition.run('completeExecution', { executionId: id, fence, result })
    partition.advance(RETENTION_MS)

    expect(partition.run('purgeExecutions', {}).purged).toEqual([id])
    const { memory } = partition.world
    expect([storedRecords(memory), storedEntries(memory)]).toEqual([[], []])
    expect([...memory.blobs.keys()]).toEqual([])
    expect(partition.eventsOf(id).at(-1)).toBe('execution_purged')
  })

  test('takes what is due and nothing that is not', () => {
    const partition = new Partition()
    const [first, second, running] = partition.submitMany(3)
    end(partition, first!)
    partition.advance(1)
    end(partition, second!)
    partition.advance(RETENTION_MS - 1)
    const result = partition.run('purgeExecutions', {})

    expect(result).toMatchObject({ purged: [first], next: undefined, nextDueAt: partition.world.now + 1 })
    expect([second!, running!].every((id) => partition.exists(id))).toBe(true)
  })

  test('spares an execution that was replayed in time', () => {
    const partition = new Partition()
    const id = partition.submit()
    end(partition, id)
    partition.advance(RETENTION_MS)
    partition.run('replayExecution', { executionId: id, requestId: 'r' })

    expect(partition.run('purgeExecutions', {}).purged).toEqual([])
  })

  test('stops at its work limit and continues with the next call, until all are gone', () => {
    const partition = new Partition()
    const count = 6
    const attempts = 30
    for (let i = 0; i < count; i++) {
      const id = partition.submit(patient)
      useAttempts(partition, id, attempts)
      end(partition, id)
    }
    partition.submitMany(PURGE_COUNT_MAX + 1).forEach((id) => end(partition, id))
    partition.advance(RETENTION_MS)
    const removed: number[] = []
    let next: Position | undefined
    do {
      const result = partition.run('purgeExecutions', { from: next })
      removed.push(result.purged.length)
      next = result.next
    } while (next !== undefined)

    expect(removed[0]).toBe(Math.floor(OPERATION_WORK_LIMIT / (attempts + 1)))
    expect(removed.reduce((sum, one) => sum + one, 0)).toBe(count + PURGE_COUNT_MAX + 1)
    expect(storedRecords(partition.world.memory)).toEqual([])
  })

  test('leaves the executions of other tenants, and finds its own behind them', () => {
    const partition = new Partition()
    const others = partition.submitMany(PURGE_COUNT_MAX, { namespace: 'beta' })
    others.forEach((id) => end(partition, id))
    partition.advance(1)
    const own = partition.submit()
    end(partition, own)
    partition.advance(RETENTION_MS)
    const filter = { namespace: 'default' }
    const first = partition.run('purgeExecutions', { filter })
    const second = partition.run('purgeExecutions', { filter, from: first.next })

    expect([first.purged, second.purged]).toEqual([[], [own]])
    expect(others.every((id) => partition.exists(id))).toBe(true)
  })

  test('keeps a queue in which others still wait', () => {
    const partition = new Partition()
    const id = partition.submit()
    partition.submit()
    end(partition, id)
    partition.advance(RETENTION_MS)
    partition.run('purgeExecutions', {})

    expect(partition.run('countExecutions', {}).lanes).toMatchObject([{ lane: 'main', counts: [{ count: 1 }] }])
  })
})

describe('queues', () => {
  const queueCount = (partition: Partition): number =>
    storedRecords(partition.world.memory).filter((record) => record.type === 'queue').length

  test('of a lane are all forgotten with its last execution, whatever its class', () => {
    const partition = new Partition()
    const ids = ['', 'cpu', 'gpu'].map((name) => partition.submit({ class: name }))
    for (const id of ids) {
      end(partition, id)
      partition.advance(RETENTION_MS)
      partition.run('purgeExecutions', {})
    }

    expect(queueCount(partition)).toBe(0)
  })

  test('of other lanes are kept', () => {
    const partition = new Partition()
    partition.submit({ lane: 'main two' })
    end(partition, partition.submit({ lane: 'main' }))
    partition.advance(RETENTION_MS)
    partition.run('purgeExecutions', {})

    expect(queueCount(partition)).toBe(1)
  })

  test('that an execution has left by being replaced are forgotten too', () => {
    const partition = new Partition()
    const id = partition.submit({ lane: 'main' })
    partition.submit({ executionId: id, lane: 'side', ifExists: 'replace' })

    expect(partition.run('countExecutions', {}).lanes.map(({ lane }) => lane)).toEqual(['side'])
  })
})

describe('replacing', () => {
  test('an ended execution removes its history and keeps its epoch', () => {
    const partition = new Partition()
    const id = partition.submit(patient)
    useAttempts(partition, id, ATTEMPT_HISTORY_MAX)
    end(partition, id)
    partition.submit({ executionId: id, ifExists: 'replace', payload: undefined })
    const replaced = partition.execution(id)

    expect(replaced).toMatchObject({ attempt: undefined, epoch: ATTEMPT_HISTORY_MAX, payload: undefined })
    expect(partition.run('describeExecution', { executionId: id, attempts: true, payload: true })).toMatchObject({
      attempts: [],
      payloadBlob: undefined,
    })
    expect(partition.hold().fence).toMatchObject({ epoch: ATTEMPT_HISTORY_MAX + 1, attempt: 1 })
  })

  test('one that has not started keeps its seniority and forgets its payload', () => {
    const partition = new Partition()
    const id = partition.submit()
    const { createdAt } = partition.execution(id)
    partition.advance(5)
    partition.submit({ executionId: id, ifExists: 'replace', payload: undefined })

    expect(partition.execution(id).createdAt).toBe(createdAt)
    expect(partition.run('describeExecution', { executionId: id, payload: true })).toMatchObject({
      payloadBlob: undefined,
    })
  })
})

test('an operation that writes more records than it may changes nothing at all', () => {
  const partition = new Partition()
  partition.write((tx) => {
    for (let i = 0; i <= OPERATION_WORK_LIMIT; i++)
      tx.put({ type: 'queue', id: `q${i}`, lane: '', class: '', createdAt: 0, needs: undefined, keeps: undefined })
  })

  expect(storedRecords(partition.world.memory)).toEqual([])
  expect(storedEntries(partition.world.memory)).toEqual([])
})
