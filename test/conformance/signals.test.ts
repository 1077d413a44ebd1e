/** Signals sent to an execution: early, in time, twice or too late. */
import { expect, test } from 'vitest'
import { BUFFERED_SIGNAL_MAX, CONDITION_NEED_MAX } from '../../src/kernel/index.ts'
import { count, one } from './condition-nodes.ts'
import { call } from './fabric.ts'
import { forcedCancel, heldOf, reachablePhases } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('deliverSignal', ({ fabric, given, journal, clock }) => {
  const again = { key: 'again' } as const

  test('meets the condition, resumes the execution and returns so', async () => {
    const held = await journal.waiting()
    clock.advance(7)

    expect(await journal.signal(held, 'reply', { name: 'yes', by: 'ada' })).toEqual({
      kind: 'delivered',
      sequence: 1,
      effect: 'resumed',
      at: clock.now(),
    })
    expect((await fabric.look(held.executionId)).state).toEqual({ phase: 'eligible' })
    expect(await given.eventsOf(held, 'signal_received')).toMatchObject([
      { waitpoint: 'reply', signal: 'yes', step: 'answer', effect: 'resumed', by: 'ada' },
    ])
    expect(await given.eventsOf(held, 'execution_resumed')).toMatchObject([
      { step: 'answer', reason: 'signal', by: 'ada', epoch: 1, attempt: 1 },
    ])
  })

  test('returns the effect of each signal', async () => {
    const held = await journal.waiting({
      for: count(2, ['reply'], { name: 'yes', from: ['ada', 'bob'], by: 'sources' }),
    })

    expect(await journal.effect(held, 'reply', { name: 'no', by: 'ada' })).toBe('not_awaited')
    expect(await journal.effect(held, 'reply', { name: 'yes', by: 'eve' })).toBe('not_awaited')
    expect(await journal.effect(held, 'reply', { name: 'yes', by: 'ada' })).toBe('counted')
    expect(await journal.effect(held, 'reply', { name: 'yes', by: 'ada' })).toBe('counted_before')
    expect(await journal.effect(held, '@yes', { name: 'yes', by: 'bob' })).toBe('buffered')
    expect(await journal.effect(held, 'reply', { name: 'yes', by: 'bob' })).toBe('resumed')

    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [3, 6], closer: 6 })
    expect((await journal.signals(held)).map((signal) => signal.effect)).toEqual([
      'not_awaited',
      'not_awaited',
      'counted',
      'counted_before',
      'buffered',
      'resumed',
    ])
  })

  test.each(['counted', 'resumed', 'not_awaited', 'buffered'] as const)(
    'a repetition of one that was %s is answered as the first was, and does nothing',
    async (effect) => {
      const held = await journal.waiting({ for: count(effect === 'counted' ? 2 : 1, ['reply'], { name: 'go' }) })
      const target = effect === 'buffered' ? '@go' : 'reply'
      const send = () => journal.signal(held, target, { ...again, name: effect === 'not_awaited' ? 'no' : 'go' })
      const first = await send()
      expect(first).toMatchObject({ kind: 'delivered', effect })
      const before = await fabric.dump()
      clock.advance(1)

      expect(await send()).toEqual({ ...first, kind: 'duplicate' })
      expect(await fabric.dump()).toEqual(before)
    },
  )

  test('a repetition is known after the execution has gone on, has ended and was replayed', async () => {
    const held = await journal.waiting()
    const first = await journal.signal(held, 'reply', again)
    const duplicate = { ...first, kind: 'duplicate' }

    const next = await given.claimOf(held)
    expect(await journal.signal(held, 'reply', again)).toEqual(duplicate)
    await journal.wait(next, { name: 'another', for: one('@more') })
    expect(await journal.signal(held, 'reply', again)).toEqual(duplicate)
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    expect(await journal.signal(held, 'reply', again)).toEqual(duplicate)
    await fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId() })
    expect(await journal.signal(held, 'reply', again)).toEqual(duplicate)
    expect(await journal.signals(held)).toHaveLength(1)
  })

  test('a repetition by mailbox is known whatever has happened since', async () => {
    const held = await given.activeExecution()
    const first = await journal.signal(held, '@go', again)
    const duplicate = { ...first, kind: 'duplicate' }
    expect(await journal.wait(held, { for: one('@go'), opens: [] })).toMatchObject({ kind: 'answered' })

    expect(await journal.signal(held, '@go', again)).toEqual(duplicate)
    await journal.wait(held, { name: 'another', for: one('@go'), opens: [] })
    expect(await journal.signal(held, '@go', again)).toEqual(duplicate)
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    expect(await journal.signal(held, '@go', again)).toEqual(duplicate)
    const from = { kind: 'start' } as const
    await fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId(), from })
    expect(await journal.signal(held, '@go', again)).toEqual(duplicate)
  })

  test('one key means different signals at different places', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'a')

    expect(await journal.signal(held, 'a', again)).toMatchObject({ kind: 'delivered', sequence: 1 })
    expect(await journal.signal(held, '@go', again)).toMatchObject({ kind: 'delivered', sequence: 2 })
    expect(await journal.signal(held, 'a', again)).toMatchObject({ kind: 'duplicate', sequence: 1 })
  })

  test('two that come at once under one key are one, in one batch and in two', async () => {
    const held = await journal.waiting({ for: count(2, ['reply']) })
    const { executionId } = held
    const source = { type: 'caller', identity: 'ada' } as const
    const input = { executionId, target: 'reply', key: 'same', name: 'go', source }

    const batch = await fabric.batch(call('deliverSignal', input), call('deliverSignal', input))
    expect(batch).toMatchObject([{ result: { kind: 'delivered' } }, { result: { kind: 'duplicate' } }])
    const both = await Promise.all([journal.signal(held, 'reply', again), journal.signal(held, 'reply', again)])
    expect(both.map(({ kind }) => kind).sort()).toEqual(['delivered', 'duplicate'])
    expect(await given.eventsOf(held, 'execution_resumed')).toHaveLength(1)
  })

  test('a signal to a waitpoint without a wait is buffered, and delivered when a wait comes', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply')

    expect(await journal.effect(held, 'reply')).toBe('buffered')
    expect(await given.eventsOf(held, 'signal_received')).toMatchObject([{ effect: 'buffered' }])
    expect(await journal.waitpoint(held, 'reply')).toMatchObject({ bufferedCount: 1, signalCount: 1 })
    await journal.wait(held)
    expect(await journal.journal(held)).toMatchObject({ bufferedCount: 0, signalCount: 1, open: [] })
  })

  test.each(reachablePhases.filter((phase) => phase !== 'ended'))(
    'a mailbox accepts signals for an execution that is %s, before any wait',
    async (phase) => {
      const submitted = await given.inPhase(phase)

      expect(await journal.effect(submitted, '@go')).toBe('buffered')
      expect(await journal.waitpoint(submitted, '@go')).toMatchObject({ bufferedCount: 1, round: 1 })
    },
  )

  test('what one wait does not need stays in the mailbox for the next, in the order of arrival', async () => {
    const held = await given.activeExecution()
    for (const name of ['a', 'b', 'c']) await journal.signal(held, '@go', { name })
    const waits = []
    for (const name of ['first', 'second']) waits.push(await journal.wait(held, { name, for: one('@go'), opens: [] }))

    expect(waits).toMatchObject([{ step: { wait: { satisfiers: [1] } } }, { step: { wait: { satisfiers: [2] } } }])
    expect(await journal.journal(held)).toMatchObject({ bufferedCount: 1 })
    await journal.wait(held, { name: 'third', for: count(2, ['@go']), opens: [] })
    expect(await journal.effect(held, '@go')).toBe('resumed')
    expect((await journal.step(held, 'third')).wait).toMatchObject({ satisfiers: [3, 4] })
  })

  test('signals left in a waitpoint when its wait was answered do not affect the next of its name', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply')
    await journal.signal(held, 'reply')
    await journal.signal(held, 'reply')
    expect(await journal.wait(held)).toMatchObject({ kind: 'answered', step: { wait: { satisfiers: [1] } } })

    expect(await journal.wait(held, { name: 'next' })).toMatchObject({ kind: 'suspended' })
    expect(await journal.waitpoint(held, 'reply')).toMatchObject({ round: 2, generation: 2, bufferedCount: 0 })
    expect(await journal.effect(held, 'reply')).toBe('resumed')
    expect((await journal.step(held, 'next')).wait).toMatchObject({ satisfiers: [3] })
    expect(await journal.signals(held)).toHaveLength(3)
  })

  test('a waitpoint that closed before it was looked at takes nothing more', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply', { expiresInMs: 1_000 })
    await journal.signal(held, 'reply', again)
    clock.advance(1_000)

    expect((await refusal(fabric, () => journal.signal(held, 'reply'))).code).toBe('waitpoint_closed')
    expect(await journal.signal(held, 'reply', again)).toMatchObject({ kind: 'duplicate', effect: 'buffered' })
  })

  test('refuses signals that come too late, or without a target, and writes nothing', async () => {
    const held = await journal.waiting()
    expect(await refusal(fabric, () => journal.signal(held, 'nowhere'))).toMatchObject({
      code: 'waitpoint_not_found',
      detail: { executionId: held.executionId, waitpoint: 'nowhere' },
    })
    expect((await refusal(fabric, () => journal.signal({ executionId: given.newId() }, '@go'))).code).toBe(
      'execution_not_found',
    )
    await journal.signal(held, 'reply')
    expect((await refusal(fabric, () => journal.signal(held, 'reply'))).code).toBe('waitpoint_closed')
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    expect((await refusal(fabric, () => journal.signal(held, 'reply'))).code).toBe('execution_ended')
    expect((await refusal(fabric, () => journal.signal(held, '@go'))).code).toBe('execution_ended')
  })

  test('buffers signals of a mailbox up to the limit, and no more until a wait has consumed them', async () => {
    const held = await given.activeExecution()
    const sent = Array.from({ length: BUFFERED_SIGNAL_MAX }, () => journal.effect(held, '@go'))
    expect(new Set(await Promise.all(sent))).toEqual(new Set(['buffered']))

    expect(await refusal(fabric, () => journal.signal(held, '@go'))).toMatchObject({
      code: 'signal_buffer_full',
      detail: { limit: BUFFERED_SIGNAL_MAX },
    })
    expect(await journal.effect(held, '@other')).toBe('buffered')
    await journal.wait(held, { for: count(CONDITION_NEED_MAX, ['@go']), opens: [] })
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ closer: CONDITION_NEED_MAX })
    expect(await journal.journal(held)).toMatchObject({ bufferedCount: BUFFERED_SIGNAL_MAX - CONDITION_NEED_MAX + 1 })
    expect(await journal.effect(held, '@go')).toBe('buffered')
  })

  test('a wait receives its signal however many others were sent elsewhere', async () => {
    const held = await given.activeExecution()
    await journal.wait(held, { for: one('@awaited'), opens: [] })
    await Promise.all(Array.from({ length: BUFFERED_SIGNAL_MAX }, () => journal.effect(held, '@go')))

    expect(await journal.effect(held, '@awaited')).toBe('resumed')
  })

  test('bytes go to the store and come back in pages, in the order of arrival', async () => {
    const held = await given.activeExecution()
    for (const byte of [1, 2, 3]) await journal.signal(held, '@go', { bytes: Uint8Array.of(byte) })
    await journal.signal(held, '@go')
    const page = await fabric.reply('readSignals', { ...held, limit: 2, payloads: true })
    expect(page.result).toMatchObject({ signals: [{ payloadBlob: 0 }, { payloadBlob: 1 }], next: 3 })
    expect(page.blobs.map((blob) => [...blob])).toEqual([[1], [2]])

    const rest = await fabric.reply('readSignals', { ...held, from: 3, payloads: true })
    const signals = rest.result.kind === 'signals' ? rest.result.signals : []
    expect(signals.map(({ payloadBlob }) => payloadBlob)).toEqual([0, undefined])
    expect(rest.result).not.toHaveProperty('next', expect.anything())
    const part = await fabric.run('readSignals', { ...held, from: 2, to: 3 })
    expect(part).toMatchObject({ signals: [{ signal: { sequence: 2 } }, { signal: { sequence: 3 } }] })
  })

  test('a signal without a wait does not wake a worker', async () => {
    const held = await journal.waiting({ for: one('reply', 'yes') })
    await journal.signal(held, 'reply', { name: 'no' })
    await journal.signal(held, '@yes', { name: 'yes' })

    expect((await given.claim()).executions).toEqual([])
    expect((await fabric.look(held.executionId)).state.phase).toBe('suspended')
  })

  test('resumed executions are claimed in the order of their queue', async () => {
    const first = await journal.waiting()
    const second = await journal.waiting()
    await journal.signal(second, 'reply')
    await journal.signal(first, 'reply')

    const { executions } = await given.claim({ count: 2 })
    expect(executions.map((claimed) => heldOf(claimed).executionId)).toEqual([first.executionId, second.executionId])
  })
})
