import { describe, expect, test } from 'vitest'
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
