import { expect, test } from 'vitest'
import { BATCH_OPERATION_LIMIT, BATCH_REPLY_BYTES, BATCH_WORK_LIMIT, CLAIM_COUNT_MAX } from '../../src/kernel/index.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import type { Call } from '../../src/stores/store.ts'
import { call } from './fabric.ts'
import { LEASE_TTL_MS, RETENTION_MS, fixedRetry, forcedCancel, heldOf, transientFailure } from './given.ts'
import { conformsOnServers } from './harness.ts'

conformsOnServers('a batch', ({ fabric, given, clock }) => {
  const create = (executionId: ExecutionId = given.newId()): Call =>
    call('createExecution', given.createInput({ executionId }))
  /** Refers to bytes that do not come with the call, which no correct caller does. */
  const faulty = (executionId: ExecutionId): Call =>
    call('createExecution', {
      ...given.createInput({ executionId, tags: [{ name: 'team', value: 'red', indexed: true }] }),
      payload: { blob: 7, size: 1, encoding: 'bytes' },
    })

  test('runs its operations in order, each seeing what the ones before it wrote', async () => {
    const executionId = given.newId()
    const claim = given.claimInput()
    const fence = { leaseId: claim.requestId, epoch: 1, attempt: 1 }

    const answers = await fabric.batch(
      create(executionId),
      call('describeExecution', { executionId }),
      call('listExecutions', { limit: 10 }),
      call('countExecutions', {}),
      call('claimForWorker', claim),
      call('completeExecution', { executionId, fence }),
      call('describeExecution', { executionId, attempts: true }),
      call('replayExecution', { executionId, requestId: 'again' }),
    )

    expect(answers).toMatchObject([
      { kind: 'answered', result: { kind: 'created' } },
      { kind: 'answered', result: { kind: 'described', state: 'waiting' } },
      { kind: 'answered', result: { executions: [{ id: executionId }] } },
      { kind: 'answered', result: { lanes: [{ counts: [{ state: 'waiting', count: 1 }] }] } },
      { kind: 'answered', result: { executions: [{ executionId, fence }] } },
      { kind: 'answered', result: { kind: 'completed' } },
      { kind: 'answered', result: { state: 'completed', attempts: [{ number: 1 }] } },
      { kind: 'answered', result: { kind: 'replayed' } },
    ])
    expect(await given.eventTypesOf({ executionId })).toEqual([
      'execution_created',
      'attempt_started',
      'execution_ended',
      'execution_replayed',
    ])
  })

  test('shows stored and fresh entries of one index as one order', async () => {
    const low = await given.eligibleExecution({ priority: 1 })
    const high = await given.eligibleExecution({ priority: 9 })
    const middle = given.newId()

    const answers = await fabric.batch(
      call('createExecution', given.createInput({ executionId: middle, priority: 5 })),
      call('claimForWorker', given.claimInput({ count: 3 })),
    )

    expect(answers[1]).toMatchObject({
      result: {
        executions: [{ executionId: high.executionId }, { executionId: middle }, { executionId: low.executionId }],
      },
    })
  })

  test('shows no fresh entry again to a reader that continues after it', async () => {
    const [first, second] = [given.newId(), given.newId()]

    const answers = await fabric.batch(
      create(first),
      create(second),
      call('listExecutions', { limit: 10, cursor: { score: clock.now(), id: second } }),
      call('listExecutions', { limit: 10, createdTo: clock.now() }),
    )

    expect(answers.slice(2)).toMatchObject([
      { result: { executions: [{ id: first }] } },
      { result: { executions: [{ id: second }, { id: first }] } },
    ])
  })

  test('two claims of one batch take different executions', async () => {
    await given.executions(3)

    const answers = await fabric.batch(
      call('claimForWorker', given.claimInput({ count: 2 })),
      call('claimForWorker', given.claimInput({ count: 2 })),
    )

    expect(answers).toMatchObject([
      { result: { executions: { length: 2 } } },
      { result: { executions: { length: 1 } } },
    ])
  })

  test('what is created and removed in one batch leaves no trace but its events', async () => {
    const executionId = given.newId()

    await fabric.batch(
      call('createExecution', given.createInput({ executionId, retentionMs: 0, bytes: new Uint8Array([1]) }), [
        new Uint8Array([1]),
      ]),
      call('cancelExecution', { executionId, ...forcedCancel }),
      call('purgeExecutions', {}),
    )

    expect(await fabric.dump()).toMatchObject({ records: [], entries: [], blobKeys: [], events: { length: 3 } })
  })

  test('what is removed and created again in one batch is the new one', async () => {
    const { executionId } = await given.endedExecution('completed', { retentionMs: 0, bytes: new Uint8Array([1]) })

    await fabric.batch(call('purgeExecutions', {}), create(executionId))

    const execution = await fabric.look(executionId)
    expect(execution).toMatchObject({ epoch: 0, state: { phase: 'eligible' } })
    expect(execution.payload).toBeUndefined()
  })

  test('a refusal within a batch changes nothing and stops nothing', async () => {
    const held = await given.abandonedExecution()
    const executionId = given.newId()

    const answers = await fabric.batch(call('completeExecution', held), create(executionId))

    expect(answers).toMatchObject([
      { kind: 'answered', result: { kind: 'refused', code: 'lease_expired' } },
      { kind: 'answered', result: { kind: 'created' } },
    ])
  })

  test('a faulty operation drops its own writes and no others', async () => {
    const [before, broken, after] = [given.newId(), given.newId(), given.newId()]

    const answers = await fabric.batch(create(before), faulty(broken), create(after))

    expect(answers).toMatchObject([{ kind: 'answered' }, { kind: 'fault' }, { kind: 'answered' }])
    expect(await given.readyOrder()).toEqual([before, after].toSorted())
    expect(await fabric.exists(broken)).toBe(false)
    expect((await fabric.events()).map((event) => event.executionId)).toEqual([before, after])
  })

  test('a faulty operation takes back only what it did itself to a record that the batch had written', async () => {
    const executionId = given.newId()

    const answers = await fabric.batch(
      create(executionId),
      call('createExecution', {
        ...given.createInput({ executionId, ifExists: 'replace', lane: 'other', priority: 9 }),
        payload: { blob: 7, size: 1, encoding: 'bytes' },
      }),
      call('describeExecution', { executionId }),
    )

    expect(answers).toMatchObject([
      { kind: 'answered' },
      { kind: 'fault' },
      { result: { execution: { lane: 'main', priority: 0 } } },
    ])
    expect((await fabric.look(executionId)).payload).toBeUndefined()
    expect(await given.readyOrder('other')).toEqual([])
  })

  test('a faulty replacement leaves the ended execution with all that belongs to it', async () => {
    const bytes = Uint8Array.of(1, 2, 3)
    const held = await given.activeExecution({ bytes, retry: fixedRetry(2, 0) })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    const result = { blob: 0, size: 3, encoding: 'bytes' } as const
    await fabric.run('completeExecution', { ...(await given.claimOf(held)), result }, [bytes])
    const { executionId } = held
    const before = await fabric.dump()

    const answers = await fabric.batch(
      call('createExecution', {
        ...given.createInput({ executionId, ifExists: 'replace', lane: 'other' }),
        payload: { blob: 7, size: 1, encoding: 'bytes' },
      }),
      call('describeExecution', { executionId, attempts: true, payload: true, result: true }),
    )

    expect(answers).toMatchObject([
      { kind: 'fault' },
      { result: { state: 'completed', attempts: { length: 2 }, payloadBlob: 0, resultBlob: 1 } },
    ])
    expect(await fabric.dump()).toEqual(before)
  })

  test('the caller of a faulty operation gets an error for corrupt data; the others get their answers', async () => {
    const fault = fabric.run('createExecution', {
      ...given.createInput(),
      payload: { blob: 7, size: 1, encoding: 'bytes' },
    })
    const others = given.executions(3)

    await expect(fault).rejects.toMatchObject({ name: 'EngineError', code: 'corruption' })
    expect(await others).toHaveLength(3)
  })

  test('has one moment: all that it does happens at the same time', async () => {
    const answers = await fabric.batch(create(), call('claimForWorker', given.claimInput()))

    expect(answers).toMatchObject([
      { result: { at: clock.now() } },
      { result: { at: clock.now(), executions: [{ leaseExpiresAt: clock.now() + LEASE_TTL_MS }] } },
    ])
  })

  test('stops starting operations at its work limit, and returns which did not run', async () => {
    await given.executions(6 * CLAIM_COUNT_MAX)
    const claims = Array.from({ length: 6 }, () => call('claimForWorker', given.claimInput({ count: CLAIM_COUNT_MAX })))

    const answers = await fabric.batch(...claims)

    const started = BATCH_WORK_LIMIT / CLAIM_COUNT_MAX
    expect(answers.map((answer) => answer.kind)).toEqual(claims.map((_, i) => (i < started ? 'answered' : 'not_run')))
    expect(await given.readyOrder()).toHaveLength(2 * CLAIM_COUNT_MAX)
  })

  test('stops starting operations when its reply is large enough', async () => {
    const bytes = new Uint8Array(BATCH_REPLY_BYTES / 2)
    const submitted = await given.executions(3, () => ({ bytes }))

    const answers = await fabric.batch(...submitted.map((one) => call('describeExecution', { ...one, payload: true })))

    expect(answers.map((answer) => answer.kind)).toEqual(['answered', 'answered', 'not_run'])
  })

  test('what did not run is sent again until everything has an answer', async () => {
    const total = 12 * CLAIM_COUNT_MAX
    await given.executions(total)

    const claims = await Promise.all(Array.from({ length: 15 }, () => given.claim({ count: CLAIM_COUNT_MAX })))

    const taken = claims.flatMap((claim) => claim.executions.map((one) => one.executionId))
    expect(taken).toHaveLength(total)
    expect(new Set(taken).size).toBe(total)
  })

  test('large replies are split until every caller has its own bytes', async () => {
    const submitted = await given.executions(12, (i) => ({ bytes: new Uint8Array(BATCH_REPLY_BYTES / 4).fill(i) }))

    const replies = await Promise.all(
      submitted.map((one) => fabric.reply('describeExecution', { ...one, payload: true })),
    )

    expect(replies.map((reply) => [reply.blobs.length, reply.blobs[0]?.[0], reply.blobs[0]?.at(-1)])).toEqual(
      submitted.map((_, i) => [1, i, i]),
    )
  })

  test('hundreds of calls at once, reads and writes mixed, all get their own answer', async () => {
    const ids = Array.from({ length: 5 * BATCH_OPERATION_LIMIT }, () => given.newId())

    const results = await Promise.all(
      ids.flatMap((executionId) => [
        fabric.run('createExecution', given.createInput({ executionId })),
        fabric.run('setTags', { executionId, set: [], remove: [] }),
        fabric.run('countExecutions', {}),
      ]),
    )

    expect(results.flatMap((result) => (result.kind === 'created' ? [result.executionId] : []))).toEqual(ids)
    expect(results.filter((result) => result.kind === 'counted')).toHaveLength(ids.length)
  })

  test('of lives from submit to end at once leaves all of them ended', async () => {
    const submitted = await given.executions(100)
    const claims = await Promise.all([1, 2, 3].map(() => given.claim({ count: CLAIM_COUNT_MAX })))
    await Promise.all(
      claims.flatMap((claim) => claim.executions.map((one) => fabric.run('completeExecution', heldOf(one)))),
    )

    expect(await fabric.run('countExecutions', {})).toMatchObject({
      lanes: [{ counts: [{ state: 'completed', count: submitted.length }] }],
    })
    expect(await given.purgeAt(submitted[0]!)).toBe(clock.now() + RETENTION_MS)
  })
})
