/** A worker that stops decides nothing about the executions that it runs. */
import { expect, test } from 'vitest'
import { PermanentError, task } from '../../src/client/index.ts'
import type { TaskContext } from '../../src/client/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const work = task<null, string>('work', { retry: { attempts: 3 } })
const timed = task<null, string>('timed', {
  timeout: { attempt: '1s' },
  retry: { attempts: 2, backoff: { kind: 'fixed', delay: '1s' }, jitter: false },
})

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

const deliveries = [
  { how: 'its signal', learn: ({ signal }: TaskContext) => aborted(signal) },
  { how: 'a step', learn: (ctx: TaskContext) => ctx.step('held', ({ signal }) => aborted(signal)) },
] as const

const reactions = [
  { what: 'returns a fallback', react: () => 'fallback' },
  {
    what: 'throws a permanent error',
    react: () => {
      throw new PermanentError('gave up')
    },
  },
] as const

const cases = deliveries.flatMap((delivery) => reactions.map((reaction) => ({ ...delivery, ...reaction })))

conforms('a handler that learns that it must stop', ({ fabric }) => {
  test.each(cases)('by $how, and $what, is released and runs elsewhere', async ({ learn, react }) => {
    await using working = new Working(fabric)
    const started = Promise.withResolvers<undefined>()
    const worker = working.work([
      work.handle(async (_, ctx) => {
        await ctx.step('before', () => 1)
        started.resolve(undefined)
        return await learn(ctx).then(() => 'in time', react)
      }),
    ])
    const execution = await working.until(working.client.submit(work, null))
    await working.until(started.promise)

    const summary = await working.until(worker.close({ drain: 0 }))

    expect(summary).toEqual({ finished: 0, released: 1, abandoned: 0 })
    expect(await execution.describe()).toMatchObject({ state: 'waiting', failureCount: 0 })
    working.work([work.handle(async (_, ctx) => `${await ctx.step('before', () => 2)} in attempt ${ctx.attempt}`)])
    expect(await working.until(execution.result())).toBe('1 in attempt 1')
  })

  test.each(reactions)('by its timeout, and $what, is retried as after a timeout', async ({ react }) => {
    await using working = new Working(fabric)
    working.work([
      timed.handle((_, ctx) =>
        ctx.failureCount === 0 ? aborted(ctx.signal).then(() => 'in time', react) : Promise.resolve('second'),
      ),
    ])

    const execution = await working.until(working.client.submit(timed, null))

    expect(await working.until(execution.result())).toBe('second')
    const { attempts } = await execution.describe()
    expect(attempts).toMatchObject([
      { outcome: 'timed_out', failure: { category: 'timeout' } },
      { outcome: 'completed' },
    ])
  })

  test.each(reactions)('by its lost lease, and $what, reports nothing', async ({ react }) => {
    await using working = new Working(fabric)
    const started = Promise.withResolvers<undefined>()
    const reacted = Promise.withResolvers<undefined>()
    working.work([
      work.handle(async (_, ctx) => {
        if (ctx.attempt > 1) return 'second'
        started.resolve(undefined)
        return await aborted(ctx.signal).catch(() => {
          reacted.resolve(undefined)
          return react()
        })
      }),
    ])
    const execution = await working.until(working.client.submit(work, null))
    await working.until(started.promise)

    await working.until(working.client.revokeLease(execution.id, 'test'))
    await working.until(reacted.promise)

    expect(await working.until(execution.result())).toBe('second')
    expect(await execution.describe()).toMatchObject({ failureCount: 0 })
  })
})
