/** What a step came to is kept under the lease's fence and never overwritten; the handler that runs again is answered from it. */
import { expect, test } from 'vitest'
import { STEP_PAGE_BYTES, STEP_TOTAL_BYTES } from '../../src/kernel/index.ts'
import type { ReadStepsResult } from '../../src/kernel/index.ts'
import { LEASE_TTL_MS, fixedRetry, heldOf, permanentFailure, politeCancel, transientFailure } from './given.ts'
import { stepFailure, stepRetry } from './given-journal.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

conforms('recordStep', ({ fabric, given, journal, clock }) => {
  test('keeps a value, and reading it gives it back', async () => {
    const held = await given.activeExecution()
    expect(await journal.recordValue(held, 'fetch', bytes('page'))).toEqual({ kind: 'recorded', at: clock.now() })
    await journal.record(held, 'nothing')

    const { result, blobs } = await fabric.reply('readSteps', { executionId: held.executionId, values: true })
    expect(result).toMatchObject({
      kind: 'steps',
      steps: [
        { step: { kind: 'call', name: 'fetch', position: 0, attemptCount: 1, size: 4 }, valueBlob: 0, isFinal: true },
        { step: { name: 'nothing', position: 1, size: 0 }, isFinal: true },
      ],
    })
    expect(blobs.map((blob) => new TextDecoder().decode(blob))).toEqual(['page'])
    expect(await given.eventsOf(held, 'step_recorded')).toMatchObject([
      { step: 'fetch', effect: 'completed', attempt: 1 },
      { step: 'nothing', effect: 'completed' },
    ])
  })

  test('repeated, also with another value, it answers what was recorded and writes nothing', async () => {
    const held = await given.activeExecution()
    await journal.recordValue(held, 'fetch', bytes('first'))
    const before = await fabric.dump()
    clock.advance(1)
    const value = { blob: 0, size: 6, encoding: 'bytes' } as const
    const step = { stepKind: 'call', name: 'fetch', attemptCount: 2, outcome: { kind: 'completed', value } } as const

    const { result, blobs } = await fabric.reply('recordStep', { ...held, ...step }, [bytes('second')])

    expect(result).toMatchObject({ kind: 'already_recorded', state: { phase: 'completed' }, valueBlob: 0 })
    expect(new TextDecoder().decode(blobs[0])).toBe('first')
    expect(await fabric.dump()).toEqual(before)
  })

  test('steps of different kinds may share a name', async () => {
    const held = await given.activeExecution()
    await journal.record(held, 'start')
    await journal.record(held, 'start', { stepKind: 'now' })
    await journal.open(held, 'start')
    await journal.sleep(held, 1_000, 'start')

    expect((await journal.views(held)).map(({ step }) => [step.kind, step.position])).toEqual([
      ['call', 0],
      ['now', 1],
      ['waitpoint', 2],
      ['sleep', 3],
    ])
  })

  test('survives a worker that died, whatever attempt comes next', async () => {
    const held = await given.activeExecution()
    await journal.recordValue(held, 'fetch', bytes('page'))
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()
    const { executions } = await given.claim()

    expect(executions).toMatchObject([{ attemptKind: 'reclaim', journal: { stepCount: 1, round: 0 } }])
    expect(await journal.record(heldOf(executions[0]!), 'fetch')).toMatchObject({ kind: 'already_recorded' })
  })

  test('a failure is an answer until the execution itself is tried again', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    await journal.record(held, 'fetch', { outcome: stepFailure, attemptCount: 3 })
    await journal.record(held, 'done')
    expect(await journal.record(held, 'fetch')).toMatchObject({
      kind: 'already_recorded',
      state: { phase: 'failed', failure: { message: 'no luck' } },
    })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    const next = await given.claimOf(held)

    expect((await journal.views(next)).map(({ step, isFinal }) => [step.name, isFinal])).toEqual([
      ['fetch', false],
      ['done', true],
    ])
    expect(await journal.record(next, 'fetch')).toMatchObject({ kind: 'recorded' })
    expect(await journal.step(next, 'fetch')).toMatchObject({ position: 0, size: 0, state: { phase: 'completed' } })
  })

  test('a replay lets failed steps run again and keeps the others', async () => {
    const held = await given.activeExecution()
    await journal.recordValue(held, 'done', bytes('kept'))
    await journal.record(held, 'fetch', { outcome: stepFailure })
    await fabric.run('failExecution', { ...held, ...permanentFailure })
    await fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId() })
    const next = await given.claimOf(held)

    expect(await journal.record(next, 'done')).toMatchObject({ kind: 'already_recorded' })
    expect(await journal.record(next, 'fetch')).toMatchObject({ kind: 'recorded' })
  })

  test('a step that is to be retried releases its worker until then, and the attempt continues', async () => {
    const held = await given.activeExecution()
    const outcome = stepRetry(5_000)
    const until = clock.now() + 5_000
    expect(await journal.record(held, 'fetch', { outcome })).toEqual({ kind: 'suspended', until })
    expect(await journal.record(held, 'fetch', { outcome })).toEqual({ kind: 'already_suspended', until })
    expect((await fabric.look(held.executionId)).state).toMatchObject({
      phase: 'suspended',
      reason: 'step_retry',
      until,
    })

    clock.advance(4_999)
    expect(await fabric.duePass()).toMatchObject({ handled: [], nextDueAt: until })
    clock.advance(1)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'suspension_timeout' }])

    const { executions } = await given.claim()
    expect(executions).toMatchObject([
      { fence: { attempt: 1, epoch: 2 }, journal: { resumed: { step: 'fetch', cause: 'step_retry' } } },
    ])
    const next = heldOf(executions[0]!)
    expect(await journal.step(next, 'fetch')).toMatchObject({ state: { phase: 'retrying' }, attemptCount: 1, size: 12 })
    await journal.record(next, 'fetch', { attemptCount: 2 })
    expect(await journal.step(next, 'fetch')).toMatchObject({ attemptCount: 2, size: 0 })
  })

  test('a step that is to be tried again at once is noted, once for each try', async () => {
    const held = await given.activeExecution()
    const outcome = stepRetry(100, false)
    const first = await journal.record(held, 'fetch', { outcome })
    expect(first).toEqual({ kind: 'recorded', at: clock.now(), until: clock.now() + 100 })
    const before = await fabric.dump()
    clock.advance(1)

    await journal.record(held, 'fetch', { outcome })
    expect(await fabric.dump()).toEqual(before)

    await journal.record(held, 'fetch', { outcome, attemptCount: 2 })
    expect(await journal.step(held, 'fetch')).toMatchObject({ state: { phase: 'retrying' }, attemptCount: 2 })
    expect(await given.eventsOf(held, 'step_recorded')).toMatchObject([{ effect: 'retry' }, { effect: 'retry' }])
  })

  test('a step that would park does not, if its execution was asked to stop', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    expect(await journal.record(held, 'done')).toMatchObject({ kind: 'recorded' })
    expect(await journal.record(held, 'fetch', { outcome: stepRetry(1) })).toEqual({ kind: 'cancelled' })
    expect(await journal.record(held, 'fetch', { outcome: stepRetry(1) })).toEqual({ kind: 'already_cancelled' })
  })

  test('a caller without a lease records nothing', async () => {
    const held = await given.abandonedExecution()
    expect((await refusal(fabric, () => journal.record(held, 'late'))).code).toBe('lease_expired')
    await fabric.duePass()
    await given.claimOf(held)
    expect((await refusal(fabric, () => journal.record(held, 'late'))).code).toBe('stale_lease')
    const nobody = { ...held, executionId: given.newId() }
    expect((await refusal(fabric, () => journal.record(nobody, 'late'))).code).toBe('execution_not_found')
  })

  test('values take so many bytes together and no more', async () => {
    const held = await given.activeExecution()
    const half = STEP_TOTAL_BYTES / 2
    const sized = (size: number) => ({ outcome: { ...stepFailure, size } as typeof stepFailure })
    await journal.record(held, 'a', sized(half))
    await journal.record(held, 'b', sized(half))

    expect(await refusal(fabric, () => journal.record(held, 'c', sized(1)))).toMatchObject({
      code: 'step_bytes_exceeded',
      detail: { limit: STEP_TOTAL_BYTES },
    })
    expect(await journal.record(held, 'c')).toMatchObject({ kind: 'recorded' })
  })

  test('two holders never both record: the one that is one no more is refused in the same batch', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS)
    const [late] = await Promise.all([journal.record(held, 'fetch'), fabric.duePass()])

    expect(late).toMatchObject({ kind: 'refused', code: 'lease_expired' })
    expect(await journal.views(held)).toEqual([])
  })
})

conforms('readSteps', ({ fabric, given, journal }) => {
  test('goes through many steps page by page, in the order in which they were recorded', async () => {
    const held = await given.activeExecution()
    const names = Array.from({ length: 25 }, (_, i) => `s${i}`)
    for (const name of names) await journal.record(held, name)
    const seen: string[] = []
    let from: number | undefined = 0
    while (from !== undefined) {
      const page: ReadStepsResult = await fabric.run('readSteps', { executionId: held.executionId, from, limit: 10 })
      if (page.kind === 'refused') throw new Error(page.code)
      seen.push(...page.steps.map(({ step }) => step.name))
      from = page.next
    }

    expect(seen).toEqual(names)
  })

  test('a page ends before its bytes are too many', async () => {
    const held = await given.activeExecution()
    const size = STEP_PAGE_BYTES / 2
    for (const name of ['a', 'b', 'c']) await journal.recordValue(held, name, new Uint8Array(size))

    const first = await fabric.reply('readSteps', { executionId: held.executionId, values: true })
    expect(first.result).toMatchObject({ steps: { length: 2 }, next: 2 })
    expect(first.blobs.map((blob) => blob.byteLength)).toEqual([size, size])
    const rest = await fabric.reply('readSteps', { executionId: held.executionId, from: 2, values: true })
    expect(rest.result).toMatchObject({ steps: [{ step: { name: 'c' } }] })
  })

  test('an execution that recorded nothing has no steps to read', async () => {
    const { executionId } = await given.eligibleExecution()

    expect(await fabric.run('readSteps', { executionId })).toMatchObject({ kind: 'steps', steps: [] })
    expect(await fabric.run('readSignals', { executionId })).toMatchObject({ kind: 'signals', signals: [] })
    expect(await fabric.run('readSteps', { executionId: given.newId() })).toMatchObject({ code: 'execution_not_found' })
    expect(await fabric.run('readSignals', { executionId: given.newId() })).toMatchObject({
      code: 'execution_not_found',
    })
  })
})
