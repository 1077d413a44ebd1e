/**
 * Calls a model inside the budgets of an execution: reserves before the call, and settles by the usage that the reply reports. It
 * depends on no library of a provider: a reply is any object with the usual fields.
 */
import { invalidInput, show } from '../checks/names.ts'
import { checkSpending } from './budget.ts'
import type { Spending } from './budget.ts'
import type { SpendOptions, StepContext } from './context.ts'

/** The tokens that a reply of a model reports. */
export interface TokenUsage {
  /** What was read, cached parts included. */
  readonly input: number
  readonly output: number
  readonly total: number
}

/** What a million tokens cost, as `usd(…)` counts money. */
export interface TokenPrices {
  readonly input: number
  readonly output: number
}

export interface ModelCall<Reply> extends SpendOptions {
  /** What the call may take at most, such as the length of its prompt and its longest answer. */
  readonly reserve: Spending
  readonly call: () => PromiseLike<Reply> | Reply
  /**
   * Returns what the call took. Unless given, the tokens that `tokenUsage` finds. If it returns undefined, the whole reservation
   * counts, because the call was made.
   */
  readonly spent?: (reply: Reply) => Spending | undefined
}

/** Where providers report usage: names of the fields for what was read, what was written and both. */
const SHAPES = [
  // OpenAI, chat completions.
  { at: 'usage', input: ['prompt_tokens'], output: 'completion_tokens' },
  // OpenAI, responses; and Anthropic, which counts cached parts apart.
  {
    at: 'usage',
    input: ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
    output: 'output_tokens',
  },
  { at: 'usage', input: ['inputTokens'], output: 'outputTokens' },
  { at: 'usageMetadata', input: ['promptTokenCount'], output: 'candidatesTokenCount' },
] as const

const TOTALS = ['total_tokens', 'totalTokens', 'totalTokenCount']
const MILLION = 1_000_000

/**
 * Calls a model inside the budgets of an execution. Reserves, calls, and settles by what the reply reports. If the call throws, the
 * reservation is released. Throws a `BudgetExceededError` if a budget has no room, as `reserve` does. Call it in a step, so that
 * the reply is recorded.
 *
 * @example
 * const reply = await ctx.step('write', (step) =>
 *   callModel(step, {
 *     reserve: { tokens: 4_000 },
 *     call: () => openai.chat.completions.create({ model, messages, max_tokens: 2_000 }, { signal: step.signal }),
 *   }),
 * )
 */
export async function callModel<Reply>(
  step: Pick<StepContext, 'reserve'>,
  { reserve, call, spent = tokensIn, key }: ModelCall<Reply>,
): Promise<Reply> {
  const reserved = await step.reserve(reserve, key === undefined ? {} : { key })
  let reply: Reply
  try {
    reply = await call()
  } catch (error) {
    await reserved.release()
    throw error
  }
  await reserved.settle(spendingOf(reply, spent) ?? reserve)
  return reply
}

/** The call was made, so that it counts although its usage cannot be read. */
function spendingOf<Reply>(reply: Reply, spent: (reply: Reply) => Spending | undefined): Spending | undefined {
  try {
    const spending = spent(reply)
    if (spending !== undefined) checkSpending(spending, 'spent')
    return spending
  } catch {
    return undefined
  }
}

function tokensIn(reply: unknown): Spending | undefined {
  const usage = tokenUsage(reply)
  return usage === undefined ? undefined : { tokens: usage.total }
}

/** Returns the tokens that a reply of OpenAI, Anthropic or Gemini reports, or of a library with the same fields; undefined if there are none. */
export function tokenUsage(reply: unknown): TokenUsage | undefined {
  for (const { at, input: names, output: name } of SHAPES) {
    const usage = isObject(reply) ? reply[at] : undefined
    if (!isObject(usage)) continue
    const [first, ...cached] = names.map((each) => countIn(usage, each))
    const written = countIn(usage, name)
    if (first === undefined && written === undefined) continue
    const input = [first, ...cached].reduce<number>((sum, each) => sum + (each ?? 0), 0)
    const total = TOTALS.map((each) => countIn(usage, each)).find((each) => each !== undefined) ?? 0
    // A total beyond both has hidden output, such as the thoughts of a model.
    const output = Math.max(written ?? 0, total - input)
    return { input, output, total: input + output }
  }
  return undefined
}

/**
 * Returns a function for `spent`: the tokens that a reply reports, and what they cost.
 *
 * @example
 * const spent = tokenCost({ input: usd(3), output: usd(15) })
 */
export function tokenCost(prices: TokenPrices): (reply: unknown) => Spending | undefined {
  for (const [name, price] of Object.entries({ input: prices.input, output: prices.output })) {
    if (Number.isFinite(price) && price >= 0) continue
    throw invalidInput(`prices.${name}`, `prices.${name} is ${show(price)}, but must be a price such as usd(3).`)
  }
  return (reply) => {
    const usage = tokenUsage(reply)
    if (usage === undefined) return undefined
    const cost = (usage.input * prices.input + usage.output * prices.output) / MILLION
    return { tokens: usage.total, cost: Math.ceil(cost) }
  }
}

function countIn(usage: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = usage[name]
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
