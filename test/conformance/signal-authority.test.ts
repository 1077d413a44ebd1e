/** What a token of one place, one opening and one issue can do: nothing anywhere else. */
import { describe, expect, test } from 'vitest'
import { SENDER_MAX, SENDER_SIGNAL_MAX } from '../../src/kernel/index.ts'
import type { SignalSource } from '../../src/kernel/index.ts'
import { count, either, every, one, only } from './condition-nodes.ts'
import { call } from './fabric.ts'
import { RETENTION_MS, forcedCancel } from './given.ts'
import { ada } from './given-journal.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('a token', ({ fabric, given, journal, clock }) => {
  /** An execution that waits at `reply`, and what its token is bound to. */
  const awaited = async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'reply'))
    await journal.wait(held)
    return { held, token }
  }

  test('resumes the execution that it was made for', async () => {
    const { held, token } = await awaited()

    expect(await journal.effect(held, 'reply', { token, source: ada })).toBe('resumed')
  })

  test('of one execution does nothing to another, also if both belong to one flow', async () => {
    const a = await awaited()
    const b = await awaited()

    for (const act of [
      () => journal.signal(b.held, 'reply', { token: a.token }),
      () => journal.signal(a.held, 'reply', { token: b.token }),
    ]) {
      expect((await refusal(fabric, act)).code).toBe('waitpoint_not_found')
    }
  })

  test('of one waitpoint does nothing at another of the same execution', async () => {
    const held = await given.activeExecution()
    const first = journal.tokenOf(await journal.opened(held, 'first'))
    await journal.open(held, 'second')
    await journal.wait(held, { for: every(one('first'), one('second')), opens: [] })

    expect((await refusal(fabric, () => journal.signal(held, 'second', { token: first }))).code).toBe(
      'waitpoint_not_found',
    )
    expect((await refusal(fabric, () => journal.signal(held, '@go', { token: first }))).code).toBe(
      'waitpoint_not_found',
    )
    expect(await journal.effect(held, 'first', { token: first })).toBe('counted')
  })

  test('is refused in the same words where there is nothing and where there is something else', async () => {
    const { held, token } = await awaited()
    const { executionId } = await given.eligibleExecution()

    const nowhere = await refusal(fabric, () => journal.signal({ executionId }, 'reply', { token }))
    const elsewhere = await refusal(fabric, () => journal.signal(held, 'other', { token }))
    expect([nowhere.code, elsewhere.code]).toEqual(['waitpoint_not_found', 'waitpoint_not_found'])
  })

  test.each(['signal', 'operator', 'close', 'early', 'timeout'] as const)(
    'of a wait that was ended by %s does nothing to the next one of its name',
    async (how) => {
      let held = await given.activeExecution()
      const { executionId } = held
      const token = journal.tokenOf(await journal.opened(held, 'reply'))
      if (how === 'early') {
        await journal.signal(held, 'reply')
        expect(await journal.wait(held)).toMatchObject({ kind: 'answered' })
      } else if (how === 'close') {
        await fabric.run('closeWaitpoint', { executionId, target: 'reply', reason: 'unused', by: 'operator' })
      } else {
        await journal.wait(held, { timeoutMs: 1_000 })
        if (how === 'signal') await journal.signal(held, 'reply')
        if (how === 'operator') await fabric.run('resumeExecution', { executionId, by: 'operator' })
        if (how === 'timeout') {
          clock.advance(1_000)
          await fabric.duePass()
        }
        held = await given.claimOf(held)
      }
      await journal.wait(held, { name: 'next' })

      expect((await refusal(fabric, () => journal.signal(held, 'reply', { token }))).code).toBe('token_expired')
      expect((await fabric.look(executionId)).state.phase).toBe('suspended')
      const current = await journal.waitpoint(held, 'reply')
      const fresh = { waitpointId: current.id, generation: current.generation, openedAt: current.createdAt }
      expect(await journal.effect(held, 'reply', { token: fresh })).toBe('resumed')
    },
  )

  test('of a wait that is over does nothing while the execution runs on, or after it has ended', async () => {
    const { held, token } = await awaited()
    await fabric.run('resumeExecution', { executionId: held.executionId, by: 'operator' })
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token }))).code).toBe('waitpoint_closed')
    const next = await given.claimOf(held)
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token }))).code).toBe('waitpoint_closed')
    await fabric.run('completeExecution', next)
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token }))).code).toBe('execution_ended')
  })

  test('of an earlier issue is worth nothing, and what was sent with it stays', async () => {
    const held = await given.activeExecution()
    const { executionId } = held
    const old = journal.tokenOf(await journal.opened(held, 'reply', { keyId: 'first' }))
    await journal.signal(held, 'reply', { token: old, name: 'early', key: 'k' })

    const result = await fabric.run('reissueWaitpoint', { executionId, target: 'reply', keyId: 'second', by: 'op' })

    expect(result).toMatchObject({ kind: 'reissued', waitpoint: { generation: 2, keyId: 'second', isOpen: true } })
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token: old }))).code).toBe('token_expired')
    expect(await journal.wait(held, { for: one('reply', 'early'), opens: [] })).toMatchObject({ kind: 'answered' })
  })

  test('of an earlier incarnation does not affect the next, however equal the names', async () => {
    const { held, token } = await awaited()
    const { executionId } = held
    await fabric.run('cancelExecution', { executionId, ...forcedCancel })
    await given.submit({ executionId, ifExists: 'replace' })
    const next = await given.claimOf(held)
    const view = await journal.opened(next, 'reply')
    await journal.wait(next)

    expect(view.generation).toBe(token.generation)
    expect((await refusal(fabric, () => journal.signal(next, 'reply', { token }))).code).toBe('waitpoint_not_found')
    expect(await journal.effect(next, 'reply', { token: journal.tokenOf(view) })).toBe('resumed')
  })

  test('of a removed execution does not affect one that was submitted under the same id', async () => {
    const { held, token } = await awaited()
    const { executionId } = held
    await fabric.run('cancelExecution', { executionId, ...forcedCancel })
    clock.advance(RETENTION_MS)
    expect(await fabric.run('purgeExecutions', {})).toMatchObject({ purged: [executionId] })
    await given.submit({ executionId })
    const next = await given.claimOf(held)
    const view = await journal.opened(next, 'reply')
    await journal.wait(next)

    const fresh = journal.tokenOf(view)
    expect({ ...fresh, openedAt: token.openedAt }).toEqual(token)
    expect((await refusal(fabric, () => journal.signal(next, 'reply', { token }))).code).toBe('token_expired')
    expect(await journal.effect(next, 'reply', { token: fresh })).toBe('resumed')
  })

  test('of a removed execution stays worthless, though the clock was set back to the same moment', async () => {
    const held = await given.activeExecution()
    const { executionId } = held
    const removed = journal.tokenOf(await journal.opened(held, 'reply', { nonce: 'first' }))
    await fabric.run('cancelExecution', { executionId, ...forcedCancel })
    clock.advance(RETENTION_MS)
    expect(await fabric.run('purgeExecutions', {})).toMatchObject({ purged: [executionId] })
    await given.submit({ executionId })
    const next = await given.claimOf(held)
    const fresh = journal.tokenOf(await journal.opened(next, 'reply', { nonce: 'second' }))
    await journal.wait(next)
    const old = { ...removed, openedAt: fresh.openedAt }

    expect({ ...fresh, nonce: 'first' }).toEqual(old)
    for (const token of [old, { ...old, nonce: undefined }, { ...fresh, nonce: '' }]) {
      expect((await refusal(fabric, () => journal.signal(next, 'reply', { token }))).code).toBe('token_expired')
    }
    expect(await journal.effect(next, 'reply', { token: fresh })).toBe('resumed')
  })

  test('without a nonce is valid only where none was drawn, as by an earlier version', async () => {
    const { held, token } = await awaited()

    const other = { ...token, nonce: 'other' }
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token: other }))).code).toBe('token_expired')
    expect(token.nonce).toBeUndefined()
    expect(await journal.effect(held, 'reply', { token })).toBe('resumed')
  })

  test('of a waitpoint that is opened again needs the nonce of the new opening', async () => {
    const held = await given.activeExecution()
    const first = journal.tokenOf(await journal.opened(held, 'reply', { nonce: 'first' }))
    await journal.signal(held, 'reply')
    await journal.wait(held, { opens: [] })
    const result = await journal.wait(held, { name: 'next', nonce: 'second' })
    const views = result.kind === 'suspended' ? result.waitpoints : []

    expect(views).toMatchObject([{ target: 'reply', nonce: 'second' }])
    const forged = { ...journal.tokenOf(views[0]!), nonce: first.nonce }
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token: forged }))).code).toBe('token_expired')
    expect(await journal.effect(held, 'reply', { token: journal.tokenOf(views[0]!) })).toBe('resumed')
  })

  test('neither an earlier lease nor a foreign one can bring back a wait whose reply was lost', async () => {
    const { held } = await awaited()
    await journal.signal(held, 'reply')
    const next = await given.claimOf(held)
    await journal.wait(next, { name: 'next' })

    expect((await refusal(fabric, () => journal.wait(held))).code).toBe('execution_not_active')
  })
})

conforms('the holder of a link', ({ fabric, given, journal }) => {
  const bob: SignalSource = { type: 'token', identity: 'bob' }

  test('may send so many signals to one waitpoint, and others still get through', async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'reply'))
    const elsewhere = journal.tokenOf(await journal.opened(held, 'other'))
    await journal.wait(held, { for: count(SENDER_SIGNAL_MAX + 2, ['reply']), opens: [] })
    for (let i = 0; i < SENDER_SIGNAL_MAX; i++) {
      expect(await journal.effect(held, 'reply', { token, source: ada, key: `k${i}` })).toBe('counted')
    }

    expect(await refusal(fabric, () => journal.signal(held, 'reply', { token, source: ada }))).toMatchObject({
      code: 'signal_limit_exceeded',
      detail: { executionId: held.executionId, limit: SENDER_SIGNAL_MAX },
    })
    expect(await journal.signal(held, 'reply', { token, source: ada, key: 'k0' })).toMatchObject({ kind: 'duplicate' })
    expect((await journal.step(held, 'answer')).wait?.nodes).toMatchObject([{ has: SENDER_SIGNAL_MAX }])
    expect(await journal.effect(held, 'other', { token: elsewhere, source: ada })).toBe('buffered')
    expect(await journal.effect(held, 'reply', { token, source: bob })).toBe('counted')
    // A program is trusted, whichever sender it names.
    expect(await journal.effect(held, 'reply', { by: 'ada' })).toBe('resumed')
  })

  test('is refused within a batch as it is alone, and what is refused counts for nothing', async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'reply'))
    await journal.wait(held, { for: count(SENDER_SIGNAL_MAX + 2, ['reply']), opens: [] })
    const { executionId } = held
    const calls = Array.from({ length: SENDER_SIGNAL_MAX + 2 }, (_, i) =>
      call('deliverSignal', { executionId, target: 'reply', key: `k${i}`, name: 'go', source: ada, token }),
    )
    const answers = await fabric.batch(...calls)

    const kinds = answers.map((answer) => (answer.kind === 'answered' ? answer.result.kind : answer.kind))
    expect(kinds.slice(-3)).toEqual(['delivered', 'refused', 'refused'])
    expect((await journal.step(held, 'answer')).wait?.nodes).toMatchObject([{ has: SENDER_SIGNAL_MAX }])
  })

  test('is one of so many whom a waitpoint listens to', async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'reply'))
    const from = (i: number) => ({ token, name: 'no', source: { type: 'token', identity: `sender ${i}` } as const })
    await journal.wait(held, { for: one('reply', 'yes'), opens: [] })
    const sent = Array.from({ length: SENDER_MAX }, (_, i) => journal.effect(held, 'reply', from(i)))
    expect(new Set(await Promise.all(sent))).toEqual(new Set(['not_awaited']))

    expect(await refusal(fabric, () => journal.signal(held, 'reply', from(SENDER_MAX)))).toMatchObject({
      code: 'signal_limit_exceeded',
      detail: { limit: SENDER_MAX },
    })
    expect(await journal.effect(held, 'reply', { ...from(0), name: 'yes' })).toBe('resumed')
  })
})

conforms('what only an operator or time may end', ({ fabric, journal, clock }) => {
  const names = ['operator', 'timeout', '__operator_only__', '__timeout_only__', 'resume']

  test.each(['operator', 'timeout'] as const)('no signal ends a wait for the %s, whatever its name', async (kind) => {
    const held = await journal.waiting({ for: only(kind), opens: [], timeoutMs: 1_000 })
    for (const name of names) {
      expect(await journal.effect(held, `@${name}`, { name })).toBe('buffered')
      expect(await journal.effect(held, 'reply', { name })).toBe('waitpoint_not_found')
    }
    expect((await fabric.look(held.executionId)).state.phase).toBe('suspended')

    if (kind === 'operator') await fabric.run('resumeExecution', { executionId: held.executionId, by: 'op' })
    else {
      clock.advance(1_000)
      await fabric.duePass()
    }
    expect((await fabric.look(held.executionId)).state.phase).toBe('eligible')
  })

  test('beside a signal that would do, the operator is still one who may', async () => {
    const held = await journal.waiting({ for: either(only('operator'), one('reply', 'yes')) })
    expect(await journal.effect(held, 'reply', { name: 'operator' })).toBe('not_awaited')

    expect(await fabric.run('resumeExecution', { executionId: held.executionId, by: 'op' })).toMatchObject({
      kind: 'resumed',
      step: 'answer',
      state: 'waiting',
    })
  })
})

conforms('a vote', ({ given, journal }) => {
  const quorum = count(2, ['reply'], { name: 'approve', by: 'sources', from: ['ada', 'bob', 'eve'] })

  test('is counted once for each who voted, however often and under whatever key', async () => {
    const held = await journal.waiting({ for: quorum })
    const vote = (identity: string) =>
      journal.effect(held, 'reply', { name: 'approve', source: { type: 'token', identity } })

    expect(await vote('ada')).toBe('counted')
    expect(await vote('ada')).toBe('counted_before')
    expect(await vote('mallory')).toBe('not_awaited')
    expect(await vote('bob')).toBe('resumed')
  })

  test('is counted once for one person, by a signed link and through a program alike', async () => {
    const held = await journal.waiting({ for: quorum })
    const votes = []
    for (const type of ['token', 'caller', 'operator'] as const) {
      votes.push(await journal.effect(held, 'reply', { name: 'approve', source: { type, identity: 'ada' } }))
    }

    expect(votes).toEqual(['counted', 'counted_before', 'counted_before'])
  })

  describe('one way or the other', () => {
    const leaf = (name: string) => count(2, ['reply'], { name, by: 'sources', isExclusive: true })
    const decision = either(leaf('approve'), leaf('reject'))

    test('is final: who approved cannot reject, by whatever way', async () => {
      const held = await journal.waiting({ for: decision })
      const vote = (name: string, identity: string, type: SignalSource['type'] = 'token') =>
        journal.effect(held, 'reply', { name, source: { type, identity } })

      expect(await vote('approve', 'ada')).toBe('counted')
      expect(await vote('reject', 'ada')).toBe('counted_before')
      expect(await vote('reject', 'ada', 'caller')).toBe('counted_before')
      expect(await vote('reject', 'bob')).toBe('counted')
      expect(await vote('approve', 'bob')).toBe('counted_before')
      expect(await vote('reject', 'eve')).toBe('resumed')
    })

    test('is final also among votes that were sent before the wait', async () => {
      const held = await given.activeExecution()
      await journal.open(held, 'reply')
      for (const [name, by] of [
        ['reject', 'ada'],
        ['approve', 'ada'],
        ['approve', 'bob'],
        ['approve', 'eve'],
      ] as const) {
        await journal.signal(held, 'reply', { name, by })
      }

      const result = await journal.wait(held, { for: decision, opens: [] })
      expect(result).toMatchObject({ kind: 'answered', step: { wait: { satisfiers: [1, 3, 4], closer: 4 } } })
    })

    test('may be both where a condition asks two things of one person', async () => {
      const plain = (name: string) => count(1, ['reply'], { name, by: 'sources' })
      const held = await journal.waiting({ for: every(plain('read'), plain('approve')) })

      expect(await journal.effect(held, 'reply', { name: 'read', by: 'ada' })).toBe('counted')
      expect(await journal.effect(held, 'reply', { name: 'approve', by: 'ada' })).toBe('resumed')
    })
  })

  test('no sender can be taken for another, however they are spelled', async () => {
    const held = await journal.waiting({ for: count(3, ['reply'], { by: 'sources' }) })
    const from = (identity: string) => journal.effect(held, 'reply', { source: { type: 'token', identity } })

    expect(await from('a:b')).toBe('counted')
    expect(await from('a')).toBe('counted')
    expect(await from('a:b')).toBe('counted_before')
    expect(await from('b')).toBe('resumed')
    expect(await given.eventsOf(held, 'execution_resumed')).toHaveLength(1)
  })
})
