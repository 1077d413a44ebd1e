/** Conditions as they are asked for: several reviewers, several systems, quorums side by side, groups in groups. */
import { expect, test } from 'vitest'
import { CONDITION_DEPTH_MAX, OPEN_WAITPOINT_MAX } from '../../src/kernel/index.ts'
import { atLeast, count, either, every, one } from './condition-nodes.ts'
import type { Asked } from './condition-nodes.ts'
import { forcedCancel } from './given.ts'
import { conforms } from './harness.ts'

conforms('a condition', ({ fabric, given, flows, journal, clock }) => {
  test('two named signals at one place, in any order', async () => {
    const held = await journal.waiting({ for: every(one('reply', 'legal'), one('reply', 'finance')) })

    expect(await journal.effect(held, 'reply', { name: 'finance' })).toBe('counted')
    expect(await journal.effect(held, 'reply', { name: 'finance' })).toBe('counted_before')
    expect(await journal.effect(held, 'reply', { name: 'legal' })).toBe('resumed')
  })

  test('three systems, each with a place of its own', async () => {
    const places = ['build', 'scan', 'sign']
    const asked = every(...places.map((place) => one(place)))
    const held = await journal.waiting({ for: asked, opens: places })
    const effects = []
    for (const place of ['scan', 'build', 'scan', 'sign']) effects.push(await journal.effect(held, place))

    expect(effects).toEqual(['counted', 'counted', 'counted_before', 'resumed'])
    for (const place of places) expect(await journal.effect(held, place)).toBe('waitpoint_closed')
  })

  test('places count once each where places are counted', async () => {
    const places = ['a', 'b', 'c']
    const held = await journal.waiting({ for: count(2, places, { by: 'waitpoints' }), opens: places })

    expect(await journal.effect(held, 'a')).toBe('counted')
    expect(await journal.effect(held, 'a')).toBe('counted_before')
    expect(await journal.effect(held, 'c')).toBe('resumed')
  })

  test('two quorums side by side do not share their voters', async () => {
    const quorum = (name: string) => count(2, ['reply'], { name, by: 'sources' })
    const held = await journal.waiting({ for: every(quorum('safe'), quorum('cheap')) })
    const effects = []
    for (const [name, by] of [
      ['safe', 'ada'],
      ['cheap', 'ada'],
      ['safe', 'bob'],
      ['cheap', 'eve'],
    ] as const) {
      effects.push(await journal.effect(held, 'reply', { name, by }))
    }

    expect(effects).toEqual(['counted', 'counted', 'counted', 'resumed'])
  })

  test('groups in groups are met from the innermost to the root', async () => {
    let asked: Asked = every(one('reply', 'deep'), count(2, ['reply'], { name: 'vote', by: 'sources' }))
    for (let depth = 1; depth < CONDITION_DEPTH_MAX; depth++) asked = every(asked, one('reply', `level ${depth}`))
    const held = await journal.waiting({ for: asked })
    const effects = []
    for (const [name, by] of [
      ['level 3', 'ada'],
      ['vote', 'ada'],
      ['deep', 'ada'],
      ['level 1', 'ada'],
      ['vote', 'bob'],
      ['level 2', 'ada'],
    ] as const) {
      effects.push(await journal.effect(held, 'reply', { name, by }))
    }

    expect(effects).toEqual(['counted', 'counted', 'counted', 'counted', 'counted', 'resumed'])
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1, 2, 3, 4, 5, 6], closer: 6 })
  })

  test('some of several groups are enough where that was asked for', async () => {
    const part = (name: string) => every(one('reply', name), one('reply', `${name} too`))
    const held = await journal.waiting({ for: atLeast(2, [part('a'), part('b'), part('c')]) })
    const effects = []
    for (const name of ['a', 'b', 'c', 'c too', 'a too']) effects.push(await journal.effect(held, 'reply', { name }))

    expect(effects).toEqual(['counted', 'counted', 'counted', 'counted', 'resumed'])
  })

  test.each(['signal', 'timeout', 'operator', 'cancel', 'early'] as const)(
    'at as many places as there may be comes to its end by %s, in a later life as in the first',
    async (how) => {
      const places = Array.from({ length: OPEN_WAITPOINT_MAX }, (_, i) => `w${i}`)
      const submitted = await given.eligibleExecution()
      const { executionId } = submitted
      for (const life of [0, 1]) {
        const held = await given.claimOf(submitted, { leaseTtlMs: 600_000 })
        for (const place of how === 'early' ? places : []) {
          await journal.open(held, place)
          await journal.signal(held, place)
        }
        const input = { for: count(places.length, places, { by: 'waitpoints' }), opens: places, timeoutMs: 1_000 }
        const result = await journal.wait(held, input)
        expect(result.kind).toBe(how === 'early' ? 'answered' : 'suspended')
        if (how === 'signal') for (const place of places) await journal.signal(held, place)
        if (how === 'operator') await fabric.run('resumeExecution', { executionId, by: 'op' })
        clock.advance(how === 'timeout' ? 1_000 : 0)
        await flows.drain()
        const { state } = await journal.step(held, 'answer')
        expect(state.phase).toBe(how === 'cancel' ? 'open' : 'closed')
        await fabric.run('cancelExecution', { executionId, ...forcedCancel })
        expect((await journal.journal(held)).open).toEqual([])
        if (life === 0) await given.submit({ executionId, ifExists: 'replace' })
        await flows.drain()
      }
    },
  )

  test('consumes what came early at many mailboxes, in the order of arrival', async () => {
    const places = Array.from({ length: OPEN_WAITPOINT_MAX }, (_, i) => `@m${i}`)
    const held = await given.activeExecution()
    for (const place of places.toReversed()) await journal.signal(held, place)

    expect(await journal.wait(held, { for: count(3, places), opens: [] })).toMatchObject({
      kind: 'answered',
      step: { wait: { satisfiers: [1, 2, 3] } },
    })
    expect(await journal.journal(held)).toMatchObject({ bufferedCount: OPEN_WAITPOINT_MAX - 3 })
  })
})

conforms('an approval', ({ fabric, given, journal, clock }) => {
  const vote = (name: string, need: number) =>
    count(need, ['review'], { name, by: 'sources', from: ['ada', 'bob', 'eve'] })
  const review = (need: number, rejections: number) => ({
    name: 'review',
    reason: 'approval',
    for: either(vote('approve', need), vote('reject', rejections)),
    opens: ['review'],
  })

  test('is given by as many as it needs, each once, and returns who voted what and when', async () => {
    const held = await journal.waiting(review(2, 1))
    const cast = (name: string, by: string) =>
      journal.effect(held, 'review', { name, source: { type: 'token', identity: by } })
    expect(await cast('approve', 'ada')).toBe('counted')
    clock.advance(1_000)
    expect(await cast('approve', 'ada')).toBe('counted_before')
    expect(await cast('approve', 'mallory')).toBe('not_awaited')
    expect(await cast('maybe', 'bob')).toBe('not_awaited')
    expect(await cast('approve', 'bob')).toBe('resumed')

    const { wait } = await journal.step(held, 'review')
    const signals = await journal.signals(held)
    const votes = signals.filter(({ sequence }) => wait?.satisfiers.includes(sequence))
    expect(votes.map(({ name, source, at }) => [name, source.identity, at])).toEqual([
      ['approve', 'ada', clock.now() - 1_000],
      ['approve', 'bob', clock.now()],
    ])
  })

  test('is refused by as many as that takes, whatever approvals came before', async () => {
    const held = await journal.waiting(review(2, 2))
    const effects = []
    for (const [name, by] of [
      ['approve', 'ada'],
      ['reject', 'bob'],
      ['reject', 'bob'],
      ['reject', 'eve'],
    ] as const) {
      effects.push(await journal.effect(held, 'review', { name, by }))
    }

    expect(effects).toEqual(['counted', 'counted', 'counted_before', 'resumed'])
    expect((await journal.step(held, 'review')).state).toMatchObject({ how: 'satisfied', by: 'eve', reason: 'reject' })
  })

  test('that is not given in time is escalated, reminded of, and can still be given', async () => {
    const held = await journal.waiting({
      ...review(2, 1),
      timeoutMs: 5_000,
      onTimeout: 'escalate',
      remindEveryMs: 2_000,
    })
    await journal.effect(held, 'review', { name: 'approve', by: 'ada' })
    for (let second = 0; second < 6; second++) {
      clock.advance(1_000)
      await fabric.duePass()
    }

    expect(await given.eventsOf(held, 'wait_reminded')).toHaveLength(3)
    expect(await given.eventsOf(held, 'wait_escalated')).toHaveLength(1)
    expect(await journal.effect(held, 'review', { name: 'approve', by: 'eve' })).toBe('resumed')
  })
})
