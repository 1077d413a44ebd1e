import { expect, test } from 'vitest'
import { executionPartition } from '../../stores/store.ts'
import { inClaimOrder, makeSources, markDue } from './claim-source.ts'

const [first, second, third] = [0, 1, 2].map(executionPartition)

function dueSources() {
  const sources = makeSources(3, [{ queues: [], task: undefined }])
  sources.forEach((source, i) => {
    source.claimOrder = i
    markDue(source, 100 + i)
  })
  return sources
}

test('the least recently claimed source comes first', () => {
  const order = inClaimOrder(dueSources().reverse(), new Map(), 0)

  expect(order.map(({ partition }) => partition)).toEqual([first, second, third])
})

test('a source whose partition gets a batch anyway precedes all that have not waited for too long', () => {
  const reported = new Map([[third!, 1]])
  const partitionsAt = (starvingSince: number) =>
    inClaimOrder(dueSources(), reported, starvingSince).map(({ partition }) => partition)

  expect(partitionsAt(100)).toEqual([third, first, second])
  expect(partitionsAt(101)).toEqual([first, third, second])
  expect(partitionsAt(102)).toEqual([first, second, third])
})

test('a source is due since it was marked first', () => {
  const [source] = dueSources()
  markDue(source!, 200)

  expect(source!.dueSince).toBe(100)
})
