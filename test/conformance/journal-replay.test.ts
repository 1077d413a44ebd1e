/** Replays keep what was recorded, or set it aside from a chosen step on; a replaced execution begins with nothing. */
import { expect, test } from 'vitest'
import { STEP_TOTAL_BYTES } from '../../src/kernel/index.ts'
import type { ReplayFrom } from '../../src/kernel/index.ts'
import { one } from './condition-nodes.ts'
import { forcedCancel } from './given.ts'
import type { Held } from './given.ts'
import { stepFailure } from './given-journal.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('a replay of what was recorded', ({ fabric, given, flows, journal }) => {
  /** Steps a, b and c, each with a value, and an execution that completed. */
  const recorded = async (): Promise<Held> => {
    const held = await given.activeExecution()
    for (const name of ['a', 'b', 'c']) await journal.recordValue(held, name, new TextEncoder().encode(name))
    await fabric.run('completeExecution', held)
    return held
  }
  const replay = (held: Held, from?: ReplayFrom) =>
    fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId(), from })
  const names = async (held: Held) => (await journal.views(held)).map(({ step }) => step.name)

  test('keeps all of it by default', async () => {
    const held = await recorded()
    await replay(held)
    const { executions } = await given.claim()

    expect(executions).toMatchObject([{ attemptKind: 'replay', journal: { stepCount: 3, round: 1, era: 0 } }])
    expect(await names(held)).toEqual(['a', 'b', 'c'])
  })

  test('from the start sets all aside at once and removes it in the background', async () => {
    const held = await recorded()
    expect(await replay(held, { kind: 'start' })).toMatchObject({ kind: 'replayed' })

    expect(await names(held)).toEqual([])
    expect((await journal.journal(held)).stepCount).toBe(3)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'journal_sweeper' }])
    expect(await journal.journal(held)).toMatchObject({ stepCount: 0, stepBytes: 0, cuts: [], era: 1, nextPosition: 3 })
    expect((await fabric.dump()).blobKeys).toEqual([])
  })

  test('from a step keeps those before it', async () => {
    const held = await recorded()
    await replay(held, { kind: 'step', name: 'b' })
    const next = await given.claimOf(held)

    expect(await names(held)).toEqual(['a'])
    expect(await journal.record(next, 'a')).toMatchObject({ kind: 'already_recorded' })
    // What was set aside is recorded anew, also before it was removed.
    await journal.recordValue(next, 'c', new TextEncoder().encode('new'))
    expect(await names(held)).toEqual(['a', 'c'])
    await flows.drain()
    expect(await names(held)).toEqual(['a', 'c'])
    const { result, blobs } = await fabric.reply('readSteps', { executionId: held.executionId, values: true })
    expect(result).toMatchObject({ steps: [{ step: { position: 0 } }, { step: { position: 3 } }] })
    expect(blobs.map((blob) => new TextDecoder().decode(blob))).toEqual(['a', 'new'])
  })

  test('from one step and then from an earlier one leaves what stands before both', async () => {
    const held = await recorded()
    await replay(held, { kind: 'step', name: 'c' })
    const next = await given.claimOf(held)
    await journal.record(next, 'd')
    await fabric.run('completeExecution', next)
    await replay(held, { kind: 'step', name: 'b' })

    expect(await names(held)).toEqual(['a'])
    await flows.drain()
    expect(await journal.journal(held)).toMatchObject({ stepCount: 1, cuts: [], era: 2 })
  })

  test('from a step that was never recorded, or was set aside, is refused', async () => {
    const held = await recorded()
    expect(await refusal(fabric, () => replay(held, { kind: 'step', name: 'x' }))).toMatchObject({
      code: 'step_not_found',
      detail: { step: 'x' },
    })
    await replay(held, { kind: 'step', name: 'b' })
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    expect((await refusal(fabric, () => replay(held, { kind: 'step', name: 'c' }))).code).toBe('step_not_found')
  })

  test('repeated sets aside once', async () => {
    const held = await recorded()
    const input = { executionId: held.executionId, requestId: 'same', from: { kind: 'step', name: 'b' } } as const
    await fabric.run('replayExecution', input)
    await journal.record(await given.claimOf(held), 'b')

    expect(await fabric.run('replayExecution', input)).toMatchObject({ kind: 'already_replayed' })
    expect(await names(held)).toEqual(['a', 'b'])
  })

  test('many steps are removed in several passes, and none that counts', async () => {
    const held = await given.activeExecution()
    for (let i = 0; i < 150; i++) await journal.record(held, `s${i}`)
    await fabric.run('completeExecution', held)
    await replay(held, { kind: 'step', name: 's10' })
    const handled = await flows.drain()

    expect(handled.length).toBeGreaterThan(1)
    expect(await journal.journal(held)).toMatchObject({ stepCount: 10, cuts: [] })
  })

  test('what was set aside does not use up what may be recorded, until it is removed', async () => {
    const held = await given.activeExecution()
    const sized = (size: number) => ({ outcome: { ...stepFailure, size } as typeof stepFailure })
    await journal.record(held, 'large', sized(STEP_TOTAL_BYTES))
    await fabric.run('completeExecution', held)
    await replay(held, { kind: 'start' })
    const next = await given.claimOf(held)

    expect(await journal.record(next, 'other', sized(STEP_TOTAL_BYTES))).toMatchObject({ kind: 'recorded' })
    expect((await refusal(fabric, () => journal.record(next, 'more', sized(1)))).code).toBe('step_bytes_exceeded')
    await flows.drain()
    expect(await journal.journal(held)).toMatchObject({ stepBytes: STEP_TOTAL_BYTES, cuts: [] })
    expect((await refusal(fabric, () => journal.record(next, 'more', sized(1)))).code).toBe('step_bytes_exceeded')
  })

  test('answered waits stay answered; one that the end cut short waits anew', async () => {
    const held = await journal.waiting({ name: 'answered' })
    await journal.signal(held, 'reply')
    const next = await given.claimOf(held)
    await journal.wait(next, { name: 'open' })
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    await replay(held)
    const last = await given.claimOf(held)

    expect(await journal.wait(last, { name: 'answered' })).toMatchObject({ kind: 'answered' })
    expect(await journal.wait(last, { name: 'open' })).toMatchObject({ kind: 'suspended' })
    expect(await journal.step(held, 'open')).toMatchObject({ attemptCount: 2, state: { phase: 'open' } })
    expect(await journal.effect(held, 'reply')).toBe('resumed')
  })

  test('from a wait waits anew, also where its waitpoint was opened before it', async () => {
    const held = await given.activeExecution()
    const view = await journal.opened(held, 'reply')
    await journal.wait(held)
    await journal.signal(held, 'reply')
    await fabric.run('completeExecution', await given.claimOf(held))
    await replay(held, { kind: 'step', name: 'answer' })
    const next = await given.claimOf(held)
    await journal.open(next, 'reply')

    expect(await journal.wait(next)).toMatchObject({ kind: 'suspended' })
    expect(await journal.step(held, 'answer')).toMatchObject({ attemptCount: 1, state: { phase: 'open' } })
    const token = journal.tokenOf(view)
    expect((await refusal(fabric, () => journal.signal(held, 'reply', { token }))).code).toBe('token_expired')
    expect(await journal.effect(held, 'reply')).toBe('resumed')
  })

  test('from the start in a flow sets aside as anywhere else', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    const held = await graph.claim('a')
    await journal.record(held, 'step')
    await graph.complete('a')
    await graph.replay('a', { from: { kind: 'start' } })
    await flows.drain()

    expect(await journal.views(held)).toEqual([])
    await graph.complete('a', 'b')
    expect((await graph.view()).state).toBe('completed')
  })

  test('what was not consumed in a mailbox is consumed by the run that follows', async () => {
    const held = await given.activeExecution()
    await journal.signal(held, '@go')
    await fabric.run('completeExecution', held)
    await replay(held, { kind: 'start' })

    expect(await journal.wait(await given.claimOf(held), { for: one('@go'), opens: [] })).toMatchObject({
      kind: 'answered',
    })
  })

  test('an execution that takes the place of another begins with nothing, under the same names', async () => {
    const held = await recorded()
    const { executionId } = held
    await replay(held)
    const again = await given.claimOf(held)
    await journal.open(again, 'reply')
    await journal.signal(again, 'reply', { key: 'k', bytes: Uint8Array.of(1) })
    await journal.signal(again, '@go', { key: 'k' })
    await fabric.run('completeExecution', again)

    expect(await given.submit({ executionId, ifExists: 'replace' })).toMatchObject({ kind: 'replaced' })
    const next = await given.claimOf(held)
    expect(await names(held)).toEqual([])
    expect(await journal.signals(held)).toEqual([])
    expect(await journal.record(next, 'a')).toMatchObject({ kind: 'recorded' })
    expect(await journal.signal(next, '@go', { key: 'k' })).toMatchObject({ kind: 'delivered', sequence: 1 })
    expect(await journal.open(next, 'reply')).toMatchObject({ kind: 'opened', waitpoint: { generation: 1 } })
    await flows.drain()

    expect(await journal.journal(held)).toMatchObject({ life: 1, firstLife: 1, stepCount: 2, signalCount: 1 })
    const { records, blobKeys } = await fabric.dump()
    expect(records.filter(({ type }) => type === 'step' || type === 'waitpoint' || type === 'signal')).toHaveLength(5)
    expect(blobKeys).toEqual([])
  })

  test('signals for an execution that was replaced before it began are not for the next', async () => {
    const submitted = await given.eligibleExecution()
    await journal.signal(submitted, '@go')
    await given.submit({ ...submitted, ifExists: 'replace' })
    await flows.drain()

    expect(await journal.wait(await given.claimOf(submitted), { for: one('@go'), opens: [] })).toMatchObject({
      kind: 'suspended',
    })
  })
})
