import { expect, test } from 'vitest'
import { ATTEMPT_HISTORY_MAX, REPLAY_CAP } from '../../src/kernel/index.ts'
import { DELAY_MS, LANE, fixedRetry, heldOf, reachablePhases, transientFailure } from './given.ts'
import { conforms } from './harness.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

conforms('createExecution of an id that exists', ({ fabric, given, clock }) => {
  test('its own repetition is answered as before and creates nothing', async () => {
    const input = given.createInput({ ifExists: 'reject' })

    const first = await fabric.run('createExecution', input)
    clock.advance(5)
    const again = await fabric.run('createExecution', input)

    expect(again).toEqual(first)
    expect(await given.eventTypesOf(input)).toEqual(['execution_created'])
    expect(await given.readyOrder()).toHaveLength(1)
  })

  test('its own repetition is recognised in every later phase', async () => {
    const input = given.createInput({ ifExists: 'reject' })
    await fabric.run('createExecution', input)
    const held = await given.claimOf(input)
    expect(await fabric.run('createExecution', input)).toMatchObject({ kind: 'created', state: 'active' })
    await fabric.run('completeExecution', held)

    expect(await fabric.run('createExecution', input)).toMatchObject({ kind: 'created', state: 'completed' })
    expect(await given.eventsOf(input, 'execution_created')).toHaveLength(1)
  })

  test('a repetition of a replaced submit starts nothing, however late', async () => {
    const { executionId } = await given.endedExecution('completed')
    const first = given.createInput({ executionId, ifExists: 'replace' })
    await fabric.run('createExecution', first)
    await fabric.run('completeExecution', await given.claimOf({ executionId }))
    await given.submit({ executionId, ifExists: 'replace', priority: 7 })
    await fabric.run('completeExecution', await given.claimOf({ executionId }))
    const before = await fabric.dump()

    expect(await fabric.run('createExecution', first)).toMatchObject({ kind: 'created', state: 'completed' })
    expect(await fabric.dump()).toEqual(before)
  })

  test.each(reachablePhases)('join follows the existing run while it is %s and changes nothing', async (phase) => {
    const existing = await given.inPhase(phase, { priority: 3 })
    const before = await fabric.dump()

    const result = await given.submit({ ...existing, ifExists: 'join', priority: 9, bytes: bytes('other') })

    expect(result).toMatchObject({ kind: 'joined', executionId: existing.executionId })
    expect(await fabric.dump()).toEqual(before)
  })

  test.each(reachablePhases)('join refuses the execution of another task while it is %s', async (phase) => {
    const existing = await given.inPhase(phase)
    const before = await fabric.dump()

    const result = await given.submit({ ...existing, ifExists: 'join', task: 'another', class: 'another' })

    expect(result).toMatchObject({
      kind: 'refused',
      code: 'execution_exists',
      detail: { executionId: existing.executionId, phase },
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test.each(reachablePhases)('reject refuses while it is %s and returns its state', async (phase) => {
    const existing = await given.inPhase(phase)
    const before = await fabric.dump()

    const result = await given.submit({ ...existing, ifExists: 'reject' })

    expect(result).toMatchObject({
      kind: 'refused',
      code: 'execution_exists',
      detail: { executionId: existing.executionId, phase },
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test.each(['eligible', 'delayed'] as const)('replace changes a %s execution in place', async (phase) => {
    const existing = await given.inPhase(phase, {
      bytes: bytes('old'),
      tags: [{ name: 'team', value: 'a', indexed: true }],
    })
    const createdAt = clock.now()
    clock.advance(100)

    const result = await given.submit({
      ...existing,
      ifExists: 'replace',
      lane: 'other lane',
      class: 'other class',
      priority: 8,
      totalTimeoutMs: 9_000,
      bytes: bytes('new'),
      tags: [{ name: 'team', value: 'b', indexed: true }],
    })

    expect(result).toMatchObject({ kind: 'replaced', state: 'waiting', at: createdAt })
    expect(await fabric.look(existing.executionId)).toMatchObject({
      lane: 'other lane',
      class: 'other class',
      priority: 8,
      createdAt,
      deadlineAt: clock.now() + 9_000,
    })
    expect(await given.readyOrder()).toEqual([])
    expect(await given.readyOrder('other lane', 'other class')).toEqual([existing.executionId])
    expect(await given.eventTypesOf(existing)).toEqual(['execution_created', 'execution_replaced'])
    const reply = await fabric.reply('describeExecution', { ...existing, payload: true })
    expect(new TextDecoder().decode(reply.blobs[0])).toBe('new')
  })

  test('replace takes the payload away when the new one has none', async () => {
    const existing = await given.eligibleExecution({ bytes: bytes('old') })

    await given.submit({ ...existing, ifExists: 'replace' })

    expect((await fabric.look(existing.executionId)).payload).toBeUndefined()
    expect((await fabric.reply('describeExecution', { ...existing, payload: true })).blobs).toEqual([])
  })

  test('replace may delay what could have been claimed', async () => {
    const existing = await given.eligibleExecution()

    expect(await given.submit({ ...existing, ifExists: 'replace', delayMs: DELAY_MS })).toMatchObject({
      state: 'delayed',
    })
    expect((await given.claim()).executions).toEqual([])
  })

  test('replace forgets the queue that it leaves empty, and no other', async () => {
    const queues = async () =>
      (await fabric.dump()).records.flatMap((record) => (record.type === 'queue' ? [record.class] : []))
    const existing = await given.eligibleExecution({ class: 'one' })
    await given.eligibleExecution({ class: 'two' })

    await given.submit({ ...existing, ifExists: 'replace', class: 'three' })

    expect((await queues()).toSorted()).toEqual(['three', 'two'])
  })

  test('replace is refused while a worker holds it', async () => {
    const held = await given.activeExecution()
    const before = await fabric.dump()

    const result = await given.submit({ executionId: held.executionId, ifExists: 'replace' })

    expect(result).toMatchObject({ kind: 'refused', code: 'execution_in_progress', detail: { phase: 'active' } })
    expect(await fabric.dump()).toEqual(before)
  })

  test.each(['released', 'delayed', 'failed'] as const)('replace is refused once an attempt was %s', async (how) => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 1_000) })
    if (how === 'released') await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    if (how === 'delayed') await fabric.run('delayExecution', { ...held, delayMs: 1_000 })
    if (how === 'failed') await fabric.run('failExecution', { ...held, ...transientFailure })

    const result = await given.submit({ executionId: held.executionId, ifExists: 'replace' })

    expect(result).toMatchObject({ kind: 'refused', code: 'execution_in_progress' })
  })

  test('replace begins an ended execution again, with the next epoch', async () => {
    const ended = await given.endedExecution('failed', { bytes: bytes('old') })
    clock.advance(500)

    const result = await given.submit({ executionId: ended.executionId, ifExists: 'replace' })

    expect(result).toMatchObject({ kind: 'replaced', state: 'waiting', at: clock.now() })
    const { createdAt, epoch, attempt, startedAt, failure, payload } = await fabric.look(ended.executionId)
    expect({ createdAt, epoch }).toEqual({ createdAt: clock.now(), epoch: 1 })
    expect([attempt, startedAt, failure, payload]).toEqual([undefined, undefined, undefined, undefined])
    expect(await fabric.attemptsOf(ended.executionId)).toEqual([])
    const held = await given.claimOf(ended)
    expect(held.fence).toMatchObject({ epoch: 2, attempt: 1 })
  })

  test('the holder of a run that was replaced can change nothing', async () => {
    const ended = await given.endedExecution('completed')
    await given.submit({ executionId: ended.executionId, ifExists: 'replace' })
    const before = await fabric.dump()

    expect(await fabric.run('completeExecution', ended)).toMatchObject({
      kind: 'refused',
      code: 'execution_not_active',
    })
    expect(await fabric.dump()).toEqual(before)
    await given.claimOf(ended)
    expect(await fabric.run('completeExecution', ended)).toMatchObject({ kind: 'refused', code: 'stale_lease' })
  })

  test('the repetition of a replacement is recognised', async () => {
    const ended = await given.endedExecution('completed')
    const input = given.createInput({ executionId: ended.executionId, ifExists: 'replace' })
    await fabric.run('createExecution', input)
    const held = await given.claimOf(ended)

    const again = await fabric.run('createExecution', input)

    expect(again).toMatchObject({ executionId: ended.executionId, state: 'active' })
    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'completed' })
    expect(await given.eventsOf(ended, 'execution_replaced')).toHaveLength(1)
  })

  test('an ended execution with a full history can be replaced in one step', async () => {
    const retry = fixedRetry(ATTEMPT_HISTORY_MAX + REPLAY_CAP, 0)
    const submitted = await given.eligibleExecution({ retry })
    for (let i = 0; i < ATTEMPT_HISTORY_MAX + 5; i++) {
      const held = await given.claimOf(submitted)
      await fabric.run('failExecution', { ...held, ...transientFailure })
    }
    const held = heldOf((await given.claim()).executions[0]!)
    await fabric.run('completeExecution', held)

    expect(await given.submit({ ...submitted, ifExists: 'replace', lane: LANE })).toMatchObject({ kind: 'replaced' })
    expect(await fabric.attemptsOf(submitted.executionId)).toEqual([])
  })

  test('after a purge the id is free and the epoch begins again', async () => {
    const ended = await given.endedExecution('completed', { retentionMs: 0 })
    await fabric.run('purgeExecutions', {})

    expect(await given.submit({ executionId: ended.executionId, ifExists: 'reject' })).toMatchObject({
      kind: 'created',
    })
    expect((await fabric.look(ended.executionId)).epoch).toBe(0)
    await given.claimOf(ended)
    expect(await fabric.run('completeExecution', ended)).toMatchObject({ kind: 'refused', code: 'stale_lease' })
  })

  test('of two submits for one id that arrive together, one creates and one joins', async () => {
    const executionId = given.newId()

    const results = await Promise.all([given.submit({ executionId }), given.submit({ executionId })])

    expect(results.map((result) => result.kind)).toEqual(['created', 'joined'])
    expect(await given.readyOrder()).toEqual([executionId])
  })
})
