/** Names of steps up to 512 bytes are stored as they are; longer ones as their beginning and a hash. */
import { expect, test } from 'vitest'
import { signal, task } from '../../src/client/index.ts'
import { STEP_NAME_BYTES } from '../../src/kernel/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const read = task<null, number[]>('read', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } } })

const LONGEST = 'é'.repeat(STEP_NAME_BYTES / 2)
const FIRST = `https://shop.example/${'a'.repeat(2_000)}?page=1`
const SECOND = `https://shop.example/${'a'.repeat(2_000)}?page=2`

conforms('a long name of a step', ({ fabric }) => {
  test('is stored whole or with a visible hash, is found again, and can be replayed from', async () => {
    await using working = new Working(fabric)
    const runs: string[] = []
    working.work([
      read.handle(async (_, ctx) => {
        const values: number[] = []
        for (const name of [LONGEST, FIRST, SECOND, FIRST])
          values.push(await ctx.step(name, (step) => runs.push(step.name)))
        await ctx.sleep(FIRST, '1ms')
        await ctx.waitFor(FIRST, signal('go', { timeout: '1ms' }))
        if (ctx.failureCount === 0 && ctx.attemptKind !== 'replay') throw new Error('once more')
        return values
      }),
    ])
    const execution = await working.until(working.client.submit(read, null))

    expect(await working.until(execution.result())).toEqual([1, 2, 3, 4])
    const [longest = '', first = '', second = '', again = ''] = runs
    expect(runs).toHaveLength(4)
    expect(longest).toBe(LONGEST)
    expect(first).toMatch(/^https:\/\/shop\.example\/a+~[0-9a-f]{32}$/)
    expect(Buffer.byteLength(first)).toBe(STEP_NAME_BYTES)
    expect(second).not.toBe(first)
    expect(again).toBe(`${first}#2`)

    await execution.replay({ from: { step: `${FIRST}#2` } })
    expect(await working.until(execution.result())).toEqual([1, 2, 3, 5])
  })
})
