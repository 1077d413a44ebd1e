import { expect, test } from 'vitest'
import { usd } from './budget.ts'
import type { Spending } from './budget.ts'
import { callModel, tokenCost, tokenUsage } from './model-call.ts'

/** A step whose reservations note what becomes of them. */
function stepThatNotes() {
  const notes: unknown[] = []
  const reserve = (spending: Spending, options: object = {}) => {
    notes.push(['reserve', spending, options])
    return Promise.resolve({
      settle: (spent: Spending) => {
        notes.push(['settle', spent])
        return Promise.resolve({ kind: 'spent' as const, hard: [], soft: [] })
      },
      release: () => {
        notes.push(['release'])
        return Promise.resolve()
      },
    })
  }
  return { notes, reserve }
}

test.each([
  ['OpenAI, chat', { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }, [10, 5, 15]],
  ['OpenAI, responses', { usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 } }, [7, 3, 10]],
  [
    'Anthropic with a cache',
    { usage: { input_tokens: 4, output_tokens: 6, cache_read_input_tokens: 20, cache_creation_input_tokens: 1 } },
    [25, 6, 31],
  ],
  ['a library', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }, [1, 2, 3]],
  [
    'Gemini with thoughts',
    { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 8, totalTokenCount: 23 } },
    [10, 13, 23],
  ],
])('reads the usage of %s', (_, reply, [input, output, total]) => {
  expect(tokenUsage(reply)).toEqual({ input, output, total })
})

test.each([
  undefined,
  null,
  'text',
  {},
  { usage: null },
  { usage: { input_tokens: -1 } },
  { usage: { prompt_tokens: '9' } },
])('finds no usage in %j', (reply) => {
  expect(tokenUsage(reply)).toBeUndefined()
})

test('money follows from the prices of a million tokens, rounded up', () => {
  const cost = tokenCost({ input: usd(3), output: usd(15) })

  expect(cost({ usage: { input_tokens: 1_000, output_tokens: 100 } })).toEqual({ tokens: 1_100, cost: usd(0.0045) })
  expect(tokenCost({ input: 1, output: 0 })({ usage: { input_tokens: 1 } })).toEqual({ tokens: 1, cost: 1 })
  expect(() => tokenCost({ input: Number.NaN, output: 1 })).toThrow('prices.input is NaN')
})

test('reserves, calls, and settles by the reply', async () => {
  const step = stepThatNotes()
  const reply = { usage: { prompt_tokens: 10, completion_tokens: 5 } }

  expect(await callModel(step, { reserve: { tokens: 100 }, key: 'draft', call: () => Promise.resolve(reply) })).toBe(
    reply,
  )
  expect(step.notes).toEqual([
    ['reserve', { tokens: 100 }, { key: 'draft' }],
    ['settle', { tokens: 15 }],
  ])
})

test.each<[string, ((reply: string) => Spending | undefined) | undefined]>([
  ['no usage', undefined],
  ['a mapping that finds none', () => undefined],
  ['a mapping that returns no number', () => ({ tokens: Number.NaN })],
  [
    'a mapping that throws',
    () => {
      throw new Error('an unknown shape')
    },
  ],
])('a reply with %s counts what was reserved', async (_, spent) => {
  const step = stepThatNotes()

  expect(
    await callModel(step, { reserve: { tokens: 100 }, call: () => 'text', ...(spent === undefined ? {} : { spent }) }),
  ).toBe('text')
  expect(step.notes.at(-1)).toEqual(['settle', { tokens: 100 }])
})

test('a call that throws gives its reservation back', async () => {
  const step = stepThatNotes()
  const call = () => Promise.reject(new Error('the model is not available'))

  await expect(callModel(step, { reserve: { tokens: 100 }, call })).rejects.toThrow('the model is not available')
  expect(step.notes.at(-1)).toEqual(['release'])
})
