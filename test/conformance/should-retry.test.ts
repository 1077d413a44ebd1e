/** A function of the handler or of a step decides whether an error is retried. */
import { expect, test } from 'vitest'
import { CategorisedError, StepFailedError, task } from '../../src/client/index.ts'
import type { Handler } from '../../src/client/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const retry = { attempts: 3, backoff: { kind: 'fixed', delay: 0 }, jitter: false } as const
const charge = task<null, string>('charge', { retry })

class Declined extends Error {}

conforms('shouldRetry', ({ fabric }) => {
  async function endOf(handler: Handler) {
    await using working = new Working(fabric)
    working.work([handler])
    const execution = await working.until(working.client.submit(charge, null))
    await working.until(execution.wait())
    const { state, failureCount, failure } = await execution.describe()
    return { state, failureCount, category: failure?.category, message: failure?.message }
  }

  test('of a handler makes a failure permanent with false, and leaves others to the policy', async () => {
    const options = { shouldRetry: (error: unknown) => !(error instanceof Declined) }

    const declined = await endOf(charge.handle(options, () => Promise.reject(new Declined('no money'))))
    const failed = await endOf(charge.handle(options, () => Promise.reject(new CategorisedError('net', 'no line'))))

    expect(declined).toEqual({ state: 'failed', failureCount: 1, category: 'permanent', message: 'no money' })
    expect(failed).toEqual({ state: 'failed', failureCount: 3, category: 'net', message: 'no line' })
  })

  test('of a step ends its tries, and the execution with them', async () => {
    const tries: number[] = []
    const seen: unknown[] = []
    const handler = charge.handle(async (_, ctx) => {
      const options = {
        retry: { ...retry, attempts: 5, shouldRetry: (error: unknown) => !(error instanceof Declined) },
      }
      try {
        return await ctx.step('book', options, ({ attempt }) => {
          tries.push(attempt)
          throw attempt < 3 ? new Error('no line') : new Declined('no money')
        })
      } catch (error) {
        if (error instanceof StepFailedError) seen.push(error.category)
        throw error
      }
    })

    expect(await endOf(handler)).toMatchObject({ state: 'failed', failureCount: 1, category: 'permanent' })
    expect([tries, seen]).toEqual([[1, 2, 3], ['permanent']])
  })

  test('that throws is recorded as the failure, and the policy applies', async () => {
    const shouldRetry = () => {
      throw new TypeError('cannot tell')
    }

    const end = await endOf(charge.handle({ shouldRetry }, () => Promise.reject(new Declined('no money'))))

    expect(end).toEqual({ state: 'failed', failureCount: 3, category: 'error', message: 'cannot tell' })
  })

  test('is refused where it would be stored, and if it is no function', () => {
    expect(() => task('stored', { retry: { attempts: 2, shouldRetry: () => false } as never })).toThrow(
      'pass the function to task.handle({ shouldRetry }, …)',
    )
    expect(() => charge.handle({ shouldRetry: 'never' as never }, () => 'done')).toThrow('shouldRetry is "never"')
  })
})
