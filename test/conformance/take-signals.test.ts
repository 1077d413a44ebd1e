/** An inbox takes the signals of a mailbox one after the other, under the fence, and leaves what the handler is not done with. */
import { expect, test } from 'vitest'
import { LEASE_TTL_MS, fixedRetry, transientFailure } from './given.ts'
import type { Held } from './given.ts'
import { one } from './condition-nodes.ts'
import { conforms } from './harness.ts'

conforms('takeSignals', ({ fabric, given, journal, clock }) => {
  const take = async (held: Held, takenTo: number, limit = 1) => {
    const { result, blobs } = await fabric.reply('takeSignals', { ...held, name: 'say', takenTo, limit })
    if (result.kind === 'refused') return result.code
    return result.signals.map(({ signal, payloadBlob }) => [
      signal.sequence,
      payloadBlob === undefined ? undefined : blobs[payloadBlob]?.[0],
    ])
  }
  const say = (held: Held, byte: number) => journal.signal(held, '@say', { name: 'say', bytes: Uint8Array.of(byte) })

  test('of a mailbox without signals returns nothing and writes nothing', async () => {
    const held = await given.activeExecution()

    expect(await take(held, 0)).toEqual([])
    expect((await fabric.look(held.executionId)).journal).toBeUndefined()
  })

  test('returns signals in order, each until the handler is done with it', async () => {
    const held = await given.activeExecution()
    for (const byte of [10, 20, 30]) await say(held, byte)

    expect(await take(held, 0)).toEqual([[1, 10]])
    expect(await take(held, 0)).toEqual([[1, 10]])
    expect(await take(held, 1)).toEqual([[2, 20]])
    expect(await take(held, 1)).toEqual([[2, 20]])
    expect(await take(held, 2, 0)).toEqual([])
    expect(await take(held, 0, 5)).toEqual([[3, 30]])
    expect(await take(held, 3)).toEqual([])
    expect(await journal.journal(held)).toMatchObject({ bufferedCount: 0, signalCount: 3 })
  })

  test('gives a retry what the attempt before was not done with, and nothing else', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    for (const byte of [10, 20]) await say(held, byte)
    await take(held, 0)
    await take(held, 1)
    await fabric.run('failExecution', { ...held, ...transientFailure })
    await say(held, 30)
    const next = await given.claimOf(held)

    expect(await take(held, 2)).toBe('stale_lease')
    expect(await take(next, 0)).toEqual([[2, 20]])
    expect(await take(next, 2)).toEqual([[3, 30]])
  })

  test('takes nothing for a holder whose lease is over', async () => {
    const held = await given.activeExecution()
    await say(held, 10)
    clock.advance(LEASE_TTL_MS)

    expect(await take(held, 1)).toBe('lease_expired')
    await fabric.duePass()
    expect(await take(await given.claimOf(held), 0)).toEqual([[1, 10]])
  })

  test('and a wait count each signal once between them', async () => {
    const held = await given.activeExecution()
    for (const byte of [10, 20]) await say(held, byte)
    await take(held, 1)

    expect(await journal.wait(held, { for: one('@say'), opens: [] })).toMatchObject({
      kind: 'answered',
      step: { wait: { satisfiers: [2] } },
    })
    expect(await take(held, 0)).toEqual([])
  })

  test('a repeated signal is not given again after it was taken', async () => {
    const held = await given.activeExecution()
    const key = { key: 'the same', name: 'say' }
    await journal.signal(held, '@say', key)
    await take(held, 1)
    expect(await journal.signal(held, '@say', key)).toMatchObject({ kind: 'duplicate', sequence: 1 })

    expect(await take(held, 0)).toEqual([])
  })
})
