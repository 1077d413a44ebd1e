/** A waitpoint that closed before its wait: signals sent in time are delivered, and no wait opens where no signal can come. */
import { expect, test } from 'vitest'
import type { ReplayFrom, TimeoutBehaviour } from '../../src/kernel/index.ts'
import { count, either, every, one } from './condition-nodes.ts'
import { forcedCancel } from './given.ts'
import type { Held } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

type End = 'expired' | 'expired and handled' | 'closed'

const ends: readonly End[] = ['expired', 'expired and handled', 'closed']

conforms('a wait that comes after its waitpoint has closed', ({ fabric, given, journal, clock }) => {
  /** A holder whose waitpoint `reply` received so many signals, and is closed. */
  const closed = async (end: End, signalCount: number): Promise<Held> => {
    const held = await given.activeExecution({}, { leaseTtlMs: 600_000 })
    await journal.open(held, 'reply', { expiresInMs: 1_000 })
    for (let i = 0; i < signalCount; i++) await journal.signal(held, 'reply')
    if (end === 'closed') await close(held)
    else clock.advance(1_000)
    if (end === 'expired and handled') await fabric.duePass()
    return held
  }
  const close = ({ executionId }: Held) =>
    fabric.run('closeWaitpoint', { executionId, target: 'reply', reason: 'unused', by: 'operator' })
  const how = (end: End) => (end === 'closed' ? 'operator' : 'timed_out')

  test.each(ends)('is answered by what came in time, although it is %s', async (end) => {
    const held = await closed(end, 2)

    expect(await journal.wait(held, { opens: [] })).toMatchObject({
      kind: 'answered',
      step: { state: { phase: 'closed', how: 'satisfied' }, wait: { satisfiers: [1], closer: 1 } },
    })
    expect((await journal.signals(held)).map(({ isWaiting }) => isWaiting)).toEqual([false, true])
    expect(await journal.journal(held)).toMatchObject({ open: [], bufferedCount: 0 })
    expect((await fabric.look(held.executionId)).state.phase).toBe('active')
  })

  test.each(ends)('ends at once if that was not enough and no more can come: %s', async (end) => {
    const held = await closed(end, 1)
    const answer = await journal.wait(held, { for: count(2, ['reply']), opens: [], timeoutMs: 60_000 })

    expect(answer).toMatchObject({
      kind: 'answered',
      step: {
        state: { phase: 'closed', how: how(end), reason: end === 'closed' ? 'unused' : 'expired' },
        wait: { satisfiers: [1] },
      },
    })
    expect(answer).not.toHaveProperty('step.wait.closer', expect.anything())
    expect(await journal.wait(held, { for: count(2, ['reply']), opens: [] })).toEqual(answer)
    expect(await journal.journal(held)).toMatchObject({ open: [] })
  })

  test.each<[TimeoutBehaviour, object]>([
    ['fail', { phase: 'ended', outcome: 'failed' }],
    ['cancel', { phase: 'ended', outcome: 'cancelled' }],
    ['expire', { phase: 'ended', outcome: 'expired' }],
    ['resume_with_signal', { phase: 'eligible' }],
    ['escalate', { phase: 'suspended', reason: 'operator_review' }],
  ])('lets happen at once what was asked for when time is up: %s', async (onTimeout, state) => {
    for (const end of ['expired', 'expired and handled'] as const) {
      const held = await closed(end, 0)
      const wait = { opens: [], timeoutMs: 60_000, onTimeout }
      expect(await journal.wait(held, wait)).toMatchObject({ kind: 'suspended', until: clock.now() })

      expect((await fabric.duePass()).handled).toMatchObject([{ case: 'suspension_timeout' }])
      expect((await fabric.look(held.executionId)).state).toMatchObject(state)
      await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    }
  })

  test('continues, whatever its timeout would do, if an operator closed it', async () => {
    const held = await closed('closed', 0)

    expect(await journal.wait(held, { opens: [], onTimeout: 'fail' })).toMatchObject({
      kind: 'answered',
      step: { state: { how: 'operator', reason: 'unused' } },
    })
  })

  test.each(ends)('listens on elsewhere, and counts what came there in time: %s', async (end) => {
    const held = await closed(end, 1)
    await journal.wait(held, { for: every(one('reply'), one('own'), one('@go')), opens: ['own'] })

    expect(await journal.effect(held, 'reply')).toBe('waitpoint_closed')
    expect(await journal.effect(held, 'own')).toBe('counted')
    expect(await journal.effect(held, '@go')).toBe('resumed')
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1, 2, 3], closer: 3 })
  })

  test.each(ends)('opens it anew if that is what it asks for, unless it merely ran out unseen: %s', async (end) => {
    const held = await closed(end, 1)
    const result = await journal.wait(held)

    if (end === 'expired') expect(result).toMatchObject({ kind: 'answered', step: { wait: { satisfiers: [1] } } })
    else {
      expect(result).toMatchObject({ kind: 'suspended', waitpoints: [{ target: 'reply', generation: 2 }] })
      expect(await journal.effect(held, 'reply')).toBe('resumed')
      expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [2] })
    }
  })

  test('is refused where another wait was answered, also beside places that are open', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'reply')
    await journal.wait(held)
    await journal.signal(held, 'reply')
    const next = await given.claimOf(held)

    for (const asked of [one('reply'), either(one('reply'), one('@go'))]) {
      const wait = () => journal.wait(next, { name: 'more', for: asked, opens: [] })
      expect(await refusal(fabric, wait)).toMatchObject({ code: 'waitpoint_closed', detail: { waitpoint: 'reply' } })
    }
  })

  test('is refused where none was opened, and writes nothing', async () => {
    const held = await given.activeExecution()
    const wait = () => journal.wait(held, { for: every(one('own'), one('unknown')), opens: ['own'] })

    expect(await refusal(fabric, wait)).toMatchObject({
      code: 'waitpoint_not_found',
      detail: { executionId: held.executionId, waitpoint: 'unknown' },
    })
  })
})

conforms('a waitpoint over which its execution ended', ({ fabric, given, journal }) => {
  const endAndReplay = async (held: Held, from?: ReplayFrom): Promise<Held> => {
    const { executionId } = held
    await fabric.run('cancelExecution', { executionId, ...forcedCancel })
    await fabric.run('replayExecution', { executionId, requestId: given.requestId(), from })
    return given.claimOf(held)
  }

  test('stays valid after a replay: the same tokens, and the buffered signals', async () => {
    const held = await given.activeExecution()
    const view = await journal.opened(held, 'reply', { keyId: 'key-1' })
    const token = journal.tokenOf(view)
    await journal.signal(held, 'reply', { token, key: 'k' })
    const next = await endAndReplay(held)
    const before = await journal.waitpoint(held, 'reply')
    expect(before).toMatchObject({ bufferedCount: 1, round: 1, generation: 1 })

    expect(await journal.open(next, 'reply', { keyId: 'key-2' })).toEqual({ kind: 'opened', waitpoint: view })
    expect(await journal.waitpoint(held, 'reply')).toEqual(before)
    expect((await journal.views(next)).map(({ step }) => [step.name, step.position])).toEqual([['reply', 0]])
    expect(await journal.signal(held, 'reply', { token, key: 'k' })).toMatchObject({ kind: 'duplicate' })
    expect(await journal.effect(held, 'reply', { token })).toBe('buffered')
    expect(await journal.wait(next, { for: count(2, ['reply']), opens: [] })).toMatchObject({
      kind: 'answered',
      step: { wait: { satisfiers: [1, 2] } },
    })
  })

  test('stays open for a wait that names it and does not open one of its own', async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'reply'))
    await journal.signal(held, 'reply')
    const next = await endAndReplay(held)
    expect(await journal.wait(next, { for: count(2, ['reply']), opens: [] })).toMatchObject({
      kind: 'suspended',
      waitpoints: [{ generation: 1, isOpen: true }],
    })

    expect(await journal.effect(held, 'reply', { token })).toBe('resumed')
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1, 2] })
  })

  test('stays open for the wait that had opened it', async () => {
    const held = await given.activeExecution()
    const first = await journal.wait(held)
    if (first.kind !== 'suspended') throw new Error(first.kind)
    const next = await endAndReplay(held)

    const second = await journal.wait(next)
    expect(second).toEqual({ ...first, waitpoints: first.waitpoints })
    const token = journal.tokenOf(first.waitpoints[0]!)
    expect(await journal.effect(held, 'reply', { token })).toBe('resumed')
  })

  test.each(['early', 'in time'] as const)(
    'continues with the votes that came %s, each of them counted once',
    async (when) => {
      const held = await given.activeExecution()
      await journal.open(held, 'reply')
      const asked = { for: count(2, ['reply'], { by: 'sources' }), opens: [] }
      const vote = { by: 'ada', key: 'k' }
      if (when === 'early') await journal.signal(held, 'reply', vote)
      await journal.wait(held, asked)
      if (when === 'in time') await journal.signal(held, 'reply', vote)
      const next = await endAndReplay(held)
      expect(await journal.wait(next, asked)).toMatchObject({ kind: 'suspended' })

      expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1], nodes: [{ has: 1 }] })
      expect(await journal.signal(held, 'reply', vote)).toMatchObject({ kind: 'duplicate', sequence: 1 })
      expect(await journal.effect(held, 'reply', { by: 'ada' })).toBe('counted_before')
      expect(await journal.effect(held, 'reply', { by: 'bob' })).toBe('resumed')
      expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [1, 3], closer: 3 })
    },
  )

  test('does not affect another wait that opens one under its name', async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'reply'))
    await journal.signal(held, 'reply')
    const next = await endAndReplay(held)
    expect(await journal.wait(next)).toMatchObject({ kind: 'suspended', waitpoints: [{ generation: 2 }] })

    expect(await journal.journal(held)).toMatchObject({ bufferedCount: 0 })
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token }))).code).toBe('token_expired')
    expect(await journal.effect(held, 'reply')).toBe('resumed')
    expect((await journal.step(held, 'answer')).wait).toMatchObject({ satisfiers: [2] })
  })

  test('is opened as a new one once a replay has set aside the step that had opened it', async () => {
    const held = await given.activeExecution()
    const old = await journal.opened(held, 'reply')
    await journal.signal(held, 'reply')
    const next = await endAndReplay(held, { kind: 'start' })
    const view = await journal.opened(next, 'reply')

    expect(view).toMatchObject({ waitpointId: old.waitpointId, generation: 2, isOpen: true })
    expect(await journal.waitpoint(held, 'reply')).toMatchObject({ round: 2, openedAfter: 1, bufferedCount: 0 })
    const token = journal.tokenOf(old)
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token }))).code).toBe('token_expired')
    expect(await journal.wait(next, { opens: [] })).toMatchObject({ kind: 'suspended' })
  })

  test('accepts nothing until it is opened again', async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'reply'))
    const next = await endAndReplay(held)

    expect((await refusal(fabric, () => journal.signal(next, 'reply', { token }))).code).toBe('waitpoint_closed')
  })
})
