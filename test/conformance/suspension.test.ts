/** A holder that waits releases its worker; the same attempt continues when its condition is met. */
import { expect, test } from 'vitest'
import { either, every, one } from './condition-nodes.ts'
import { LEASE_TTL_MS, fixedRetry, heldOf, politeCancel, transientFailure } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('suspendExecution', ({ fabric, given, journal, clock }) => {
  test('releases the lease and stands in no queue until a signal comes', async () => {
    const held = await journal.waiting({ reason: 'approval', timeoutMs: 60_000 })

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'suspended', reason: 'approval', until: clock.now() + 60_000 },
      next: 'continue',
      attempt: { number: 1 },
      epoch: 1,
      lastLease: { how: 'suspended' },
    })
    expect((await given.claim()).executions).toEqual([])
    expect(await journal.step(held, 'answer')).toMatchObject({
      kind: 'wait',
      state: { phase: 'open', since: clock.now() },
      wait: { reason: 'approval', until: clock.now() + 60_000, targets: ['reply'], satisfiers: [] },
    })
    expect(await given.eventsOf(held, 'execution_suspended')).toMatchObject([
      { step: 'answer', reason: 'approval', until: clock.now() + 60_000, epoch: 1, attempt: 1 },
    ])
  })

  test('the same attempt continues under a later lease, and the lease before can do nothing', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 0) })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    const second = await given.claimOf(held)
    await journal.wait(second)
    const before = await fabric.look(held.executionId)
    clock.advance(5_000)
    await journal.signal(held, 'reply')

    const third = await given.claimOf(held)

    expect(third.fence).toMatchObject({ attempt: 2, epoch: 3 })
    const after = await fabric.look(held.executionId)
    expect([after.failureCount, after.reclaimCount]).toEqual([before.failureCount, before.reclaimCount])
    expect(after.attempt).toMatchObject({ number: 2, startedAt: before.attempt!.startedAt, kind: 'retry' })
    for (const act of [
      () => fabric.run('completeExecution', second),
      () => fabric.run('renewLease', { ...second, leaseTtlMs: LEASE_TTL_MS }),
      () => journal.record(second, 'late'),
      () => journal.open(second, 'late'),
      () => journal.wait(second, { name: 'late' }),
    ]) {
      expect((await refusal(fabric, act)).code).toBe('stale_lease')
    }
  })

  test('a claim returns why it continues', async () => {
    const held = await journal.waiting()
    await journal.signal(held, 'reply')

    expect((await given.claim()).executions).toMatchObject([
      { attemptKind: 'initial', journal: { stepCount: 1, resumed: { step: 'answer', cause: 'signal' } } },
    ])
  })

  test('is idempotent per lease, also after it has continued', async () => {
    const held = await given.activeExecution()
    const first = await journal.wait(held, { timeoutMs: 60_000, keyId: 'key-1' })
    const before = await fabric.dump()
    clock.advance(1)

    // The same waitpoints, so that a caller that lost the reply can make the same tokens.
    const again = await journal.wait(held, { timeoutMs: 60_000 })
    expect(again).toEqual({ ...first, kind: 'already_suspended' })
    expect(await fabric.dump()).toEqual(before)

    await journal.signal(held, 'reply')
    expect(await journal.wait(held, { timeoutMs: 60_000 })).toMatchObject({
      kind: 'already_suspended',
    })
  })

  test('a foreign fence gets no information about a wait', async () => {
    const held = await journal.waiting()
    const strange = { ...held, fence: { ...held.fence, leaseId: 'strange' } }

    expect((await refusal(fabric, () => journal.wait(strange))).code).toBe('execution_not_active')
  })

  test('repeated by a later holder it is answered as it ended', async () => {
    const held = await journal.waiting()
    await journal.signal(held, 'reply', { name: 'yes', by: 'ada' })
    const next = await given.claimOf(held)

    expect(await journal.wait(next)).toMatchObject({
      kind: 'answered',
      step: {
        state: { phase: 'closed', how: 'satisfied', by: 'ada', reason: 'yes' },
        wait: { satisfiers: [1], closer: 1 },
      },
    })
    expect((await fabric.look(held.executionId)).state.phase).toBe('active')
  })

  test('a worker that dies after it was resumed leaves the answer to the next attempt', async () => {
    const held = await journal.waiting()
    await journal.signal(held, 'reply')
    await given.claimOf(held)
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()
    const next = await given.claim()

    // What resumed the earlier attempt does not affect this one.
    expect(next.executions).toMatchObject([{ fence: { attempt: 2 }, attemptKind: 'reclaim' }])
    expect(await journal.journal(held)).not.toHaveProperty('resumed', expect.anything())
    expect(await journal.wait(heldOf(next.executions[0]!))).toMatchObject({ kind: 'answered' })
  })

  test('what came early answers at once, and the lease is kept', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply')
    await journal.signal(held, 'reply', { by: 'ada' })

    expect(await journal.wait(held, { timeoutMs: 5_000 })).toMatchObject({
      kind: 'answered',
      step: { state: { phase: 'closed', how: 'satisfied' }, wait: { satisfiers: [1], closer: 1 } },
    })
    expect((await fabric.look(held.executionId)).state.phase).toBe('active')
    expect(await journal.effect(held, 'reply')).toBe('waitpoint_closed')
    expect(await journal.wait(held)).toMatchObject({ kind: 'answered' })
    await fabric.run('completeExecution', held)
  })

  test('what came early and is not enough counts all the same', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'a')
    await journal.open(held, 'b')
    await journal.signal(held, 'a')
    await journal.signal(held, 'b', { name: 'unwanted' })

    expect(await journal.wait(held, { for: every(one('a'), one('b', 'go')), opens: [] })).toMatchObject({
      kind: 'suspended',
      waitpoints: [
        { target: 'a', isOpen: true },
        { target: 'b', isOpen: true },
      ],
    })
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1] })
    expect(await journal.effect(held, 'a')).toBe('counted_before')
    expect(await journal.effect(held, 'b')).toBe('resumed')
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1, 4], closer: 4 })
  })

  test('waits at waitpoints that were opened before, at its own and at mailboxes together', async () => {
    const held = await given.activeExecution()
    const before = await journal.opened(held, 'early', { keyId: 'first' })

    const result = await journal.wait(held, {
      for: either(one('early', 'never'), one('own', 'never'), one('@post')),
      opens: ['own', 'early'],
      keyId: 'second',
    })

    // What was opened before keeps its tokens.
    expect(result).toMatchObject({
      kind: 'suspended',
      waitpoints: [
        { target: 'early', waitpointId: before.waitpointId, generation: before.generation, keyId: 'first' },
        { target: 'own', generation: 1, keyId: 'second' },
      ],
    })
    expect(await journal.effect(held, '@post', { name: 'post' })).toBe('resumed')
    expect(await journal.effect(held, 'early')).toBe('waitpoint_closed')
    expect(await journal.effect(held, 'own')).toBe('waitpoint_closed')
  })

  test('lasts as long as its waitpoint was opened for, if asked to', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply', { expiresInMs: 5_000 })
    const until = clock.now() + 5_000
    clock.advance(2_000)

    expect(await journal.wait(held, { opens: [], untilExpiry: true })).toMatchObject({ kind: 'suspended', until })
    expect(await journal.journal(held)).toMatchObject({ open: [{ target: 'reply' }] })
    clock.advanceTo(until)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'suspension_timeout' }])
    expect(await journal.step(held, 'answer')).toMatchObject({ state: { phase: 'closed', how: 'timed_out' } })
  })

  test('a time of its own goes before that of its waitpoint, and where none has an end it has none', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply', { expiresInMs: 5_000 })
    const timed = { opens: [], untilExpiry: true, timeoutMs: 9_000 }
    expect(await journal.wait(held, timed)).toMatchObject({ until: clock.now() + 9_000 })
    await journal.signal(held, 'reply')
    const next = await given.claimOf(held)

    const endless = await journal.wait(next, { name: 'endless', for: one('own'), opens: ['own'], untilExpiry: true })
    expect(endless).toMatchObject({ kind: 'suspended' })
    expect(endless).not.toHaveProperty('until', expect.anything())
  })

  test('an earlier answer stays readable when a later wait is refused, and when it is not', async () => {
    const held = await journal.waiting()
    await journal.signal(held, 'reply', { bytes: Uint8Array.of(1, 2) })
    const next = await given.claimOf(held)
    await refusal(fabric, () => journal.wait(next, { name: 'other', opens: [], for: one('nowhere') }))
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1], closer: 1 })

    await journal.wait(next, { name: 'other', for: one('@more') })

    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1], closer: 1 })
    const { result, blobs } = await fabric.reply('readSignals', { ...held, payloads: true })
    expect(result).toMatchObject({ kind: 'signals', signals: [{ signal: { sequence: 1 }, payloadBlob: 0 }] })
    expect([...blobs[0]!]).toEqual([1, 2])
  })

  test('every wait is kept, with how it ended', async () => {
    let held = await given.activeExecution()
    for (const name of ['first', 'second']) {
      await journal.wait(held, { name })
      await journal.signal(held, 'reply')
      held = await given.claimOf(held)
    }
    await journal.sleep(held, 1_000)
    clock.advance(1_000)
    await fabric.duePass()

    expect((await journal.views(held)).map(({ step, isFinal }) => [step.name, step.state.phase, isFinal])).toEqual([
      ['first', 'closed', true],
      ['second', 'closed', true],
      ['nap', 'closed', true],
    ])
  })

  test('an execution that was asked to stop does not wait', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    expect(await journal.wait(held)).toEqual({ kind: 'cancelled' })
    expect(await journal.wait(held)).toEqual({ kind: 'already_cancelled' })
    expect((await fabric.look(held.executionId)).state).toMatchObject({ phase: 'ended', outcome: 'cancelled' })
  })

  test('an expired lease cannot wait', async () => {
    const held = await given.abandonedExecution()

    expect((await refusal(fabric, () => journal.wait(held))).code).toBe('lease_expired')
  })

  test('the time that it waits does not count against the attempt', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: 10_000 })
    clock.advance(4_000)
    await journal.wait(held)
    clock.advance(100_000)
    expect((await fabric.duePass()).handled).toEqual([])
    await journal.signal(held, 'reply')
    clock.advance(50_000)

    expect((await given.claim()).executions).toMatchObject([{ timeoutAt: clock.now() + 6_000 }])
    clock.advance(6_000)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'attempt_timeout' }])
  })

  test('a resume delay is waited for after the answer, and only then', async () => {
    const held = await journal.waiting({ resumeDelayMs: 3_000 })
    await journal.signal(held, 'reply')
    const until = clock.now() + 3_000

    expect((await fabric.look(held.executionId)).state).toEqual({ phase: 'delayed', until, cause: 'resume' })
    expect((await given.claim()).executions).toEqual([])
    clock.advanceTo(until)
    expect((await given.claim()).executions).toMatchObject([{ fence: { attempt: 1, epoch: 2 } }])

    const early = await given.activeExecution({ class: 'early' }, { queues: [{ lane: 'main', class: 'early' }] })
    await journal.signal(early, '@post')
    expect(await journal.wait(early, { for: one('@post'), opens: [], resumeDelayMs: 3_000 })).toMatchObject({
      kind: 'answered',
    })
  })

  test('a signal and a timeout at once: in either order the timeout ends the wait, and the signal is refused', async () => {
    for (const signalFirst of [true, false]) {
      const held = await journal.waiting({ timeoutMs: 1_000, onTimeout: 'fail' })
      clock.advance(1_000)
      const acts = [() => journal.effect(held, 'reply'), async () => (await fabric.duePass()).handled.length]
      const [first, second] = signalFirst ? acts : acts.toReversed()
      const answers = await Promise.all([first!(), second!()])

      expect(answers).toEqual(signalFirst ? ['execution_ended', 1] : [1, 'execution_ended'])
      expect((await fabric.look(held.executionId)).state.phase).toBe('ended')
    }
  })
})
