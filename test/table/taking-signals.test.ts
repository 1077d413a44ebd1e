import { describe, expect, test } from 'vitest'
import { INBOX_PAGE_MAX, SIGNAL_PAGE_BYTES } from '../../src/kernel/limits.ts'
import { waitpointIdIn } from '../../src/kernel/rules/journal-ids.ts'
import { HeldPartition, MAILBOX, ada, adaByLink } from './held-partition.ts'
import { storedRecord } from './trials/memory.ts'

function take(partition: HeldPartition, takenTo: number, limit: number): unknown {
  const result = partition.run('takeSignals', { ...partition.held, name: 'vote', takenTo, limit })
  return result.kind === 'taken' ? result.signals.map(({ signal }) => signal.sequence) : result.code
}

function mailboxOf({ held, world }: HeldPartition) {
  const mailbox = storedRecord(world.memory, 'waitpoint', waitpointIdIn(held.executionId, MAILBOX))
  return [mailbox?.bufferedCount, mailbox?.linkBufferedCount]
}

describe('signals that are taken', () => {
  test('leave the buffer, those that came by links also the room of links', () => {
    const partition = new HeldPartition()
    for (const [i, source] of [ada, adaByLink, adaByLink, ada, adaByLink].entries()) partition.signal(`k${i}`, source)

    expect(mailboxOf(partition)).toEqual([5, 3])
    expect(take(partition, 1, 0)).toEqual([])
    expect(mailboxOf(partition)).toEqual([4, 3])
    expect(take(partition, 4, 0)).toEqual([])
    expect(mailboxOf(partition)).toEqual([1, 1])
    expect(take(partition, 9, 5)).toEqual([])
    expect(mailboxOf(partition)).toEqual([0, 0])
  })

  test('free no more room of links than was counted', () => {
    const partition = new HeldPartition()
    partition.signal('k', adaByLink)
    partition.changeMailbox({ linkBufferedCount: undefined })

    take(partition, 1, 0)

    expect(mailboxOf(partition)).toEqual([0, 0])
  })

  test('leave room in a page for those that follow', () => {
    const partition = new HeldPartition()
    for (let i = 0; i < INBOX_PAGE_MAX + 7; i++) partition.signal(`k${i}`, ada)

    expect(take(partition, INBOX_PAGE_MAX, 5)).toEqual([1, 2, 3, 4, 5].map((i) => INBOX_PAGE_MAX + i))
    expect(mailboxOf(partition)).toEqual([7, 0])
  })
})

describe('signals that follow', () => {
  test('are as many as were asked for, at most a page', () => {
    const partition = new HeldPartition()
    for (let i = 0; i < INBOX_PAGE_MAX + 7; i++) partition.signal(`k${i}`, ada)

    expect([take(partition, 0, 2), take(partition, 0, 0), take(partition, 0, -1)]).toEqual([[1, 2], [], []])
    expect(take(partition, 0, 99)).toHaveLength(INBOX_PAGE_MAX)
  })

  test('end before their bytes are over the limit, and are always one', () => {
    const partition = new HeldPartition()
    const sizes = [SIGNAL_PAGE_BYTES - 1, 1, 1, SIGNAL_PAGE_BYTES + 1, 1]
    for (const [i, size] of sizes.entries()) partition.signal(`k${i}`, ada, size)

    expect(take(partition, 0, 9)).toEqual([1, 2])
    expect(take(partition, 2, 9)).toEqual([3])
    expect(take(partition, 3, 9)).toEqual([4])
    expect(take(partition, 4, 9)).toEqual([5])
  })

  test('may have no payload', () => {
    const partition = new HeldPartition()
    const signal = { executionId: partition.held.executionId, target: MAILBOX, name: 'vote', source: ada }
    for (const key of ['a', 'b']) partition.run('deliverSignal', { ...signal, key })

    const result = partition.run('takeSignals', { ...partition.held, name: 'vote', takenTo: 0, limit: 5 })

    expect(result).toMatchObject({ kind: 'taken', signals: [{ payloadBlob: undefined }, { payloadBlob: undefined }] })
  })
})
