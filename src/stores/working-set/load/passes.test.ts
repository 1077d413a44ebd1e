import { describe, expect, test } from 'vitest'
import {
  CLAIM_COUNT_MAX,
  CLAIM_RECOVERY_SCAN_COUNT,
  PURGE_COUNT_MAX,
  STEP_PAGE_MAX,
  STEP_VALUE_BYTES,
} from '../../../kernel/index.ts'
import type {
  Claimed,
  CreateInput,
  ExecutionId,
  OperationInput,
  Position,
  ReconcileCursor,
} from '../../../kernel/index.ts'
import { call, claim, creation, kindsOf, signalTo, stepOf, waitAt } from '../../store.fixture.ts'
import type { Answer, Call } from '../../store.ts'
import { SMALL_PAYLOAD_BYTES } from '../../postgres/load/load-range.ts'
import { LoadedPartition } from './passes.fixture.ts'
import { PASS_MAX, Passes } from './passes.ts'
import { WorkingSet } from './working-set.ts'

const DAY_MS = 86_400_000
const HUNG = { category: 'network', message: 'no route', stack: undefined }
const RETRIED = {
  attempts: 3,
  backoff: { kind: 'fixed' as const, delayMs: 1_000 },
  jitter: false,
  onlyCategories: [],
}
const BY_HAND = { reason: 'no', by: 'me', graceMs: 1_000 }

/** A partition with executions that wait. */
function given(count: number, wish: Partial<CreateInput> = {}, payloadBytes = 100): LoadedPartition {
  const partition = new LoadedPartition()
  for (let i = 0; i < count; i++) submitTo(partition, wish, payloadBytes)
  return partition
}

function submitTo(partition: LoadedPartition, wish: Partial<CreateInput> = {}, payloadBytes = 100): ExecutionId {
  const payload = { blob: 0, size: payloadBytes, encoding: 'bytes' as const }
  const input = creation({ payload, retry: RETRIED, ...wish })
  partition.run(call('createExecution', input, new Uint8Array(payloadBytes)))
  return input.executionId
}

let claims = 0

function nextClaim(count = 10) {
  claims += 1
  return claim({ requestId: `claim ${claims}`, count })
}

function take(partition: LoadedPartition, count = 10): Claimed[] {
  const [answer] = partition.run(call('claimForWorker', nextClaim(count)))
  return claimedIn(answer)
}

function claimedIn(answer: Answer | undefined): Claimed[] {
  if (answer?.kind !== 'answered' || answer.result.kind !== 'claimed') throw new Error('It was not claimed.')
  return answer.result.executions
}

function cursorIn(answer: Answer | undefined): ReconcileCursor | undefined {
  if (answer?.kind !== 'answered' || answer.result.kind !== 'reconciled') throw new Error('It did not go on.')
  return answer.result.cursor
}

function takeOne(partition: LoadedPartition): Claimed {
  const [claimed] = take(partition, 1)
  if (claimed === undefined) throw new Error('Nothing was claimed.')
  return claimed
}

describe('what happens in the life of an execution takes one pass', () => {
  test('submitting it, also a second time', () => {
    const partition = new LoadedPartition()
    const input = creation()

    expect(kindsOf(partition.run(call('createExecution', input)))).toEqual(['created'])
    expect(partition.passCount).toBe(1)
    expect(kindsOf(partition.run(call('createExecution', { ...input, requestId: 'again' })))).toEqual(['joined'])
    expect(partition.passCount).toBe(1)
  })

  test('claiming it with its payload, or nothing', () => {
    const partition = given(CLAIM_COUNT_MAX + 10)

    expect(take(partition, CLAIM_COUNT_MAX)).toHaveLength(CLAIM_COUNT_MAX)
    expect(partition.passCount).toBe(1)
    expect(take(partition, CLAIM_COUNT_MAX)).toHaveLength(10)
    expect(partition.passCount).toBe(1)
    expect(take(partition)).toEqual([])
    expect(partition.passCount).toBe(1)
  })

  test.each([
    ['renewing its lease', (held: Claimed) => call('renewLease', { ...held, leaseTtlMs: 30_000 })],
    ['saying how far it is', (held: Claimed) => call('updateProgress', { ...held, percent: 50, message: 'half' })],
    ['completing it', (held: Claimed) => call('completeExecution', held)],
    [
      'completing it and claiming the next',
      (held: Claimed) => call('completeExecution', { ...held, next: nextClaim() }),
    ],
    ['failing it', (held: Claimed) => call('failExecution', { ...held, failure: HUNG, seed: 1 })],
    ['giving it back', (held: Claimed) => call('releaseExecution', { ...held, reason: 'shutdown' })],
    ['putting it off', (held: Claimed) => call('delayExecution', { ...held, delayMs: 1_000 })],
    [
      'wishing to cancel it',
      ({ executionId }: Claimed) => call('cancelExecution', { executionId, ...BY_HAND, force: false }),
    ],
    ['changing its tags', ({ executionId }: Claimed) => call('setTags', { executionId, set: [], remove: ['team'] })],
    ['explaining it', ({ executionId }: Claimed) => call('explainExecution', { executionId })],
    [
      'describing it with its payload and result',
      ({ executionId }: Claimed) => call('describeExecution', { executionId, payload: true, result: true }),
    ],
  ])('%s', (_, callFor) => {
    const partition = given(20)
    const held = takeOne(partition)

    expect(partition.run(callFor(held))).toMatchObject([{ kind: 'answered' }])
    expect(partition.passCount).toBe(1)
  })

  test('cancelling it, or changing its priority, while it waits', () => {
    const partition = given(5)
    const executionId = submitTo(partition)

    partition.run(call('changePriority', { executionId, priority: 7 }))
    expect(partition.passCount).toBe(1)
    expect(kindsOf(partition.run(call('cancelExecution', { executionId, ...BY_HAND, force: false })))).toEqual([
      'cancelled',
    ])
    expect(partition.passCount).toBe(1)
  })

  test('a batch of all this together, where one takes what the one before has left', () => {
    const partition = given(100)
    const held = take(partition)

    partition.run(
      ...held.slice(0, 5).map((one) => call('completeExecution', { ...one, next: nextClaim() })),
      ...held.slice(5).map((one) => call('failExecution', { ...one, failure: HUNG, seed: 1 })),
      ...Array.from({ length: 20 }, () => call('createExecution', creation())),
      call('claimForWorker', nextClaim()),
    )

    expect(partition.passCount).toBe(1)
  })

  test('looking for what is due while nothing is, and for what may be removed', () => {
    const partition = given(10)
    take(partition, 5)

    partition.run(call('runDue', { limit: 200, seed: 1 }), call('purgeExecutions', {}))

    expect(partition.passCount).toBe(1)
  })
})

/** A holder that has recorded steps with values. */
function givenSteps(count: number, valueBytes: number): { partition: LoadedPartition; held: Claimed } {
  const partition = given(1)
  const held = takeOne(partition)
  for (let i = 0; i < count; i++) partition.run(...stepWithValue(held, `step ${i}`, valueBytes))
  return { partition, held }
}

function stepWithValue(held: Claimed, name: string, size: number): [Call] {
  const value = { blob: 0, size, encoding: 'bytes' as const }
  return [call('recordStep', stepOf(held, name, { outcome: { kind: 'completed', value } }), new Uint8Array(size))]
}

describe('what a handler has recorded takes one pass', () => {
  test('recording a step, also a second time and after many', () => {
    const { partition, held } = givenSteps(0, 0)
    const first = stepWithValue(held, 'first', 100)

    expect(kindsOf(partition.run(...first))).toEqual(['recorded'])
    expect(partition.passCount).toBe(1)
    for (let i = 0; i < 20; i++) partition.run(...stepWithValue(held, `step ${i}`, 10))
    expect(kindsOf(partition.run(...stepWithValue(held, 'last', 100)))).toEqual(['recorded'])
    expect(partition.passCount).toBe(1)
  })

  test.each([
    ['none', 0, 0],
    ['small', 5, 100],
    ['as large as they may be', 5, STEP_VALUE_BYTES],
    ['more than one reading sends', STEP_PAGE_MAX + 50, SMALL_PAYLOAD_BYTES],
  ])('reading it with its values: %s', (_, count, valueBytes) => {
    const { partition, held } = givenSteps(count, valueBytes)
    const { executionId } = held
    let from: number | undefined = 0
    let readCount = 0
    while (from !== undefined) {
      const [answer] = partition.run(call('readSteps', { executionId, from, values: true }))
      expect(partition.passCount).toBe(1)
      if (answer?.kind !== 'answered' || answer.result.kind !== 'steps') throw new Error('It was not read.')
      readCount += answer.result.steps.length
      from = answer.result.next
    }

    expect(readCount).toBe(count)
  })

  test('waiting, opening a waitpoint, and signals that no wait needs yet', () => {
    const { partition, held } = givenSteps(2, 10)
    const { executionId, fence } = held

    partition.run(call('createWaitpoint', { executionId, fence, target: 'link' }))
    expect(partition.passCount).toBe(1)
    partition.run(call('deliverSignal', signalTo(executionId, '@news')))
    expect(partition.passCount).toBe(1)
    expect(kindsOf(partition.run(call('suspendExecution', waitAt(held, 'answer'))))).toEqual(['suspended'])
    expect(partition.passCount).toBe(1)
    partition.run(call('readSignals', { executionId, payloads: true }), call('reissueWaitpoint', reissue(executionId)))
    expect(partition.passCount).toBe(1)
  })
})

function reissue(executionId: ExecutionId): OperationInput<'reissueWaitpoint'> {
  return { executionId, target: 'answer', by: 'me' }
}

describe('what is waited for takes another pass to find the wait', () => {
  function givenWait(): { partition: LoadedPartition; executionId: ExecutionId } {
    const { partition, held } = givenSteps(2, 10)
    partition.run(call('suspendExecution', waitAt(held, 'answer', { timeoutMs: 1_000 })))
    return { partition, executionId: held.executionId }
  }

  test('a signal that is waited for, also a second time', () => {
    const { partition, executionId } = givenWait()

    expect(kindsOf(partition.run(call('deliverSignal', signalTo(executionId, 'answer'))))).toEqual(['delivered'])
    expect(partition.passCount).toBe(2)
    expect(kindsOf(partition.run(call('deliverSignal', signalTo(executionId, 'answer'))))).toEqual(['duplicate'])
    expect(partition.passCount).toBe(1)
  })

  test('a wait whose signal came early', () => {
    const { partition, held } = givenSteps(0, 0)
    partition.run(call('deliverSignal', signalTo(held.executionId, '@news')))

    expect(kindsOf(partition.run(call('suspendExecution', waitAt(held, '@news'))))).toEqual(['answered'])
    expect(partition.passCount).toBe(2)
  })

  test.each([
    ['resuming it by hand', (executionId: ExecutionId) => call('resumeExecution', { executionId, by: 'me' }), 3],
    ['listing its waitpoints', (executionId: ExecutionId) => call('listWaitpoints', { executionId }), 2],
    ['listing all open waitpoints', () => call('listOpenWaitpoints', {}), 3],
    ['explaining it', (executionId: ExecutionId) => call('explainExecution', { executionId }), 2],
  ])('%s', (_, callFor, passCount) => {
    const { partition, executionId } = givenWait()

    expect(partition.run(callFor(executionId))).toMatchObject([{ kind: 'answered' }])
    expect(partition.passCount).toBe(passCount)
  })

  test('its time coming to an end', () => {
    const { partition } = givenWait()
    partition.now += 1_000

    expect(partition.run(call('runDue', { limit: 200, seed: 1 }))).toMatchObject([
      { result: { handled: [{ case: 'suspension_timeout' }] } },
    ])
    expect(partition.passCount).toBe(3)
  })
})

describe('many waits whose time has come take no more passes than one', () => {
  const DUE_COUNT = 200
  const WAIT_MS = 1_000

  /** So many executions that have let go, each in its own way. */
  function givenWaits(wish: Partial<OperationInput<'suspendExecution'>>): LoadedPartition {
    const partition = given(DUE_COUNT)
    for (let taken = 0; taken < DUE_COUNT; taken += CLAIM_COUNT_MAX) {
      for (const held of take(partition, CLAIM_COUNT_MAX)) {
        const suspended = partition.run(call('suspendExecution', waitAt(held, 'answer', wish)))
        expect(kindsOf(suspended)).toEqual(['suspended'])
      }
    }
    partition.now += WAIT_MS
    return partition
  }

  const sleeps = { stepKind: 'sleep' as const, nodes: [], opens: [], timeoutMs: WAIT_MS }

  test.each([
    ['waits with waitpoints of their own', { timeoutMs: WAIT_MS }],
    ['waits that resume with a signal', { timeoutMs: WAIT_MS, onTimeout: 'resume_with_signal' as const }],
    ['waits that fail', { timeoutMs: WAIT_MS, onTimeout: 'fail' as const }],
    ['sleeps', sleeps],
    ['reminders', { remindEveryMs: WAIT_MS }],
  ])('%s, handled by the due pass of the engine', (_, wish) => {
    const partition = givenWaits(wish)
    const counts: number[] = []
    let handledCount = 0
    let from: Position | undefined
    do {
      const [answer] = partition.run(call('runDue', { limit: DUE_COUNT, seed: 1, from }))
      counts.push(partition.passCount)
      if (answer?.kind !== 'answered' || answer.result.kind !== 'due')
        throw new Error('The due pass returned no result.')
      handledCount += answer.result.handled.length
      from = answer.result.next
    } while (from !== undefined)

    expect(handledCount).toBe(DUE_COUNT)
    expect(Math.max(...counts)).toBeLessThanOrEqual(5)
  })

  test.each([
    ['waits with waitpoints of their own', { timeoutMs: WAIT_MS }],
    ['sleeps', sleeps],
  ])('%s, handled by a claim', (_, wish) => {
    const partition = givenWaits(wish)

    expect(take(partition, CLAIM_COUNT_MAX)).not.toEqual([])
    expect(partition.passCount).toBeLessThanOrEqual(5)
  })

  test('reminders, skipped by a claim', () => {
    const partition = givenWaits({ remindEveryMs: WAIT_MS })
    submitTo(partition)

    expect(take(partition)).toHaveLength(1)
    expect(partition.passCount).toBeLessThanOrEqual(5)
  })
})

describe('what is rare takes a few passes', () => {
  test('claiming payloads that are too large to be loaded in vain', () => {
    const partition = given(5, {}, SMALL_PAYLOAD_BYTES + 1)

    expect(take(partition)).toHaveLength(5)
    expect(partition.passCount).toBe(2)
  })

  test('claiming where leases have run out', () => {
    const partition = given(10)
    take(partition, 5)
    partition.now += DAY_MS

    expect(take(partition)).toHaveLength(10)
    expect(partition.passCount).toBe(3)
  })

  test('claiming again after a reply was lost, among as many as are looked through', () => {
    const partition = given(CLAIM_RECOVERY_SCAN_COUNT + 100)
    for (let taken = 0; taken < CLAIM_RECOVERY_SCAN_COUNT + 50; taken += CLAIM_COUNT_MAX)
      take(partition, CLAIM_COUNT_MAX)

    const [answer] = partition.run(call('claimForWorker', { ...nextClaim(), repeated: true }))

    expect(claimedIn(answer)).toHaveLength(10)
    expect(partition.passCount).toBe(6)
  })

  test('seeing to everything that is due', () => {
    const partition = given(300)
    for (let i = 0; i < 6; i++) take(partition, CLAIM_COUNT_MAX)
    partition.now += DAY_MS

    const [answer] = partition.run(call('runDue', { limit: 200, seed: 1 }))

    expect(answer).toMatchObject({ result: { kind: 'due', nextDueAt: undefined } })
    expect(partition.passCount).toBe(3)
  })

  test('removing executions with their attempts, and the queue with the last of them', () => {
    const partition = given(PURGE_COUNT_MAX - 10)
    for (const held of take(partition, CLAIM_COUNT_MAX)) {
      partition.run(call('failExecution', { ...held, failure: HUNG, seed: 1 }))
      partition.run(call('cancelExecution', { executionId: held.executionId, ...BY_HAND, force: true }))
    }
    partition.now += 2 * DAY_MS

    expect(kindsOf(partition.run(call('purgeExecutions', {})))).toEqual(['purged'])
    expect(partition.passCount).toBe(5)
  })

  test('replacing an execution that has failed before', () => {
    const partition = given(0)
    const executionId = submitTo(partition)
    partition.run(call('failExecution', { ...takeOne(partition), failure: HUNG, seed: 1 }))
    partition.run(call('cancelExecution', { executionId, ...BY_HAND, force: true }))

    expect(kindsOf(partition.run(call('createExecution', creation({ executionId, ifExists: 'replace' }))))).toEqual([
      'replaced',
    ])
    expect(partition.passCount).toBe(3)
  })

  test('walking through all indexes to compare them with the records', () => {
    const partition = given(250)
    take(partition, 40)
    const counts: number[] = []
    let cursor: ReconcileCursor | undefined
    do {
      const [answer] = partition.run(call('reconcileIndexes', { cursor }))
      counts.push(partition.passCount)
      cursor = cursorIn(answer)
    } while (cursor !== undefined)

    expect(counts.length).toBeGreaterThan(5)
    expect(Math.max(...counts)).toBe(5)
  })

  test('walking through the indexes of many journals', () => {
    const partition = given(30)
    for (const held of take(partition, 30)) {
      const { executionId } = held
      partition.run(...stepWithValue(held, 'fetch', 10), call('deliverSignal', signalTo(executionId, '@news')))
      partition.run(call('suspendExecution', waitAt(held, 'answer')))
    }
    const counts: number[] = []
    let cursor: ReconcileCursor | undefined = { stage: 'journal_indexes', step: 0 }
    while (cursor !== undefined) {
      const [answer] = partition.run(call('reconcileIndexes', { cursor }))
      counts.push(partition.passCount)
      cursor = cursorIn(answer)
    }

    expect(counts.length).toBeGreaterThan(1)
    // The score of an entry that led to its record is not read, so those of other indexes are asked for one index after the other.
    expect(Math.max(...counts)).toBe(5)
  })

  test.each([
    ['listing', call('listExecutions', { limit: 100 }), 1],
    ['listing a lane', call('listExecutions', { lane: 'main', state: 'active', limit: 100 }), 1],
    ['counting', call('countExecutions', {}), 4],
    ['inspecting', call('inspectPartition', { limit: 100 }), 2],
  ])('%s', (_, look, passCount) => {
    const partition = given(60)
    take(partition, 20)

    expect(partition.run(look)).toMatchObject([{ kind: 'answered' }])
    expect(partition.passCount).toBe(passCount)
  })

  test('describing an execution with its attempts', () => {
    const partition = given(1)
    const { executionId, fence } = takeOne(partition)
    partition.run(call('failExecution', { executionId, fence, failure: HUNG, seed: 1 }))

    partition.run(call('describeExecution', { executionId, attempts: true }))

    expect(partition.passCount).toBe(2)
  })
})

describe('the bound on passes', () => {
  const endless = new WorkingSet()
  const lookFor = (executionId: string) => call('describeExecution', { executionId: executionId as ExecutionId })

  test('refuses what never finds out what it reads', () => {
    const passes = new Passes([lookFor('0-1')])

    for (let i = 1; i < PASS_MAX; i++) expect(passes.run(endless, 0)).toBeUndefined()
    expect(() => passes.run(endless, 0)).toThrow(`describeExecution needed more than ${PASS_MAX} passes.`)
  })

  test('is there for each operation that finds out only after the one before it', () => {
    const ids = ['0-1', '0-2', '0-3']
    const passes = new Passes(ids.map(lookFor))
    const set = new WorkingSet()

    for (const id of ids) {
      for (let i = 1; i < PASS_MAX - 1; i++) expect(passes.run(set, 0)).toBeUndefined()
      set.takeNeeds()
      set.keepRecord('execution', id, undefined)
    }

    expect(passes.run(set, 0)?.answers).toHaveLength(ids.length)
    expect(passes.count).toBeGreaterThan(PASS_MAX)
  })
})
