/** Places that signals are sent to: opened ahead of a wait, listed, closed, issued anew. */
import { expect, test } from 'vitest'
import { OPEN_WAITPOINT_MAX } from '../../src/kernel/index.ts'
import { count, every, one } from './condition-nodes.ts'
import { LEASE_TTL_MS, fixedRetry, transientFailure } from './given.ts'
import type { Submitted } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const names = (length: number) => Array.from({ length }, (_, i) => `w${i}`)

conforms('createWaitpoint', ({ fabric, given, journal, clock }) => {
  test('opens a place whose tokens are bound to it, and notes it as a step', async () => {
    const held = await given.activeExecution()

    expect(await journal.open(held, 'reply', { expiresInMs: 5_000, keyId: 'key-1' })).toMatchObject({
      kind: 'opened',
      waitpoint: { target: 'reply', generation: 1, keyId: 'key-1', isOpen: true, expiresAt: clock.now() + 5_000 },
    })
    expect(await journal.step(held, 'reply')).toMatchObject({ kind: 'waitpoint', state: { phase: 'completed' } })
    expect(await given.eventsOf(held, 'waitpoint_opened')).toMatchObject([
      { waitpoint: 'reply', until: clock.now() + 5_000 },
    ])
  })

  test('repeated it is the same waitpoint, and nothing is written', async () => {
    const held = await given.activeExecution()
    const view = await journal.opened(held, 'reply', { keyId: 'key-1' })
    const before = await fabric.dump()
    clock.advance(1)

    expect(await journal.open(held, 'reply', { keyId: 'key-2' })).toEqual({ kind: 'already_opened', waitpoint: view })
    expect(await fabric.dump()).toEqual(before)
  })

  test.each(['lost', 'failed'] as const)(
    'a link that was handed out survives a worker that was %s, with what was sent to it',
    async (how) => {
      const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
      const view = await journal.opened(held, 'reply')
      if (how === 'lost') {
        clock.advance(LEASE_TTL_MS)
        await fabric.duePass()
      } else await fabric.run('failExecution', { ...held, ...transientFailure })
      expect(await journal.effect(held, 'reply', { token: journal.tokenOf(view) })).toBe('buffered')
      const next = await given.claimOf(held)

      expect(await journal.open(next, 'reply')).toEqual({ kind: 'already_opened', waitpoint: view })
      expect(await journal.wait(next)).toMatchObject({ kind: 'answered', step: { wait: { satisfiers: [1] } } })
    },
  )

  test('one that was answered is not opened again by the step that opened it', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply')
    await journal.wait(held)
    await journal.signal(held, 'reply')
    const next = await given.claimOf(held)

    expect(await journal.open(next, 'reply')).toMatchObject({ kind: 'already_opened', waitpoint: { isOpen: false } })
    expect((await refusal(fabric, () => journal.wait(next, { name: 'more', opens: [] }))).code).toBe('waitpoint_closed')
  })

  test('as many may be open as the limit allows, and closing one makes room', async () => {
    const held = await given.activeExecution()
    for (const name of names(OPEN_WAITPOINT_MAX)) await journal.open(held, name)

    expect(await refusal(fabric, () => journal.open(held, 'more'))).toMatchObject({
      code: 'waitpoint_limit_exceeded',
      detail: { limit: OPEN_WAITPOINT_MAX },
    })
    const wait = { for: every(one('w0'), one('more')), opens: ['more'] }
    expect((await refusal(fabric, () => journal.wait(held, wait))).code).toBe('waitpoint_limit_exceeded')
    expect(await journal.open(held, 'w0')).toMatchObject({ kind: 'already_opened' })
    const close = { executionId: held.executionId, target: 'w5', reason: 'unused', by: 'operator' }
    await fabric.run('closeWaitpoint', close)
    expect(await journal.open(held, 'more')).toMatchObject({ kind: 'opened' })

    const all = names(OPEN_WAITPOINT_MAX).filter((name) => name !== 'w5')
    await journal.wait(held, { for: count(1, all), opens: [] })
    expect(await journal.effect(held, 'w63')).toBe('resumed')
    expect(await journal.journal(held)).toMatchObject({ open: [{ target: 'more' }] })
  })

  test('a caller without a lease opens nothing', async () => {
    const held = await given.abandonedExecution()
    expect((await refusal(fabric, () => journal.open(held, 'reply'))).code).toBe('lease_expired')
    await fabric.duePass()
    const next = await given.claimOf(held)
    expect((await refusal(fabric, () => journal.open(held, 'reply'))).code).toBe('stale_lease')
    await journal.wait(next)
    expect((await refusal(fabric, () => journal.open(next, 'reply'))).code).toBe('execution_not_active')
    expect((await refusal(fabric, () => journal.open({ ...next, executionId: given.newId() }, 'reply'))).code).toBe(
      'execution_not_found',
    )
  })
})

conforms('the expiry of waitpoints', ({ fabric, given, journal, clock }) => {
  test('closes what no wait has come for in time, and nothing before', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 600_000 })
    await journal.open(held, 'short', { expiresInMs: 1_000 })
    await journal.open(held, 'long', { expiresInMs: 2_000 })
    await journal.open(held, 'open')
    await journal.signal(held, 'short')
    clock.advance(999)
    expect(await fabric.duePass()).toMatchObject({ handled: [], nextDueAt: clock.now() + 1 })
    clock.advance(1)

    expect(await fabric.duePass()).toMatchObject({
      handled: [{ case: 'pending_waitpoint_expiry', executionId: held.executionId }],
      nextDueAt: clock.now() + 1_000,
    })

    expect(await journal.journal(held)).toMatchObject({
      open: [{ target: 'long' }, { target: 'open' }],
      bufferedCount: 0,
    })
    expect(await journal.waitpoint(held, 'short')).toMatchObject({ closedAt: clock.now(), closeReason: 'expired' })
    expect(await given.eventsOf(held, 'waitpoint_closed')).toMatchObject([{ waitpoint: 'short', reason: 'expired' }])
    expect(await journal.open(held, 'short')).toMatchObject({ kind: 'already_opened', waitpoint: { isOpen: false } })
  })

  test('many at once are closed in one go of the engine', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 600_000 })
    for (const name of names(30)) await journal.open(held, name, { expiresInMs: 1_000 })
    clock.advance(1_000)
    let next: unknown = true
    for (let pass = 0; pass < 10 && next !== undefined; pass++) next = (await fabric.duePass()).next

    expect(await journal.journal(held)).toMatchObject({ open: [] })
    expect(await given.eventsOf(held, 'waitpoint_closed')).toHaveLength(30)
  })

  test('ends once a wait has come: the wait has its own timeout', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply', { expiresInMs: 1_000 })
    await journal.wait(held, { timeoutMs: 50_000 })
    clock.advance(1_000)

    expect(await fabric.duePass()).toMatchObject({ handled: [] })
    expect(await journal.effect(held, 'reply')).toBe('resumed')
  })

  test('two engines close it once', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 600_000 })
    await journal.open(held, 'reply', { expiresInMs: 1_000 })
    clock.advance(1_000)
    await Promise.all([fabric.duePass(), fabric.duePass()])

    expect(await given.eventsOf(held, 'waitpoint_closed')).toHaveLength(1)
  })
})

conforms('closeWaitpoint', ({ fabric, given, journal }) => {
  const close = (of: Submitted, target: string, changes: object = {}) =>
    fabric.run('closeWaitpoint', { executionId: of.executionId, target, reason: 'unused', by: 'op', ...changes })

  test('closes for good, with one event', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply')
    await journal.signal(held, 'reply')

    expect(await close(held, 'reply')).toEqual({ kind: 'closed' })
    expect(await close(held, 'reply')).toEqual({ kind: 'already_closed' })
    expect(await journal.effect(held, 'reply')).toBe('waitpoint_closed')
    expect(await given.eventsOf(held, 'waitpoint_closed')).toMatchObject([{ reason: 'unused', by: 'op' }])
    expect(await journal.journal(held)).toMatchObject({ open: [], bufferedCount: 0 })
  })

  test('the last place at which an execution waits is closed by force only', async () => {
    const held = await journal.waiting({ for: every(one('a'), one('b')), opens: ['a', 'b'] })
    expect(await close(held, 'a')).toEqual({ kind: 'closed' })
    expect((await refusal(fabric, () => close(held, 'b'))).code).toBe('waitpoint_awaited')

    expect(await close(held, 'b', { force: true })).toEqual({ kind: 'closed' })
    expect(await journal.effect(held, 'b')).toBe('waitpoint_closed')
    expect((await fabric.look(held.executionId)).state.phase).toBe('suspended')
    await fabric.run('resumeExecution', { executionId: held.executionId, by: 'op' })
    expect((await fabric.look(held.executionId)).state.phase).toBe('eligible')
  })

  test('where a mailbox would do too, the waitpoint is not the last', async () => {
    const held = await journal.waiting({ for: every(one('a'), one('@post')), opens: ['a'] })

    expect(await close(held, 'a')).toEqual({ kind: 'closed' })
  })

  test('a holder closes its own with its fence, and another fence is refused', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply')
    const strange = { fence: { ...held.fence, leaseId: 'strange' } }

    expect((await refusal(fabric, () => close(held, 'reply', strange))).code).toBe('stale_lease')
    expect(await close(held, 'reply', { fence: held.fence })).toEqual({ kind: 'closed' })
  })

  test('mailboxes and what does not exist are not closed', async () => {
    const held = await given.activeExecution()
    await journal.signal(held, '@go')
    for (const target of ['@go', 'nowhere']) {
      expect((await refusal(fabric, () => close(held, target))).code).toBe('waitpoint_not_found')
    }
    expect((await refusal(fabric, () => close({ executionId: given.newId() }, 'x'))).code).toBe('execution_not_found')
  })
})

conforms('reissueWaitpoint', ({ fabric, given, journal }) => {
  const reissue = (of: Submitted, target: string) =>
    fabric.run('reissueWaitpoint', { executionId: of.executionId, target, keyId: 'new', by: 'op' })

  test('emits an event, and the open wait accepts the new tokens', async () => {
    const held = await journal.waiting()
    const result = await reissue(held, 'reply')
    if (result.kind === 'refused') throw new Error(result.code)

    expect(await given.eventsOf(held, 'waitpoint_opened')).toMatchObject([{}, { reason: 'reissued', by: 'op' }])
    expect(await journal.effect(held, 'reply', { token: journal.tokenOf(result.waitpoint) })).toBe('resumed')
  })

  test('refuses what is closed, a mailbox and what does not exist', async () => {
    const held = await journal.waiting()
    await journal.signal(held, '@go')
    await journal.signal(held, 'reply')
    const codes = []
    for (const target of ['reply', '@go', 'nowhere']) {
      codes.push((await refusal(fabric, () => reissue(held, target))).code)
    }
    codes.push((await refusal(fabric, () => reissue({ executionId: given.newId() }, 'reply'))).code)

    expect(codes).toEqual(['waitpoint_closed', 'waitpoint_not_found', 'waitpoint_not_found', 'execution_not_found'])
  })
})
