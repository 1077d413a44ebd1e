import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packFields, unpackFields } from './codec.ts'
import type { Cell, Field } from './codec.ts'
import { eventTypes } from './events.ts'
import type { FabricEvent } from './events.ts'
import type { AnyRecord, Attempt, Execution, ExecutionId, ExecutionState, Failure, Queue } from './records.ts'
import { packEvent, packRecord, unpackEvent, unpackRecord } from './schema.ts'

/** Plain objects, as the kernel makes them. */
function object<T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true })
}

const text = fc.string()
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const count = fc.nat(1_000)
const id = text as fc.Arbitrary<ExecutionId>

function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined })
}

const outcome = fc.constantFrom('completed', 'failed', 'cancelled', 'expired', 'skipped')
const attemptKind = fc.constantFrom('initial', 'retry', 'reclaim', 'replay')
const failure: fc.Arbitrary<Failure> = object({ category: text, message: text, stack: maybe(text), at: instant })
const blobInfo = object({ size: count, encoding: fc.constantFrom('json', 'bytes') })

const state: fc.Arbitrary<ExecutionState> = fc.oneof(
  object({ phase: fc.constant('eligible') }),
  object({
    phase: fc.constant('delayed'),
    until: instant,
    cause: fc.constantFrom('submitted', 'retry', 'worker'),
  }),
  object({
    phase: fc.constant('blocked'),
    by: fc.constantFrom('dependencies', 'budget', 'limit', 'operator', 'hold'),
  }),
  object({
    phase: fc.constant('active'),
    lease: object({
      id: text,
      workerId: text,
      workerInstanceId: text,
      acquiredAt: instant,
      expiresAt: instant,
    }),
    timeoutAt: maybe(instant),
    cancel: maybe(object({ reason: text, by: text, at: instant, forceAt: instant })),
    runningSince: instant,
  }),
  object({ phase: fc.constant('suspended'), suspensionId: text }),
  object({ phase: fc.constant('ended'), outcome, at: instant, reason: maybe(text), by: maybe(text) }),
)

const execution: fc.Arbitrary<Execution> = object({
  type: fc.constant('execution'),
  id,
  key: maybe(text),
  requestId: maybe(text),
  namespace: text,
  task: text,
  lane: text,
  class: text,
  priority: count,
  tags: fc.array(object({ name: text, value: text, indexed: fc.boolean() })),
  retry: object({
    attempts: count,
    backoff: fc.oneof(
      object({ kind: fc.constant('fixed'), delayMs: count }),
      object({
        kind: fc.constant('exponential'),
        initialMs: count,
        maxMs: count,
        factor: fc.double({ min: 1, max: 100, noNaN: true }),
      }),
    ),
    jitter: fc.boolean(),
    onlyCategories: fc.array(text),
  }),
  attemptTimeoutMs: maybe(count),
  totalTimeoutMs: maybe(count),
  deadlineAt: maybe(instant),
  retentionMs: count,
  payload: maybe(blobInfo),
  result: maybe(blobInfo),
  createdAt: instant,
  changedAt: instant,
  startedAt: maybe(instant),
  state,
  next: fc.constantFrom('initial', 'retry', 'reclaim', 'replay', 'continue'),
  epoch: count,
  attempt: maybe(
    object({
      number: count,
      kind: attemptKind,
      startedAt: instant,
      usedMs: count,
      workerId: text,
      workerInstanceId: text,
    }),
  ),
  failureCount: count,
  reclaimCount: count,
  replayCount: count,
  failure: maybe(failure),
  progress: maybe(object({ percent: maybe(count), message: maybe(text), at: instant })),
  lastLease: maybe(
    object({
      id: text,
      epoch: count,
      how: fc.constantFrom(
        'completed',
        'failed',
        'cancelled',
        'expired',
        'released',
        'delayed',
        'timed_out',
        'lease_expired',
        'lease_revoked',
      ),
      until: maybe(instant),
    }),
  ),
  lastReplay: maybe(object({ requestId: text, reason: maybe(text), by: maybe(text), at: instant })),
})

const attempt: fc.Arbitrary<Attempt> = object({
  type: fc.constant('attempt'),
  id: text,
  executionId: id,
  number: count,
  kind: attemptKind,
  startedAt: instant,
  endedAt: instant,
  epoch: count,
  workerId: text,
  workerInstanceId: text,
  outcome: fc.constantFrom(
    'completed',
    'failed',
    'timed_out',
    'cancelled',
    'expired',
    'lease_expired',
    'lease_revoked',
  ),
  failure: maybe(failure),
})

const queue: fc.Arbitrary<Queue> = object({
  type: fc.constant('queue'),
  id: text,
  lane: text,
  class: text,
  createdAt: instant,
})

const event: fc.Arbitrary<FabricEvent> = object({
  type: fc.constantFrom(...eventTypes),
  at: instant,
  executionId: id,
  namespace: text,
  task: text,
  lane: text,
  tags: fc.array(text),
  attempt: maybe(count),
  epoch: maybe(count),
  workerId: maybe(text),
  workerInstanceId: maybe(text),
  outcome: maybe(outcome),
  until: maybe(instant),
  reason: maybe(text),
  by: maybe(text),
  category: maybe(text),
  percent: maybe(count),
  priority: maybe(count),
})

const record: fc.Arbitrary<AnyRecord> = fc.oneof(execution, attempt, queue)

/** A value that a newer schema wrote behind the fields which this one knows. */
const cell: fc.Arbitrary<Cell> = fc.oneof(text, count, fc.constant<false>(false), fc.array(text))

function depth(value: Cell): number {
  return Array.isArray(value) ? 1 + Math.max(0, ...value.map(depth)) : 0
}

/** The deepest nesting that every store's encoding is sure to keep. */
const RECORD_DEPTH_MAX = 6

describe('the stored form', () => {
  test('gives back every record as it was', () => {
    fc.assert(
      fc.property(record, (one) => {
        expect(unpackRecord(one.type, packRecord(one))).toStrictEqual(one)
      }),
    )
  })

  test('gives back every event as it was', () => {
    fc.assert(
      fc.property(event, (one) => {
        expect(unpackEvent(packEvent(one))).toStrictEqual(one)
      }),
    )
  })

  test('holds only text, numbers, false and lists of these, nested no deeper than any store can keep', () => {
    fc.assert(
      fc.property(record, (one) => {
        const cells = packRecord(one)

        expect(JSON.parse(JSON.stringify(cells))).toEqual(cells)
        expect(depth(cells)).toBeLessThanOrEqual(RECORD_DEPTH_MAX)
      }),
    )
  })

  test('keeps values behind the last field that the schema knows', () => {
    fc.assert(
      fc.property(record, fc.array(cell, { minLength: 1 }), (one, unknown) => {
        const newer = [...packRecord(one), ...unknown]

        expect(packRecord(unpackRecord(one.type, newer))).toEqual(newer)
      }),
    )
  })

  test('reads a record that an older schema wrote without its last fields', () => {
    fc.assert(
      fc.property(execution, fc.nat(5), (one, missing) => {
        const cells = packRecord(one)
        const older = unpackRecord('execution', cells.slice(0, cells.length - missing))

        expect(older.id).toBe(one.id)
        expect(older.state).toEqual(one.state)
      }),
    )
  })
})

describe('a schema', () => {
  const fields: readonly Field[] = [
    { name: 'flag', of: { kind: 'flag' } },
    { name: 'word', of: { kind: 'word', words: ['yes', 'no'] } },
    {
      name: 'shape',
      of: {
        kind: 'union',
        tag: 'kind',
        variants: [
          { word: 'point', fields: [] },
          { word: 'circle', fields: [{ name: 'radius', of: { kind: 'number' } }] },
        ],
      },
    },
  ]

  test('stores words as small integers and what is absent as false', () => {
    expect(packFields(fields, { flag: true, word: 'no', shape: { kind: 'circle', radius: 2 } })).toEqual([1, 1, [1, 2]])
    expect(packFields(fields, { flag: false })).toEqual([0, false, false])
  })

  test('tells an absent flag from one that is not set', () => {
    expect(unpackFields(fields, [false])['flag']).toBeUndefined()
    expect(unpackFields(fields, [0])['flag']).toBe(false)
  })

  test('keeps values behind the last field of a variant', () => {
    const cells: Cell[] = [1, 0, [1, 2, 'newer', false]]

    expect(packFields(fields, unpackFields(fields, cells))).toEqual(cells)
  })

  test('keeps no value of one variant when another takes its place', () => {
    const value = unpackFields(fields, [1, 0, [1, 2, 'newer']])
    value['shape'] = { kind: 'point' }

    expect(packFields(fields, value)).toEqual([1, 0, [0]])
  })
})
