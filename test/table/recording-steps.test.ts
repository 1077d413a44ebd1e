import { describe, expect, test } from 'vitest'
import type { OperationInput, Step } from '../../src/kernel/index.ts'
import { scopeOf, stepIdIn, stepKey } from '../../src/kernel/rules/journal-ids.ts'
import { HeldPartition } from './held-partition.ts'
import { idOf } from './partition.ts'
import { storedEvents, storedRecord } from './trials/memory.ts'

const failure = { category: 'error', message: 'no luck' }
const retry = (delayMs: number, park = false) => ({ kind: 'retry', failure, size: 12, delayMs, park }) as const
const value = { kind: 'completed', value: { blob: 0, size: 5, encoding: 'json' } } as const

type Outcome = OperationInput<'recordStep'>['outcome']

function record(partition: HeldPartition, outcome: Outcome, fields: Partial<OperationInput<'recordStep'>> = {}) {
  const { executionId, fence } = partition.held
  const input = { executionId, fence, stepKind: 'call', name: 'pay', attemptCount: 1, outcome, ...fields } as const
  return partition.run('recordStep', input)
}

function stepOf({ world, held }: HeldPartition, name = 'pay', kind: Step['kind'] = 'call'): Step {
  const execution = storedRecord(world.memory, 'execution', held.executionId)!
  return storedRecord(world.memory, 'step', stepIdIn(scopeOf(execution.id, execution.journal), stepKey(kind, name)))!
}

function journalOf(partition: HeldPartition) {
  return partition.execution(partition.held.executionId).journal
}

describe('a step that failed and is tried again', () => {
  test('is recorded once for each try, whichever reply was lost', () => {
    const partition = new HeldPartition()
    const at = partition.world.now

    expect(record(partition, retry(500))).toEqual({ kind: 'recorded', at, until: at + 500 })
    partition.advance(100)
    expect(record(partition, retry(500))).toEqual({ kind: 'recorded', at, until: at + 500 })
    expect(record(partition, retry(-5), { attemptCount: 2 })).toEqual({
      kind: 'recorded',
      at: at + 100,
      until: at + 100,
    })
  })

  test('is recorded anew in a later round, and after it was cut', () => {
    const partition = new HeldPartition()
    record(partition, retry(500))
    partition.advance(100)
    const { now } = partition.world
    partition.change({ round: (journalOf(partition)?.round ?? 0) + 1 })

    expect(record(partition, retry(500))).toMatchObject({ at: now })
    partition.advance(100)
    partition.change({ cuts: [{ from: 0, to: 9 }], nextPosition: 9 })
    expect(record(partition, retry(500))).toMatchObject({ at: now + 100 })
  })

  test('suspends the execution if it parks, also after a try that did not', () => {
    const partition = new HeldPartition()
    record(partition, retry(500))

    expect(record(partition, retry(900, true))).toEqual({ kind: 'suspended', until: partition.world.now + 900 })
    expect(partition.execution(partition.held.executionId).state.phase).toBe('suspended')
    expect(record(partition, retry(900, true))).toMatchObject({ kind: 'already_suspended' })
  })

  test('keeps its place and the time of its first try', () => {
    const partition = new HeldPartition()
    const at = partition.world.now
    record(partition, value, { name: 'before' })
    record(partition, retry(500))
    partition.advance(100)
    record(partition, value, { attemptCount: 2 })

    expect(stepOf(partition)).toMatchObject({
      createdAt: at,
      attemptCount: 2,
      position: stepOf(partition, 'before').position + 1,
    })
    expect(journalOf(partition)).toMatchObject({
      stepCount: 2,
      nextPosition: stepOf(partition).position + 1,
      stepBytes: 10,
    })
  })

  test('has another place once it was cut', () => {
    const partition = new HeldPartition()
    record(partition, value)
    const { position } = stepOf(partition)
    partition.advance(100)
    partition.change({ cuts: [{ from: position, to: position + 1 }] })

    expect(record(partition, { kind: 'completed' })).toMatchObject({ kind: 'recorded' })
    expect(stepOf(partition)).toMatchObject({ createdAt: partition.world.now, position: position + 1 })
    expect(journalOf(partition)).toMatchObject({ stepCount: 1, stepBytes: 0 })
    expect([...partition.world.memory.blobs.keys()].filter((key) => key.includes('pay'))).toEqual([])
  })
})

describe('a step that completed', () => {
  test('has no time at which it is tried again, and is known afterwards', () => {
    const partition = new HeldPartition()
    const at = partition.world.now

    expect(record(partition, value)).toEqual({ kind: 'recorded', at, until: undefined })
    expect(record(partition, retry(5))).toMatchObject({ kind: 'already_recorded', valueBlob: 0 })
    expect(record(partition, { kind: 'completed' }, { name: 'empty' })).toMatchObject({ kind: 'recorded' })
    expect(record(partition, value, { name: 'empty' })).toEqual({
      kind: 'already_recorded',
      state: stepOf(partition, 'empty').state,
      valueBlob: undefined,
    })
  })

  test('may have had effects, unless it only reads a value of now', () => {
    const partition = new HeldPartition()
    const outcomes = [retry(5), { kind: 'failed', failure, size: 1 }] as const
    for (const [i, outcome] of outcomes.entries()) record(partition, outcome, { name: `no ${i}` })
    record(partition, value, { stepKind: 'now', name: 'time' })

    expect(journalOf(partition)?.hasCompletedSteps).not.toBe(true)
    record(partition, value)
    expect(journalOf(partition)?.hasCompletedSteps).toBe(true)
  })

  test('gives the holder more time to undo it after a cancel, which later ones do not', () => {
    const partition = new HeldPartition()
    const { executionId } = partition.held
    const forceAt = () => {
      const { state } = partition.execution(executionId)
      return state.phase === 'active' ? state.cancel?.forceAt : undefined
    }
    partition.run('cancelExecution', { executionId, reason: '', by: '', force: false, graceMs: 1 })
    const atFirst = forceAt() ?? 0
    record(partition, value)
    const afterStep = forceAt() ?? 0
    partition.advance(100)
    record(partition, value, { name: 'next' })

    expect(afterStep).toBeGreaterThan(atFirst)
    expect(forceAt()).toBe(afterStep)
  })

  test('knows how many compensations were registered before it', () => {
    const partition = new HeldPartition()
    partition.change({ compensationCount: 0 })
    record(partition, value, { name: 'before' })
    partition.run('registerCompensation', { ...partition.held, count: 2 })
    record(partition, retry(5))
    partition.run('registerCompensation', { ...partition.held, count: 3 })
    record(partition, value, { attemptCount: 2 })

    expect(['before', 'pay'].map((name) => stepOf(partition, name).compensationsBefore)).toEqual([undefined, 2])
  })
})

test('the event of a step has what became of it', () => {
  const partition = new HeldPartition()
  record(partition, value)
  record(partition, { kind: 'failed', failure, size: 1 }, { name: 'b' })
  record(partition, retry(70), { name: 'c' })
  const details = storedEvents(partition.world.memory, 0)
    .filter(({ type, executionId }) => type === 'step_recorded' && executionId === idOf(1))
    .map(({ step, effect, category, reason, until }) => [step, effect, category, reason, until])

  expect(details).toEqual([
    ['pay', 'completed', undefined, undefined, undefined],
    ['b', 'failed', 'error', 'no luck', undefined],
    ['c', 'retry', 'error', 'no luck', partition.world.now + 70],
  ])
})

test('a failure of an earlier round does not count in a later one', () => {
  const partition = new HeldPartition()
  record(partition, { kind: 'failed', failure, size: 1 })

  expect(record(partition, value)).toMatchObject({ kind: 'already_recorded', valueBlob: undefined })
  partition.change({ round: (journalOf(partition)?.round ?? 0) + 1 })
  expect(record(partition, value)).toMatchObject({ kind: 'recorded' })
})
