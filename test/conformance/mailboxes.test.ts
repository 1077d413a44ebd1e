/** A mailbox keeps what no wait has counted: each wait takes what it asks for and leaves the rest to those that follow. */
import { expect, test } from 'vitest'
import { CONDITION_NEED_MAX } from '../../src/kernel/index.ts'
import { count, every, one } from './condition-nodes.ts'
import type { Asked } from './condition-nodes.ts'
import { forcedCancel } from './given.ts'
import type { Held } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('a mailbox', ({ fabric, given, journal }) => {
  const waitFor = (held: Held, name: string, asked: Asked) => journal.wait(held, { name, for: asked, opens: [] })
  const kept = async (held: Held) =>
    (await journal.signals(held)).filter(({ isWaiting }) => isWaiting).map(({ sequence }) => sequence)

  test('is left with what a wait has no use for beside what it counts, for one wait after the other', async () => {
    const held = await given.activeExecution()
    for (let i = 0; i < 4; i++) await journal.signal(held, '@msg', { name: 'msg' })

    await waitFor(held, 'both', every(one('@msg'), one('@go')))
    expect(await kept(held)).toEqual([2, 3, 4])
    expect(await journal.waitpoint(held, '@msg')).toMatchObject({ bufferedCount: 3, openedAfter: 0 })
    expect(await journal.effect(held, '@go')).toBe('resumed')
    expect((await journal.step(held, 'both')).wait).toMatchObject({ satisfiers: [1, 5], closer: 5 })

    const next = await given.claimOf(held)
    for (const [name, sequence] of [
      ['second', 2],
      ['third', 3],
      ['fourth', 4],
    ] as const) {
      const wait = { satisfiers: [sequence], closer: sequence }
      expect(await waitFor(next, name, one('@msg'))).toMatchObject({ kind: 'answered', step: { wait } })
    }
    expect(await kept(held)).toEqual([])
    expect(await journal.journal(held)).toMatchObject({ bufferedCount: 0 })
    expect(await waitFor(next, 'fifth', one('@msg'))).toMatchObject({ kind: 'suspended' })
  })

  test('is left with the signals of those whom a wait does not ask', async () => {
    const held = await given.activeExecution()
    for (const by of ['eve', 'ada', 'bob', 'ada']) await journal.signal(held, '@go', { by })

    expect(await waitFor(held, 'ada', count(1, ['@go'], { from: ['ada'] }))).toMatchObject({
      kind: 'answered',
      step: { wait: { satisfiers: [2] } },
    })
    expect(await kept(held)).toEqual([1, 3, 4])
    expect(await waitFor(held, 'any sender', count(3, ['@go']))).toMatchObject({
      step: { wait: { satisfiers: [1, 3, 4] } },
    })
  })

  test('is left with signals of another name, and with further ones of whom was counted', async () => {
    const held = await given.activeExecution()
    for (const [name, by] of [
      ['no', 'ada'],
      ['yes', 'ada'],
      ['yes', 'ada'],
      ['yes', 'bob'],
    ] as const)
      await journal.signal(held, '@vote', { name, by })

    const quorum = count(2, ['@vote'], { name: 'yes', by: 'sources' })
    expect(await waitFor(held, 'vote', quorum)).toMatchObject({ step: { wait: { satisfiers: [2, 4] } } })
    expect(await kept(held)).toEqual([1, 3])
  })

  test('keeps signals that do not count towards its wait, without waking the execution', async () => {
    const held = await given.activeExecution()
    await waitFor(held, 'ada', count(2, ['@go'], { from: ['ada', 'bob'], by: 'sources' }))
    const effects = []
    for (const by of ['eve', 'ada', 'ada', 'bob']) effects.push(await journal.effect(held, '@go', { by }))

    expect(effects).toEqual(['buffered', 'counted', 'buffered', 'resumed'])
    expect(await kept(held)).toEqual([1, 3])
    expect(await journal.journal(held)).toMatchObject({ bufferedCount: 2 })
    const next = await given.claimOf(held)
    expect(await waitFor(next, 'rest', count(2, ['@go']))).toMatchObject({ step: { wait: { satisfiers: [1, 3] } } })
  })

  test('keeps its signals through an end and a replay, and those that were counted stay with their wait', async () => {
    const held = await given.activeExecution()
    await journal.signal(held, '@go')
    await journal.signal(held, '@go')
    await waitFor(held, 'first', one('@go'))
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    await fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId() })
    const next = await given.claimOf(held)

    expect(await waitFor(next, 'first', one('@go'))).toMatchObject({ step: { wait: { satisfiers: [1] } } })
    expect(await waitFor(next, 'second', one('@go'))).toMatchObject({ step: { wait: { satisfiers: [2] } } })
  })

  test('what a refused wait would have counted stays', async () => {
    const held = await given.activeExecution()
    await journal.signal(held, '@go')

    expect((await refusal(fabric, () => waitFor(held, 'x', every(one('@go'), one('nowhere'))))).code).toBe(
      'waitpoint_not_found',
    )
    expect(await kept(held)).toEqual([1])
  })

  test('gives as many at once as one condition may ask for', async () => {
    const held = await given.activeExecution()
    const sent = Array.from({ length: CONDITION_NEED_MAX + 1 }, () => journal.effect(held, '@go'))
    expect(new Set(await Promise.all(sent))).toEqual(new Set(['buffered']))

    expect(await waitFor(held, 'many', count(CONDITION_NEED_MAX, ['@go']))).toMatchObject({
      kind: 'answered',
      step: { wait: { closer: CONDITION_NEED_MAX } },
    })
    expect(await kept(held)).toEqual([CONDITION_NEED_MAX + 1])
  })
})
