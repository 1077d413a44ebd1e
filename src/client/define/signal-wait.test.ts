import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { signal } from './signal-wait.ts'
import type { SignalAnswer } from './signal-wait.ts'
import { WAITABLE } from './waitable.ts'
import type { ReceivedSignal, WaitOutcome, Waitable } from './waitable.ts'

const ada = { type: 'token', identity: 'ada' } as const
const paid: ReceivedSignal = { name: 'paid', waitpoint: undefined, value: { amount: 12 }, by: ada, at: 5, sequence: 1 }
const satisfied: WaitOutcome = { how: 'satisfied', by: undefined, reason: undefined, at: 6, signals: [paid] }

test('waits for one signal of its name at the mailbox of that name, and opens nothing', () => {
  expect(signal('paid', { from: ['ada'] })[WAITABLE].plan('payment')).toEqual({
    nodes: [{ kind: 'leaf', parent: undefined, need: 1, by: 'once', name: 'paid', from: ['ada'], targets: ['@paid'] }],
    opens: [],
    reason: 'signal',
    timeoutMs: undefined,
    onTimeout: 'resume',
    remindEveryMs: undefined,
    resumeDelayMs: undefined,
  })
})

test('has a timeout with its consequence, reminders and a delay before resuming', () => {
  const settings = { timeout: '3d', onTimeout: 'escalate', remind: '1d', resumeDelay: '5s' } as const

  expect(signal('paid', settings)[WAITABLE].plan('payment')).toMatchObject({
    timeoutMs: 259_200_000,
    onTimeout: 'escalate',
    remindEveryMs: 86_400_000,
    resumeDelayMs: 5_000,
  })
  expect(signal('paid', { timeout: 0, onTimeout: 'continue_with_signal' })[WAITABLE].plan('p')).toMatchObject({
    timeoutMs: 0,
    onTimeout: 'resume_with_signal',
  })
})

test.each<[string, string, unknown]>([
  ['signal name is ""', '', {}],
  ["names that begin with '__' are reserved", '__timeout', {}],
  ['unknown key "within"', 'paid', { within: '1h' }],
  ['timeout is "soon"', 'paid', { timeout: 'soon' }],
  ["set one, such as timeout: '3d'", 'paid', { onTimeout: 'fail' }],
  ['onTimeout is "resume", but must be one of continue', 'paid', { timeout: '1h', onTimeout: 'resume' }],
  ['remind is 10 ms, but must be from 1000', 'paid', { remind: 10 }],
  ['schema is 7', 'paid', { schema: 7 }],
  ['from is empty, so no signal would count', 'paid', { from: [] }],
])('refuses when it is made what it could not wait for: %s', (text, name, options) => {
  expect(() => signal(name, options as never)).toThrow(text)
})

test('answers with the value, and who sent it when', async () => {
  const answer = await signal('paid')[WAITABLE].answer(satisfied)

  expect(answer).toEqual({ ok: true, value: { amount: 12 }, name: 'paid', by: ada, at: 5 })
})

test('answers what its schema makes of the value', async () => {
  const schema = z.object({ amount: z.number().transform((amount) => `${amount} €`) })

  const answer = await signal('paid', { schema })[WAITABLE].answer(satisfied)

  expect(answer).toMatchObject({ ok: true, value: { amount: '12 €' } })
})

test('answers what is wrong with a value that its schema refuses', async () => {
  const answer = await signal('paid', { schema: z.object({ amount: z.string() }) })[WAITABLE].answer(satisfied)

  expect(answer).toMatchObject({ ok: false, reason: 'invalid_value', value: { amount: 12 }, by: ada, at: 5 })
  expect(answer).toHaveProperty('message', expect.stringMatching(/^paid\.amount: /))
})

test('answers that time is up, or that an operator ended the wait', async () => {
  const { answer } = signal('paid')[WAITABLE]

  expect(await answer({ ...satisfied, how: 'timed_out', signals: [] })).toEqual({
    ok: false,
    reason: 'timed_out',
    at: 6,
  })
  expect(await answer({ ...satisfied, how: 'operator', by: 'eve', reason: 'by phone', signals: [] })).toEqual({
    ok: false,
    reason: 'resumed',
    at: 6,
    by: { type: 'operator', identity: 'eve' },
    note: 'by phone',
  })
})

test('the types of an answer follow from the schema, or from a type parameter', () => {
  const typed = signal('paid', { schema: z.object({ amount: z.string().transform(Number) }), timeout: '1h' })

  expectTypeOf(typed).toExtend<Waitable<SignalAnswer<{ amount: number }>>>()
  expectTypeOf(signal<{ amount: number }>('paid')).toExtend<Waitable<SignalAnswer<{ amount: number }>>>()
  expectTypeOf(signal<{ at: Date }>('paid')).toExtend<Waitable<SignalAnswer<{ at: string }>>>()
  expectTypeOf(signal('paid')).toExtend<Waitable<SignalAnswer>>()
  expectTypeOf<Extract<SignalAnswer<string>, { ok: true }>['value']>().toEqualTypeOf<string>()
  expectTypeOf<Extract<SignalAnswer, { ok: false }>['reason']>().toEqualTypeOf<
    'timed_out' | 'resumed' | 'invalid_value'
  >()
})
