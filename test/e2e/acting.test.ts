import { describe, expect, test, vi } from 'vitest'
import { createFabric, task } from '../../src/index.ts'
import { errorIn, workplace } from './workplace.ts'

describe('cancel', () => {
  test('ends an execution that is not running, and reports a repeated cancel', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet', '--id', 'a'])

    const first = await place.json('cancel', 'a', '--reason', 'no longer needed')
    const again = await place.json('cancel', 'a')
    const text = await place.run(['cancel', 'a'])

    expect(first).toEqual({ id: expect.stringMatching(/^0-/) as unknown, kind: 'cancelled' })
    expect(again).toMatchObject({ kind: 'already_cancelled' })
    expect(text).toMatchObject({ code: 0, stdout: expect.stringContaining('was cancelled already') as unknown })
    expect(await place.json('show', 'a')).toMatchObject({ state: 'cancelled', reason: 'no longer needed', by: 'cli' })
  })

  test('of a parked handler with steps prints that it undoes them, and until when', async () => {
    const place = await workplace()
    const trip = task('trip')
    {
      await using fabric = await createFabric(`sqlite:${place.path('flowfabric.db')}`, { log: 'silent' })
      await using _worker = await fabric.work([
        trip.handle(async (_, ctx) => {
          await ctx.step('book', () => 'seat 12')
          await ctx.sleep('until departure', '7d')
        }),
      ])
      const parked = await fabric.submit(trip, null, { id: 'trip' })
      await vi.waitFor(async () => expect(await parked.state()).toBe('suspended'), { timeout: 60_000 })
    }

    const cancelled = await place.run(['cancel', 'trip', '--reason', 'rain'])
    const why = await place.run(['why', 'trip'])

    expect(cancelled.stdout).toMatch(
      /^0-\S+ undoes its completed steps and ends then; if no worker does that, it ends by \S+ \(in 23h 59m\)\n$/,
    )
    expect(why.stdout).toContain('it ends when that is done, or at ')
  })

  test('refuses a bad grace with 2', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet', '--id', 'a'])
    const refused = await place.run(['cancel', 'a', '--grace', 'soon', '--json'])
    expect(refused.code).toBe(2)
    expect(errorIn(refused).message).toContain('--grace')
  })
})

describe('replay', () => {
  test('makes an ended execution runnable again, up to its cap', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet', '--id', 'a'])

    const early = await place.run(['replay', 'a', '--json'])
    await place.run(['cancel', 'a'])
    const text = await place.run(['replay', 'a', '--reason', 'after all'])
    await place.run(['cancel', 'a'])
    const document = await place.json('replay', 'a')

    expect(early.code).toBe(1)
    expect(errorIn(early).code).toBe('execution_not_ended')
    expect(text.stdout).toMatch(/^0-.* runs again \(replay 1\)\n$/)
    expect(document).toMatchObject({ kind: 'replayed', replayCount: 2 })
    expect(await place.json('show', 'a')).toMatchObject({ state: 'waiting', replayCount: 2 })
  })
})
