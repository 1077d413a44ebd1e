import { describe, expect, test } from 'vitest'
import { SIGNAL_PAGE_BYTES, STEP_PAGE_BYTES, STEP_PAGE_MAX } from '../../src/kernel/limits.ts'
import type { OperationInput, OperationResult } from '../../src/kernel/index.ts'
import { HeldPartition, MAILBOX, ada } from './held-partition.ts'

function stepsOf(partition: HeldPartition, input: Omit<OperationInput<'readSteps'>, 'executionId'> = {}) {
  const result = partition.run('readSteps', { executionId: partition.held.executionId, ...input })
  return pageOf(result.kind === 'steps' ? { ...result, names: result.steps.map(({ step }) => step.name) } : undefined)
}

function signalsOf(partition: HeldPartition, input: Omit<OperationInput<'readSignals'>, 'executionId'> = {}) {
  const result = partition.run('readSignals', { executionId: partition.held.executionId, ...input })
  return pageOf(
    result.kind === 'signals' ? { ...result, names: result.signals.map(({ signal }) => signal.key) } : undefined,
  )
}

function pageOf(page: { readonly names: string[]; readonly next: number | undefined } | undefined): unknown {
  return [page?.names, page?.next]
}

function withSteps(...sizes: readonly number[]): HeldPartition {
  const partition = new HeldPartition()
  for (const [index, size] of sizes.entries()) partition.record(`s${index}`, size)
  return partition
}

function withSignals(...sizes: readonly number[]): HeldPartition {
  const partition = new HeldPartition()
  for (const [index, size] of sizes.entries()) partition.signal(`k${index}`, ada, size)
  return partition
}

describe('a page of steps', () => {
  test('has as many as were asked for, at least one, and where the next begins', () => {
    const partition = withSteps(1, 1, 1)

    expect(stepsOf(partition)).toEqual([['s0', 's1', 's2'], undefined])
    expect(stepsOf(partition, { limit: 2 })).toEqual([['s0', 's1'], 2])
    expect(stepsOf(partition, { limit: 0 })).toEqual([['s0'], 1])
    expect(stepsOf(partition, { limit: 2, from: 2 })).toEqual([['s2'], undefined])
    expect(stepsOf(partition, { limit: 3 })).toEqual([['s0', 's1', 's2'], 3])
  })

  test('has no more than the limit, however many were asked for', () => {
    const partition = withSteps(...Array.from({ length: STEP_PAGE_MAX + 1 }, () => 1))
    const result = partition.run('readSteps', { executionId: partition.held.executionId, limit: 1_000 })

    expect(result).toMatchObject({ kind: 'steps', next: STEP_PAGE_MAX })
  })

  test('with values ends before its bytes are over the limit, and always has one', () => {
    const partition = withSteps(STEP_PAGE_BYTES - 1, 1, 1, STEP_PAGE_BYTES + 1, 1)

    expect(stepsOf(partition, { values: true })).toEqual([['s0', 's1'], 2])
    expect(stepsOf(partition, { values: true, from: 2 })).toEqual([['s2'], 3])
    expect(stepsOf(partition, { values: true, from: 3 })).toEqual([['s3'], 4])
    expect(stepsOf(partition)).toEqual([['s0', 's1', 's2', 's3', 's4'], undefined])
  })

  test('skips what a replay has cut, and the bytes of it', () => {
    const partition = withSteps(1, STEP_PAGE_BYTES, 1, 1)
    partition.change({ cuts: [{ from: 1, to: 2 }] })

    expect(stepsOf(partition, { values: true })).toEqual([['s0', 's2', 's3'], undefined])
    expect(stepsOf(partition, { from: 1, limit: 1 })).toEqual([['s2'], 3])
  })
})

describe('a page of signals', () => {
  test('has as many as were asked for, from a number to another, and where the next begins', () => {
    const partition = withSignals(1, 1, 1)

    expect(signalsOf(partition)).toEqual([['k0', 'k1', 'k2'], undefined])
    expect(signalsOf(partition, { limit: 2 })).toEqual([['k0', 'k1'], 3])
    expect(signalsOf(partition, { from: 2, to: 2 })).toEqual([['k1'], undefined])
    expect(signalsOf(partition, { limit: 0 })).toEqual([['k0'], 2])
  })

  test('with payloads ends before its bytes are over the limit, and always has one', () => {
    const partition = withSignals(SIGNAL_PAGE_BYTES - 1, 1, 1, SIGNAL_PAGE_BYTES + 1, 1)

    expect(signalsOf(partition, { payloads: true })).toEqual([['k0', 'k1'], 3])
    expect(signalsOf(partition, { payloads: true, from: 3 })).toEqual([['k2'], 4])
    expect(signalsOf(partition, { payloads: true, from: 4 })).toEqual([['k3'], 5])
    expect(signalsOf(partition)).toEqual([['k0', 'k1', 'k2', 'k3', 'k4'], undefined])
  })
})

test('values and payloads are sent only if they are asked for', () => {
  const partition = withSteps(1)
  partition.signal('k', ada)
  const { executionId } = partition.held

  expect(partition.run('readSteps', { executionId })).toMatchObject({ steps: [{ valueBlob: undefined }] })
  expect(partition.run('readSteps', { executionId, values: true })).toMatchObject({ steps: [{ valueBlob: 0 }] })
  expect(partition.run('readSignals', { executionId })).toMatchObject({ signals: [{ payloadBlob: undefined }] })
  expect(partition.run('readSignals', { executionId, payloads: true })).toMatchObject({ signals: [{ payloadBlob: 0 }] })
})

describe('a list of waitpoints', () => {
  function listed(result: OperationResult<'listWaitpoints'>): unknown {
    if (result.kind === 'refused') return result.code
    const names = result.waitpoints.map(({ waitpoint, state }) => `${waitpoint.target} ${state}`)
    return result.cursor === undefined ? names : [...names, 'more']
  }

  function withWaitpoints(): HeldPartition {
    const partition = withSignals(1)
    for (const target of ['a', 'b', 'c']) partition.open(target)
    partition.run('closeWaitpoint', { executionId: partition.held.executionId, target: 'b', by: 'ada', reason: 'done' })
    return partition
  }

  test('of an execution has those that are open, or all', () => {
    const partition = withWaitpoints()
    const { executionId } = partition.held

    expect(listed(partition.run('listWaitpoints', { executionId }))).toEqual(['a pending', 'c pending'])
    expect(listed(partition.run('listWaitpoints', { executionId, all: true }))).toEqual([
      `${MAILBOX} mailbox`,
      'a pending',
      'b closed',
      'c pending',
    ])
  })

  test('of an execution comes in pages', () => {
    const partition = withWaitpoints()
    const { executionId } = partition.held
    const first = partition.run('listWaitpoints', { executionId, all: true, limit: 3 })
    const cursor = first.kind === 'waitpoints' ? first.cursor : undefined

    expect(listed(first)).toEqual([`${MAILBOX} mailbox`, 'a pending', 'b closed', 'more'])
    expect(listed(partition.run('listWaitpoints', { executionId, all: true, limit: 3, cursor }))).toEqual(['c pending'])
    expect(listed(partition.run('listWaitpoints', { executionId, all: true, limit: 4 }))).toHaveLength(4)
  })

  test('of a partition comes in pages, and has those of one namespace', () => {
    const partition = withWaitpoints()
    const { namespace } = partition.execution(partition.held.executionId)
    const first = partition.run('listOpenWaitpoints', { limit: 1 })

    expect(listed(first)).toEqual(['a pending', 'more'])
    expect(listed(partition.run('listOpenWaitpoints', { cursor: first.cursor }))).toEqual(['c pending'])
    expect(listed(partition.run('listOpenWaitpoints', { namespace }))).toEqual(['a pending', 'c pending'])
    expect(listed(partition.run('listOpenWaitpoints', { namespace: 'other' }))).toEqual([])
  })
})
