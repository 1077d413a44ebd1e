import { describe, expect, test } from 'vitest'
import {
  BUFFERED_SIGNAL_MAX,
  COMPENSATION_MAX,
  LINK_BUFFERED_MAX,
  LINK_SIGNAL_MAX,
  OPEN_WAITPOINT_MAX,
  SENDER_MAX,
  SENDER_SIGNAL_MAX,
  SIGNAL_MAX,
  STEP_MAX,
  STEP_TOTAL_BYTES,
} from '../../src/kernel/limits.ts'
import { HeldPartition, ada, adaByLink, bobByLink, outcomeOf } from './held-partition.ts'

describe('the steps of a journal', () => {
  const tooMany = ['step_limit_exceeded', STEP_MAX]

  test('are limited in number', () => {
    const partition = new HeldPartition({ stepCount: STEP_MAX - 1 })

    expect([partition.record('last', 1), partition.record('next', 1)]).toEqual(['recorded', tooMany])
  })

  test('are limited without the children, which have a limit of their own', () => {
    const partition = new HeldPartition({ stepCount: STEP_MAX + 4, childCount: 5 })

    expect([partition.record('last', 1), partition.record('next', 1)]).toEqual(['recorded', tooMany])
  })

  test('may be twice as many while cut ones wait for their removal', () => {
    const partition = new HeldPartition({ stepCount: 2 * STEP_MAX - 1, cuts: [{ from: 0, to: 1 }], nextPosition: 1 })

    expect([partition.record('last', 1), partition.record('next', 1)]).toEqual(['recorded', tooMany])
  })

  test('leave room for compensations', () => {
    const partition = new HeldPartition({ stepCount: STEP_MAX + COMPENSATION_MAX - 1 })

    expect(partition.record('pay', 1)).toEqual(tooMany)
    expect([partition.record('undo', 1, true), partition.record('undo more', 1, true)]).toEqual([
      'recorded',
      ['step_limit_exceeded', STEP_MAX + COMPENSATION_MAX],
    ])
  })

  test('are limited in bytes', () => {
    const tooLarge = ['step_bytes_exceeded', STEP_TOTAL_BYTES]
    const partition = new HeldPartition({ stepBytes: STEP_TOTAL_BYTES - 10 })

    expect(partition.record('large', 11)).toEqual(tooLarge)
    expect(partition.record('fits', 10)).toBe('recorded')
    expect(partition.record('next', 1)).toEqual(tooLarge)
    // A compensation has room of its own.
    expect(partition.record('undo', 1, true)).toBe('recorded')
  })

  test('may have twice as many bytes while cut ones wait for their removal', () => {
    const partition = new HeldPartition({
      stepBytes: 2 * STEP_TOTAL_BYTES - 10,
      cuts: [{ from: 0, to: 1 }],
      nextPosition: 1,
    })

    expect(partition.record('large', 11)).toEqual(['step_bytes_exceeded', STEP_TOTAL_BYTES])
    expect(partition.record('fits', 10)).toBe('recorded')
  })

  test('free the bytes of a try that is recorded again', () => {
    const partition = new HeldPartition()
    const { executionId, fence } = partition.held
    const failed = { category: 'error', message: 'no luck' }
    const outcome = { kind: 'retry', failure: failed, size: 30, delayMs: 0, park: false } as const
    partition.run('recordStep', { executionId, fence, stepKind: 'call', name: 'pay', attemptCount: 1, outcome })
    partition.change({ stepBytes: STEP_TOTAL_BYTES })

    expect(partition.record('pay', 31)).toEqual(['step_bytes_exceeded', STEP_TOTAL_BYTES])
    expect(partition.record('pay', 30)).toBe('recorded')
    expect(partition.execution(executionId).journal).toMatchObject({ stepCount: 1, stepBytes: STEP_TOTAL_BYTES })
  })
})

test('compensations are limited in number, and a repeated registration is known', () => {
  const partition = new HeldPartition()
  const { executionId, fence } = partition.held
  const register = (count: number) => outcomeOf(partition.run('registerCompensation', { executionId, fence, count }))

  expect([COMPENSATION_MAX, COMPENSATION_MAX, COMPENSATION_MAX + 1].map(register)).toEqual([
    'registered',
    'already_registered',
    ['step_limit_exceeded', COMPENSATION_MAX],
  ])
})

test('open waitpoints are limited in number', () => {
  const partition = new HeldPartition()
  const outcomes = Array.from({ length: OPEN_WAITPOINT_MAX + 1 }, (_, index) => partition.open(`w${index}`))

  expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(['opened']))
  expect(outcomes.at(-1)).toEqual(['waitpoint_limit_exceeded', OPEN_WAITPOINT_MAX])
})

describe('the signals of a journal', () => {
  const tooMany = ['signal_limit_exceeded', SIGNAL_MAX]

  test('from programs are limited without those that came by links', () => {
    const partition = new HeldPartition({ signalCount: SIGNAL_MAX + 6, linkSignalCount: 7 })

    expect([partition.signal('1', ada), partition.signal('2', ada)]).toEqual(['delivered', tooMany])
  })

  test('by links are limited without those of programs', () => {
    const partition = new HeldPartition()
    partition.signal('0', ada)
    partition.change({ signalCount: SIGNAL_MAX + LINK_SIGNAL_MAX - 1, linkSignalCount: LINK_SIGNAL_MAX - 1 })

    expect([partition.signal('1', adaByLink), partition.signal('2', adaByLink)]).toEqual([
      'delivered',
      ['signal_limit_exceeded', LINK_SIGNAL_MAX],
    ])
    expect(partition.signal('3', ada)).toEqual(tooMany)
  })

  test('by links are limited for each sender', () => {
    const partition = new HeldPartition()
    const outcomes = Array.from({ length: SENDER_SIGNAL_MAX + 1 }, (_, index) =>
      partition.signal(String(index), adaByLink),
    )

    expect(outcomes.slice(-2)).toEqual(['delivered', ['signal_limit_exceeded', SENDER_SIGNAL_MAX]])
    expect(partition.signal('of another', bobByLink)).toBe('delivered')
    expect(partition.signal('of a program', ada)).toBe('delivered')
  })

  test('by links are limited to a number of senders', () => {
    const partition = new HeldPartition()
    partition.signal('0', adaByLink)
    const senders = Array.from({ length: SENDER_MAX - 1 }, (_, index) => ({ identity: `sender ${index}`, count: 1 }))
    partition.changeMailbox({ senders: [{ identity: 'ada', count: 1 }, ...senders] })

    expect(partition.signal('1', bobByLink)).toEqual(['signal_limit_exceeded', SENDER_MAX])
    expect(partition.signal('2', adaByLink)).toBe('delivered')
  })
})

describe('the buffer of a mailbox', () => {
  test('has room for programs, whatever came by links', () => {
    const partition = new HeldPartition()
    partition.signal('0', ada)
    partition.changeMailbox({ bufferedCount: BUFFERED_SIGNAL_MAX + 2, linkBufferedCount: 3 })

    expect([partition.signal('1', ada), partition.signal('2', ada)]).toEqual([
      'delivered',
      ['signal_buffer_full', BUFFERED_SIGNAL_MAX],
    ])
  })

  test('has room for links, and always for the first signal of a sender', () => {
    const partition = new HeldPartition()
    partition.signal('0', adaByLink)
    partition.changeMailbox({ bufferedCount: LINK_BUFFERED_MAX - 1, linkBufferedCount: LINK_BUFFERED_MAX - 1 })

    expect([partition.signal('1', adaByLink), partition.signal('2', adaByLink)]).toEqual([
      'delivered',
      ['signal_buffer_full', LINK_BUFFERED_MAX],
    ])
    expect(partition.signal('3', bobByLink)).toBe('delivered')
  })
})
