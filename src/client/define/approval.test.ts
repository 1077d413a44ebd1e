import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { approval } from './approval.ts'
import type { ApprovalAnswer } from './approval.ts'
import { WAITABLE } from './waitable.ts'
import type { ReceivedSignal, WaitOutcome, Waitable } from './waitable.ts'

function vote(name: string, identity: string, value?: unknown): ReceivedSignal {
  return { name, waitpoint: 'review', value, by: { type: 'token', identity }, at: 5, sequence: 1 }
}

function outcome(how: WaitOutcome['how'], ...signals: ReceivedSignal[]): WaitOutcome {
  return { how, by: undefined, reason: undefined, at: 9, signals }
}

test('one approval is enough and one rejection too many, at a waitpoint of the name of the wait', () => {
  const leaf = { kind: 'leaf', parent: 0, need: 1, by: 'sources', from: [], targets: ['review#2'] }

  expect(approval()[WAITABLE].plan('review#2')).toMatchObject({
    nodes: [
      { kind: 'group', parent: undefined, need: 1 },
      { ...leaf, name: 'approve' },
      { ...leaf, name: 'reject' },
    ],
    opens: ['review#2'],
    reason: 'approval',
  })
})

test('asks as many as are needed of those that are named, at a waitpoint that exists', () => {
  const options = { need: 2, of: ['ada', 'bob', 'eve'], rejections: 3, on: { key: 'links' }, timeout: '3d' } as const
  const { plan } = approval(options)[WAITABLE]

  expect(plan('review')).toMatchObject({
    nodes: [
      { kind: 'group' },
      { name: 'approve', need: 2, by: 'sources', from: ['ada', 'bob', 'eve'], targets: ['links'] },
      { name: 'reject', need: 3, by: 'sources', from: ['ada', 'bob', 'eve'], targets: ['links'] },
    ],
    opens: [],
    timeoutMs: 259_200_000,
  })
})

test('counts every vote if they need not be distinct, also more than there are voters', () => {
  const { nodes } = approval({ need: 3, of: ['ada', 'bob'], distinct: false })[WAITABLE].plan('review')

  expect(nodes[1]).toMatchObject({ need: 3, by: 'signals', from: ['ada', 'bob'] })
})

test.each<[string, unknown]>([
  ['need is 3, but `of` names only 2: ask more people, or lower need', { need: 3, of: ['ada', 'bob'] }],
  ['rejections is 3, but `of` names only 2', { rejections: 3, of: ['ada', 'bob'] }],
  ['need is 0, but must be a whole number of at least 1', { need: 0 }],
  ['it needs 101, but that must be a whole number from 1 to 100', { need: 101 }],
  ['its parts need 101 signals together', { need: 100 }],
  ['of names "ada" twice', { of: ['ada', 'ada'] }],
  ['of[0] is ""', { of: [''] }],
  ['distinct is "yes"', { distinct: 'yes' }],
  ['answer is 7', { answer: 7 }],
  ['on is "links", but must be a waitpoint that ctx.waitpoint(…) returned', { on: 'links' }],
  ['on.key is "@links"', { on: { key: '@links' } }],
  ['unknown key "voters"', { voters: 2 }],
  ['set one, such as timeout', { onTimeout: 'fail' }],
])('refuses when it is made what could never be decided: %s', (text, options) => {
  expect(() => approval(options as never)).toThrow(text)
})

test('a wait is refused if its name cannot be the key of a waitpoint', () => {
  expect(() => approval()[WAITABLE].plan('@review')).toThrow('name of the wait is "@review"')
})

test('approved: the approving votes, each with who and when', async () => {
  const { answer } = approval({ need: 2, rejections: 2 })[WAITABLE]

  const votes = [vote('approve', 'ada', 'fine'), vote('reject', 'bob'), vote('approve', 'eve')]
  expect(await answer(outcome('satisfied', ...votes))).toEqual({
    ok: true,
    at: 9,
    votes: [
      { verdict: 'approve', by: { type: 'token', identity: 'ada' }, at: 5, value: 'fine' },
      { verdict: 'approve', by: { type: 'token', identity: 'eve' }, at: 5, value: undefined },
    ],
  })
})

test('what was decided stays so when the handler asks for another number of votes by now', async () => {
  const approved = [vote('approve', 'ada'), vote('approve', 'bob')]
  const rejected = [...approved, vote('reject', 'eve')]

  expect(await approval({ need: 3 })[WAITABLE].answer(outcome('satisfied', ...approved))).toMatchObject({ ok: true })
  expect(await approval({ need: 1 })[WAITABLE].answer(outcome('satisfied', ...rejected))).toMatchObject({
    ok: false,
    reason: 'rejected',
  })
})

test('rejected, out of time and ended by an operator: all votes that counted', async () => {
  const { answer } = approval({ need: 2 })[WAITABLE]
  const votes = [vote('approve', 'ada'), vote('reject', 'bob', 'too early')]

  expect(await answer(outcome('satisfied', ...votes))).toMatchObject({
    ok: false,
    reason: 'rejected',
    votes: [
      { verdict: 'approve', by: { identity: 'ada' } },
      { verdict: 'reject', by: { identity: 'bob' }, value: 'too early' },
    ],
  })
  expect(await answer(outcome('timed_out', vote('approve', 'ada'), vote('timeout', 'engine')))).toMatchObject({
    ok: false,
    reason: 'timed_out',
    votes: [{ by: { identity: 'ada' } }],
  })
  expect(await answer({ ...outcome('operator'), by: 'eve', reason: 'decided by phone' })).toEqual({
    ok: false,
    reason: 'resumed',
    at: 9,
    votes: [],
    by: { type: 'operator', identity: 'eve' },
    note: 'decided by phone',
  })
})

test('values of approvals are validated, values of rejections are not', async () => {
  const { answer } = approval({ need: 1, answer: z.object({ grade: z.number() }) })[WAITABLE]

  expect(await answer(outcome('satisfied', vote('approve', 'ada', { grade: 1 })))).toMatchObject({ ok: true })
  expect(await answer(outcome('satisfied', vote('reject', 'ada', 'no')))).toMatchObject({ reason: 'rejected' })
  const invalid = await answer(outcome('satisfied', vote('approve', 'ada', { grade: 'a' })))
  expect(invalid).toMatchObject({ ok: false, reason: 'invalid_answer', votes: [{ value: { grade: 'a' } }] })
  expect(invalid).toHaveProperty('message', expect.stringMatching(/^ada\.grade: /))
})

test('the types of votes follow from the schema of answers', () => {
  const typed = approval({ answer: z.object({ grade: z.string().transform(Number) }) })

  expectTypeOf(typed).toEqualTypeOf<Waitable<ApprovalAnswer<{ grade: number }>>>()
  expectTypeOf(approval()).toEqualTypeOf<Waitable<ApprovalAnswer>>()
  expectTypeOf<Extract<ApprovalAnswer, { ok: false }>['reason']>().toEqualTypeOf<
    'rejected' | 'timed_out' | 'resumed' | 'invalid_answer'
  >()
})
