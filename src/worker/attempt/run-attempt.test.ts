import { expect, test } from 'vitest'
import { z } from 'zod'
import { CategorisedError, PermanentError, PostponeError, RetryAfterError, task } from '../../client/index.ts'
import type { ExecutionDescription, Task } from '../../client/index.ts'
import { FAILURE_MESSAGE_BYTES, RESULT_BYTES, STACK_BYTES } from '../../kernel/index.ts'
import { createWorld } from '../worker.fixture.ts'

const retried = task('retried', {
  retry: { attempts: 3, backoff: { kind: 'fixed', delay: '1m' }, jitter: false },
})

/** Describes an execution after its handler has run. */
async function outcomeOf(
  run: () => unknown,
  of: Task<unknown, unknown, unknown, unknown> = retried,
): Promise<ExecutionDescription> {
  await using world = createWorld()
  world.work([of.handle(async () => run())])
  const execution = await world.fabric.submit(of, null)
  await world.settle()
  return await execution.describe()
}

test('an ordinary error fails the attempt, and the policy decides about another', async () => {
  const description = await outcomeOf(() => {
    throw new Error('the bank is closed')
  })

  expect(description).toMatchObject({
    state: 'delayed',
    failureCount: 1,
    failure: { category: 'error', message: 'the bank is closed' },
  })
  expect(description.failure?.stack).toContain('attempt.test.ts')
})

const revoked = Proxy.revocable({}, {})
revoked.revoke()

test.each([
  { what: 'a number', thrown: 5, message: '5' },
  { what: 'nothing', thrown: undefined, message: 'The handler threw undefined.' },
  { what: 'a symbol', thrown: Symbol('x'), message: '[object Symbol]' },
  { what: 'a revoked proxy', thrown: revoked.proxy, message: /cannot be converted|undefined/ },
  { what: 'a stack that is no text', thrown: Object.assign(new Error('odd'), { stack: null }), message: 'odd' },
  {
    what: 'a category that is no text',
    thrown: Object.assign(new CategorisedError('x', 'odd'), { category: 429 }),
    message: 'odd',
  },
  {
    what: 'a message that throws',
    thrown: Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('never')
      },
    }),
    message: /cannot be converted/,
  },
  {
    what: 'several errors',
    thrown: new AggregateError([new Error('a'), new Error('b')], 'all'),
    message: 'all (a; b)',
  },
  { what: 'an error of another realm', thrown: { name: 'Error', message: 'far', stack: 'there' }, message: 'far' },
])('a handler that throws $what has failed its attempt, and no more', async ({ thrown, message }) => {
  const description = await outcomeOf(() => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- handlers do
    throw thrown
  })

  expect(description).toMatchObject({ state: 'delayed', failureCount: 1, failure: { category: 'error' } })
  expect(description.failure?.message).toMatch(message)
})

test('an error is not given a category that is no text', () => {
  expect(() => new CategorisedError(429 as never, 'too many')).toThrow("'rate_limit'")
})

test('a permanent error ends the execution whatever retries remain', async () => {
  const description = await outcomeOf(() => {
    throw new PermanentError('no such account')
  })

  expect(description).toMatchObject({ state: 'failed', failure: { category: 'permanent', message: 'no such account' } })
})

test('an error that names a time is retried then', async () => {
  const description = await outcomeOf(() => {
    throw new RetryAfterError('17s', 'too many requests')
  })

  expect(description).toMatchObject({ state: 'delayed', failureCount: 1 })
  expect(description.delayedUntil! - description.changedAt).toBe(17_000)
})

test('a handler that postpones its work runs again later within the same attempt', async () => {
  await using world = createWorld()
  const attempts: number[] = []
  world.work([
    retried.handle((_, context) => {
      attempts.push(context.attempt)
      if (attempts.length === 1) throw new PostponeError('5s')
      return 'now'
    }),
  ])
  const execution = await world.fabric.submit(retried, null)
  await world.settle()
  expect(await world.stateOf(execution.id)).toBe('delayed')

  await world.advance(7_000)

  expect(attempts).toEqual([1, 1])
  expect(await execution.describe()).toMatchObject({ state: 'completed', failureCount: 0 })
})

test('an error may bring its own category', async () => {
  const description = await outcomeOf(() => {
    throw new CategorisedError('rate_limited', 'slow down')
  })

  expect(description.failure).toMatchObject({ category: 'rate_limited', message: 'slow down' })
})

test('the message includes the causes', async () => {
  const description = await outcomeOf(() => {
    throw new Error('no receipt', { cause: new Error('no answer', { cause: 'ECONNRESET' }) })
  })

  expect(description.failure?.message).toBe('no receipt: no answer: ECONNRESET')
})

test('message and stack are bounded and cut between characters', async () => {
  const description = await outcomeOf(() => {
    const error = new Error(`a${'ü'.repeat(5_000)}`)
    error.stack = `b${'ü'.repeat(50_000)}`
    throw error
  })

  const { message, stack } = description.failure!
  expect(Buffer.byteLength(message)).toBe(FAILURE_MESSAGE_BYTES - 1)
  expect(Buffer.byteLength(stack!)).toBe(STACK_BYTES - 1)
  expect(message + stack!).not.toContain('\ufffd')
})

test.each([
  [undefined, 'The handler threw undefined.'],
  [null, 'The handler threw null.'],
  ['text', 'text'],
  [{ code: 7 }, '{"code":7}'],
  [Symbol('odd'), '[object Symbol]'],
  [new TypeError(), 'TypeError'],
])('whatever is thrown has a message: %s', async (thrown, message) => {
  const description = await outcomeOf(() => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- handlers may throw anything, and some do
    throw thrown
  })

  expect(description.failure?.message).toBe(message)
})

test('a payload that does not fit the input schema is released with a delay, and the handler never runs', async () => {
  await using world = createWorld()
  const loose = task<unknown, string>('greet', { retry: { attempts: 5 } })
  const strict = task('greet', { input: z.object({ name: z.string() }), output: z.string() })
  let runs = 0
  world.work([strict.handle(({ name }) => (++runs, `Hello, ${name}`))])

  const execution = await world.fabric.submit(loose, { name: 7 })
  await world.settle()

  const description = await execution.describe()
  expect(description).toMatchObject({ state: 'delayed', failureCount: 0, refusals: { count: 1, builds: ['unnamed'] } })
  expect(description.refusals?.reason).toContain('input.name')
  expect(world.linesOf('warn')).toMatchObject([
    { message: expect.stringContaining('does not fit the schema') as string },
  ])
  await world.advance(60 * 60_000)
  const { state, failure } = await execution.describe()
  expect([state, failure?.category]).toEqual(['failed', 'input_refused'])
  expect(runs).toBe(0)
})

test('a schema that throws refuses the payload too', async () => {
  await using world = createWorld()
  const broken = z.unknown().transform((value) => (value as { deep: { name: string } }).deep.name)
  world.work([task('greet', { input: broken }).handle((name) => name)])

  const execution = await world.fabric.submit(task('greet'), {})
  await world.settle()

  expect((await execution.describe()).refusals?.reason).toContain('input: ')
})

test('the handler sees what the input schema makes of the payload', async () => {
  await using world = createWorld()
  const parsed = task('parsed', {
    input: z.object({ at: z.coerce.number(), unit: z.string().default('s') }),
    output: z.string(),
  })
  world.work([parsed.handle(({ at, unit }) => `${at + 1}${unit}`)])

  const execution = await world.fabric.submit(parsed, { at: '41' })

  expect(await execution.result()).toBe('42s')
})

test('a result that does not fit the output schema is a failure that the retry policy judges', async () => {
  const strict = task('strict', {
    output: z.object({ text: z.string() }),
    retry: { attempts: 2, backoff: 'fixed', jitter: false },
  })
  const description = await outcomeOf(() => ({ text: 1 }), strict)

  expect(description).toMatchObject({ state: 'delayed', failure: { category: 'invalid_output' } })
  expect(description.failure?.message).toContain('result.text')
})

test('no result does not fit an output schema that wants one', async () => {
  const strict = task('strict', { output: z.string() })

  expect(await outcomeOf(() => undefined, strict as unknown as typeof retried)).toMatchObject({ state: 'failed' })
})

test('a result over the limit fails permanently with a message that names it', async () => {
  const description = await outcomeOf(() => 'x'.repeat(RESULT_BYTES))

  expect(description).toMatchObject({ state: 'failed', failure: { category: 'permanent' } })
  expect(description.failure?.message).toContain(`the limit is ${RESULT_BYTES}`)
})

test('a result that cannot be written as JSON fails for good', async () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular

  expect(await outcomeOf(() => circular)).toMatchObject({ state: 'failed', failure: { category: 'permanent' } })
  expect(await outcomeOf(() => 1n)).toMatchObject({ state: 'failed' })
})

test('bytes go in and out as bytes', async () => {
  await using world = createWorld()
  const reverse = task<Uint8Array, Uint8Array>('reverse')
  world.work([reverse.handle((bytes) => Uint8Array.from(bytes).reverse())])

  const execution = await world.fabric.submit(reverse, Uint8Array.of(0, 128, 255))

  expect([...(await execution.result())]).toEqual([255, 128, 0])
})
