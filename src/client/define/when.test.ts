import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { approval } from './approval.ts'
import { signal } from './signal-wait.ts'
import { WAITABLE } from './waitable.ts'
import type { ReceivedSignal, WaitOutcome, Waitable } from './waitable.ts'
import { when } from './when.ts'
import type { ConditionAnswer, OperatorAnswer } from './when.ts'

const door = { key: 'door' }
const gate = { key: 'gate' }
const paid: ReceivedSignal = {
  name: 'paid',
  waitpoint: undefined,
  value: 12,
  by: { type: 'caller', identity: 'shop' },
  at: 5,
  sequence: 1,
}

function outcome(how: WaitOutcome['how'], ...signals: ReceivedSignal[]): WaitOutcome {
  return { how, by: 'eve', reason: 'by phone', at: 9, signals }
}

test('every part is needed, or either of them, and parts nest', () => {
  const condition = when.every([signal('paid', { from: ['shop'] }), when.either([door, gate])], { timeout: '2d' })

  expect(condition[WAITABLE].plan('ready')).toMatchObject({
    nodes: [
      { kind: 'group', parent: undefined, need: 2 },
      { kind: 'leaf', parent: 0, need: 1, by: 'once', name: 'paid', from: ['shop'], targets: ['@paid'] },
      { kind: 'group', parent: 0, need: 1 },
      { kind: 'leaf', parent: 2, need: 1, by: 'once', name: undefined, targets: ['door'] },
      { kind: 'leaf', parent: 2, need: 1, by: 'once', name: undefined, targets: ['gate'] },
    ],
    opens: [],
    timeoutMs: 172_800_000,
  })
})

test('a count looks at several places at once', () => {
  const nodesOf = (condition: ReturnType<typeof when.count>) => condition[WAITABLE].plan('x').nodes

  expect(nodesOf(when.count(2, [door, gate, signal('open')]))).toMatchObject([
    { kind: 'leaf', need: 2, by: 'waitpoints', name: undefined, targets: ['door', 'gate', '@open'] },
  ])
  expect(nodesOf(when.count(2, [door], { name: 'approve', by: 'sources', from: ['ada', 'bob', 'eve'] }))).toMatchObject(
    [{ need: 2, by: 'sources', name: 'approve', from: ['ada', 'bob', 'eve'], targets: ['door'] }],
  )
  expect(nodesOf(when.every([when.count(3, [door], { by: 'signals' }), gate]))).toHaveLength(3)
})

test.each<[string, () => unknown]>([
  ['it has no parts', () => when.every([])],
  ['the parts of when.either is 7, but must be a list', () => when.either(7 as never)],
  ['the parts of when.every is undefined, but must be a list', () => when.every(undefined as never)],
  [
    'when.every[0] is "paid", but must be a waitpoint that ctx.waitpoint(…) returned',
    () => when.every(['paid' as never]),
  ],
  ['when.every[1].key is "@door"', () => when.every([gate, { key: '@door' }])],
  ['when.either[0] has timeout of its own', () => when.either([signal('paid', { timeout: '1h' })])],
  ['when.either[0] has schema of its own', () => when.either([signal('paid', { schema: z.string() })])],
  ['when.every[0] has timeout of its own', () => when.every([when.either([door], { timeout: '1h' })])],
  ['when.every[0] is a wait with an answer of its own', () => when.every([approval() as never])],
  ['when.every[0] is a wait with an answer of its own', () => when.every([when.operator() as never])],
  ['when.count[0] is a condition of its own', () => when.count(1, [when.every([door])])],
  ['when.count[0] is a condition of its own', () => when.count(1, [signal('paid', { from: ['ada'] })])],
  ['it needs 2 of 1 places, which can never be', () => when.count(2, [door])],
  ['it needs 0', () => when.count(0, [door])],
  ['it names no place to look at', () => when.count(1, [])],
  ['it names "door" twice', () => when.count(1, [door, door])],
  ['by is "once"', () => when.count(1, [door], { by: 'once' as never })],
  ["names that begin with '__' are reserved", () => when.count(1, [door], { name: '__timeout' })],
  ['it is 5 levels deep', () => when.every([when.every([when.every([when.every([when.every([door])])])])])],
  ['unknown key "name"', () => when.every([door], { name: 'x' } as never)],
])('refuses when it is made what could never be met: %s', (text, make) => {
  expect(make).toThrow(text)
})

test('answers with the signals that counted, whichever way it ended', async () => {
  const { answer } = when.every([signal('paid'), door])[WAITABLE]

  expect(await answer(outcome('satisfied', paid))).toEqual({ ok: true, signals: [paid], at: 9 })
  expect(await answer(outcome('timed_out', paid))).toEqual({ ok: false, reason: 'timed_out', signals: [paid], at: 9 })
  expect(await answer(outcome('operator'))).toMatchObject({
    ok: false,
    reason: 'resumed',
    by: { type: 'operator', identity: 'eve' },
    note: 'by phone',
    signals: [],
  })
})

test('an operator is waited for with a condition that no signal meets', async () => {
  const wait = when.operator({ timeout: '3d', onTimeout: 'fail' })

  expect(wait[WAITABLE].plan('check')).toMatchObject({
    nodes: [{ kind: 'operator', targets: [] }],
    opens: [],
    reason: 'operator_review',
    onTimeout: 'fail',
  })
  expect(await wait[WAITABLE].answer(outcome('operator'))).toEqual({
    ok: true,
    by: { type: 'operator', identity: 'eve' },
    note: 'by phone',
    at: 9,
  })
  expect(await wait[WAITABLE].answer(outcome('timed_out'))).toEqual({ ok: false, reason: 'timed_out', at: 9 })
})

test('the types of answers list the possible reasons', () => {
  expectTypeOf(when.every([door])).toExtend<Waitable<ConditionAnswer>>()
  expectTypeOf(when.operator()).toEqualTypeOf<Waitable<OperatorAnswer>>()
  expectTypeOf<Extract<ConditionAnswer, { ok: false }>['reason']>().toEqualTypeOf<'timed_out' | 'resumed'>()
})
