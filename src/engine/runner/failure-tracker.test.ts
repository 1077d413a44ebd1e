import { expect, test } from 'vitest'
import { recordingLog } from '../engine.fixture.ts'
import { BACKOFF_CYCLES, FAILURES_BEFORE_BACKOFF, FailureTracker, TRACKED_ITEMS_MAX } from './failure-tracker.ts'

const PARTITION = 'fp:0'

function createTracker() {
  const log = recordingLog()
  const tracker = new FailureTracker(log)
  tracker.beginCycle()
  return { log, tracker }
}

/** Fails an item once in each cycle until it is skipped. */
function failOften(tracker: FailureTracker, item: string): void {
  for (let i = 0; i < FAILURES_BEFORE_BACKOFF; i++) {
    if (i > 0) tracker.beginCycle()
    tracker.failed(PARTITION, item)
  }
}

test('an item that failed is not retried in the same cycle, but in the next', () => {
  const { tracker } = createTracker()
  tracker.failed(PARTITION, 'a')
  expect(tracker.skipped(PARTITION)).toEqual(['a'])

  tracker.beginCycle()

  expect(tracker.skipped(PARTITION)).toEqual([])
})

test('the third consecutive failure skips the item for ten cycles, and is logged once', () => {
  const { log, tracker } = createTracker()
  failOften(tracker, 'a')
  for (let i = 0; i < BACKOFF_CYCLES; i++) {
    tracker.beginCycle()
    expect(tracker.skipped(PARTITION)).toEqual(['a'])
    expect(tracker.backoffCount).toBe(1)
  }

  tracker.beginCycle()

  expect(tracker.skipped(PARTITION)).toEqual([])
  expect(tracker.backoffCount).toBe(0)
  expect(log.lines).toEqual([
    {
      level: 'error',
      fields: { partition: PARTITION, item: 'a', failures: 3, backoffCycles: 10 },
      message: expect.any(String) as string,
    },
  ])
})

test('once the back-off is over the item has three fresh chances', () => {
  const { log, tracker } = createTracker()
  failOften(tracker, 'a')
  for (let i = 0; i <= BACKOFF_CYCLES; i++) tracker.beginCycle()

  tracker.failed(PARTITION, 'a')
  tracker.beginCycle()
  expect(tracker.skipped(PARTITION)).toEqual([])
  tracker.failed(PARTITION, 'a')
  tracker.beginCycle()
  tracker.failed(PARTITION, 'a')

  expect(tracker.backoffCount).toBe(1)
  expect(log.lines).toHaveLength(2)
})

test('a success between two failures makes the next one the first again', () => {
  const { tracker } = createTracker()
  for (let i = 0; i < 2 * FAILURES_BEFORE_BACKOFF; i++) {
    tracker.failed(PARTITION, 'a')
    tracker.beginCycle()
    if (i % 2 === 1) tracker.succeeded(PARTITION, ['a', 'b'])
  }

  expect(tracker.backoffCount).toBe(0)
})

test('a complete scan of a partition forgets items that did not fail again, but not skipped ones', () => {
  const { tracker } = createTracker()
  failOften(tracker, 'left-alone')
  tracker.failed(PARTITION, 'well-again')
  tracker.failed('fp:1', 'elsewhere')
  tracker.beginCycle()
  tracker.forgetRecovered(PARTITION)
  tracker.failed(PARTITION, 'well-again')
  tracker.failed('fp:1', 'elsewhere')
  tracker.beginCycle()
  tracker.failed(PARTITION, 'well-again')
  tracker.failed('fp:1', 'elsewhere')
  tracker.beginCycle()

  expect(tracker.skipped(PARTITION)).toEqual(['left-alone'])
  expect(tracker.skipped('fp:1')).toEqual(['elsewhere'])
})

test('never more items are remembered than the bound, and the one that failed longest ago goes first', () => {
  const { tracker } = createTracker()
  for (let i = 0; i < TRACKED_ITEMS_MAX; i++) tracker.failed(PARTITION, `item-${i}`)
  expect(tracker.isFull).toBe(true)
  tracker.failed(PARTITION, 'item-0')

  tracker.failed(PARTITION, 'one-more')

  const remembered = tracker.skipped(PARTITION)
  expect(remembered).toHaveLength(TRACKED_ITEMS_MAX)
  expect(remembered).toContain('item-0')
  expect(remembered).not.toContain('item-1')
})
