import { expect, test } from 'vitest'
import {
  CLAIM_COUNT_MAX,
  CLAIM_DUE_COUNT,
  CLAIM_PAYLOAD_BYTES,
  OPERATION_WORK_LIMIT,
  PAYLOAD_BYTES,
} from '../../src/kernel/index.ts'
import { CLASS, LANE, LEASE_TTL_MS, heldOf } from './given.ts'
import { conformsOnServers } from './harness.ts'

const idsOf = (executions: readonly { readonly executionId: string }[]) => executions.map((one) => one.executionId)

conformsOnServers('claimForWorker', ({ fabric, given, clock }) => {
  test('hands out a lease together with all that is needed to begin', async () => {
    const submitted = await given.eligibleExecution({
      key: 'greeting:ada',
      namespace: 'acme',
      priority: 4,
      tags: [{ name: 'plan', value: 'pro', indexed: false }],
      attemptTimeoutMs: 60_000,
      totalTimeoutMs: 600_000,
      bytes: new Uint8Array([1, 2, 3]),
    })
    const createdAt = clock.now()
    clock.advance(10)
    const input = given.claimInput({ workerId: 'pool', workerInstanceId: 'pool-7' })

    const { result, blobs } = await fabric.reply('claimForWorker', input)

    expect(result).toEqual({
      kind: 'claimed',
      more: false,
      gates: [],
      at: clock.now(),
      executions: [
        {
          executionId: submitted.executionId,
          key: 'greeting:ada',
          namespace: 'acme',
          task: 'greet',
          lane: LANE,
          priority: 4,
          tags: [{ name: 'plan', value: 'pro', indexed: false }],
          fence: { leaseId: input.requestId, epoch: 1, attempt: 1 },
          attemptKind: 'initial',
          failureCount: 0,
          leaseExpiresAt: clock.now() + LEASE_TTL_MS,
          timeoutAt: clock.now() + 60_000,
          deadlineAt: createdAt + 600_000,
          createdAt,
          run: 0,
          limits: [],
          budgets: [],
          isAdmitted: true,
          readyForMs: 10,
          payload: { size: 3, encoding: 'bytes' },
          payloadBlob: 0,
          inputs: [],
        },
      ],
    })
    expect([...blobs[0]!]).toEqual([1, 2, 3])
    expect(await fabric.look(submitted.executionId)).toMatchObject({
      startedAt: clock.now(),
      epoch: 1,
      attempt: { number: 1, kind: 'initial', startedAt: clock.now(), workerId: 'pool', workerInstanceId: 'pool-7' },
      state: {
        phase: 'active',
        lease: { id: input.requestId, workerId: 'pool', workerInstanceId: 'pool-7', acquiredAt: clock.now() },
      },
    })
  })

  test('emits an event for the attempt that begins', async () => {
    const held = await given.activeExecution({}, { workerId: 'pool', workerInstanceId: 'pool-7' })

    expect(await given.eventsOf(held, 'attempt_started')).toEqual([
      expect.objectContaining({ attempt: 1, epoch: 1, workerId: 'pool', workerInstanceId: 'pool-7' }),
    ])
  })

  test('with nothing to claim, answers with nothing and writes nothing', async () => {
    await given.delayedExecution()
    const before = await fabric.dump()

    expect(await given.claim()).toEqual({ kind: 'claimed', executions: [], gates: [], more: false, at: clock.now() })
    expect(await given.claim({ queues: [] })).toMatchObject({ executions: [], more: false })
    expect(await given.claim({ queues: [{ lane: 'unknown', class: 'unknown' }] })).toMatchObject({ executions: [] })
    expect(await fabric.dump()).toEqual(before)
  })

  test('takes the highest priority first, then the oldest, then by id', async () => {
    const young = await given.executions(3)
    clock.advance(1)
    const younger = await given.eligibleExecution()
    const urgent = await given.eligibleExecution({ priority: 1 })

    const { executions } = await given.claim({ count: 5 })

    expect(idsOf(executions)).toEqual([urgent.executionId, ...idsOf(young).sort(), younger.executionId])
  })

  test('keeps to the order also for what was delayed, handed back or given another priority', async () => {
    const delayed = await given.eligibleExecution({ delayMs: 1_000 })
    clock.advance(1)
    const handedBack = await given.activeExecution()
    clock.advance(1)
    const fresh = await given.eligibleExecution()
    clock.advance(1)
    const raised = await given.eligibleExecution()
    await fabric.run('releaseExecution', { ...handedBack, reason: 'shutdown' })
    await fabric.run('changePriority', { ...raised, priority: 1 })
    clock.advance(1_000)

    const { executions } = await given.claim({ count: 10 })

    expect(idsOf(executions)).toEqual(idsOf([raised, delayed, handedBack, fresh]))
  })

  test('merges several lanes and classes into one order and leaves the others alone', async () => {
    const queues = [
      { lane: 'a', class: 'one' },
      { lane: 'a', class: 'two' },
      { lane: 'b', class: 'one' },
    ]
    const expected: string[] = []
    for (const queue of [...queues, ...queues]) {
      expected.push((await given.eligibleExecution(queue)).executionId)
      clock.advance(1)
    }
    const foreignClass = await given.eligibleExecution({ lane: 'b', class: 'two' })
    const foreignLane = await given.eligibleExecution({ lane: 'c', class: 'one' })

    const { executions, more } = await given.claim({ queues, count: 10 })

    expect(idsOf(executions)).toEqual(expected)
    expect(more).toBe(false)
    for (const foreign of [foreignClass, foreignLane]) {
      expect((await fabric.look(foreign.executionId)).state.phase).toBe('eligible')
    }
  })

  test('a lane whose name begins like another lane is another lane', async () => {
    await given.eligibleExecution({ lane: 'main-2' })

    expect((await given.claim()).executions).toEqual([])
  })

  test('a queue that is named twice hands out each execution once', async () => {
    const submitted = await given.executions(2)
    const queue = { lane: LANE, class: CLASS }

    const { executions } = await given.claim({ queues: [queue, queue], count: 4 })

    expect(idsOf(executions)).toEqual(idsOf(submitted))
  })

  test('takes no more than it was asked for and returns whether there is more', async () => {
    await given.executions(3)

    expect(await given.claim({ count: 2 })).toMatchObject({ executions: { length: 2 }, more: true })
    expect(await given.claim({ count: 1 })).toMatchObject({ executions: { length: 1 }, more: false })
  })

  test('takes no more than one claim may', async () => {
    await given.executions(CLAIM_COUNT_MAX + 5)

    expect(await given.claim({ count: 1_000 })).toMatchObject({ executions: { length: CLAIM_COUNT_MAX }, more: true })
    expect(await given.claim({ count: 1_000 })).toMatchObject({ executions: { length: 5 }, more: false })
  })

  test('stops before the payload that would exceed its limit', async () => {
    const third = Math.floor(CLAIM_PAYLOAD_BYTES / 3)
    await given.executions(4, () => ({ bytes: new Uint8Array(third) }))

    const { result, blobs } = await fabric.reply('claimForWorker', given.claimInput({ count: 4 }))

    expect(result.executions).toHaveLength(3)
    expect(result.more).toBe(true)
    expect(blobs.map((blob) => blob.byteLength)).toEqual([third, third, third])
  })

  test('takes at least one execution, however large its payload', async () => {
    await given.executions(2, () => ({ bytes: new Uint8Array(PAYLOAD_BYTES) }))

    expect(await given.claim({ count: 2 })).toMatchObject({ executions: { length: 1 }, more: true })
    expect(await given.claim({ count: 2 })).toMatchObject({ executions: { length: 1 }, more: false })
  })

  test('handles what is due before it looks for work', async () => {
    const abandoned = await given.activeExecution()
    const delayed = await given.eligibleExecution({ delayMs: LEASE_TTL_MS })
    clock.advance(LEASE_TTL_MS)

    const { executions } = await given.claim({ count: 5 })

    expect(idsOf(executions).sort()).toEqual(idsOf([abandoned, delayed]).sort())
    expect(executions.map((one) => one.attemptKind).sort()).toEqual(['initial', 'reclaim'])
  })

  test('handles a bounded number of due records, so that a backlog cannot stop the workers', async () => {
    await given.executions(CLAIM_DUE_COUNT + 10, () => ({ delayMs: 1_000 }))
    clock.advance(1_000)

    expect((await given.claim({ count: 50 })).executions).toHaveLength(CLAIM_DUE_COUNT)
    expect((await given.claim({ count: 50 })).executions).toHaveLength(10)
  })

  test('does not hand out an execution whose deadline has passed, also when the due pass is behind', async () => {
    const late = await given.executions(CLAIM_DUE_COUNT + 5, () => ({ totalTimeoutMs: 1_000, priority: 5 }))
    clock.advance(1_000)
    const live = await given.eligibleExecution()

    const taken: string[] = []
    for (let i = 0; i < 3; i++) taken.push(...idsOf((await given.claim({ count: 50 })).executions))

    expect(taken).toEqual([live.executionId])
    for (const { executionId } of late) {
      expect((await fabric.look(executionId)).state).toMatchObject({ phase: 'ended', outcome: 'expired' })
    }
  })

  test('does not write more records than one operation may', async () => {
    // Each lost lease costs three records, so little room is left for new ones.
    await given.executions(CLAIM_DUE_COUNT, () => ({ lane: 'lost' }))
    await given.claim({ queues: [{ lane: 'lost', class: CLASS }], count: CLAIM_DUE_COUNT })
    await given.executions(CLAIM_COUNT_MAX + 20)
    clock.advance(LEASE_TTL_MS)
    const before = await fabric.dump()

    const { executions, more } = await given.claim({ count: CLAIM_COUNT_MAX })

    const after = await fabric.dump()
    const known = new Set(before.records.map((record) => JSON.stringify(record)))
    const written = after.records.filter((record) => !known.has(JSON.stringify(record)))
    expect(written.length).toBeLessThanOrEqual(OPERATION_WORK_LIMIT)
    expect(executions.length).toBeGreaterThan(0)
    expect(more).toBe(true)
  })

  test('numbers attempts from 1 and raises the epoch with every lease', async () => {
    const submitted = await given.eligibleExecution()
    const fences = []
    for (let i = 0; i < 3; i++) {
      fences.push((await given.claimOf(submitted)).fence)
      clock.advance(LEASE_TTL_MS)
    }

    expect(fences).toMatchObject([
      { epoch: 1, attempt: 1 },
      { epoch: 2, attempt: 2 },
      { epoch: 3, attempt: 3 },
    ])
  })

  test('keeps the time of the first start, whichever worker runs it later', async () => {
    const held = await given.activeExecution()
    const startedAt = clock.now()
    clock.advance(LEASE_TTL_MS)
    await given.claimOf(held)

    expect(await fabric.look(held.executionId)).toMatchObject({ startedAt, attempt: { startedAt: clock.now() } })
  })

  test('two claimers of many executions share them without overlap', async () => {
    const submitted = await given.executions(60)

    const claims = await Promise.all(
      ['worker-1', 'worker-2', 'worker-3'].map((workerInstanceId) => given.claim({ workerInstanceId, count: 30 })),
    )

    const taken = claims.flatMap((claim) => idsOf(claim.executions))
    expect(taken.toSorted()).toEqual(idsOf(submitted).toSorted())
    expect(claims.map((claim) => claim.executions.length)).toEqual([30, 30, 0])
  })

  test('a claimed execution can be ended only by its holder', async () => {
    await given.executions(2)
    const [mine, other] = (await given.claim({ count: 2 })).executions.map(heldOf)

    const crossed = { executionId: mine!.executionId, fence: { ...other!.fence, epoch: 2 } }

    expect(await fabric.run('completeExecution', crossed)).toMatchObject({ kind: 'refused', code: 'stale_lease' })
    expect(await fabric.run('completeExecution', mine!)).toMatchObject({ kind: 'completed' })
  })
})
