import { expect, test } from 'vitest'
import type { OperationResult, RevokeCursor } from '../../src/kernel/index.ts'
import { LEASE_TTL_MS } from './given.ts'
import { STORE_PARTITION } from '../../src/stores/partitions.ts'
import { ADA, GivenWorker, WORKER_TTL_MS } from './given-worker.ts'
import { conforms } from './harness.ts'

const BY_ADA = { workerInstanceId: ADA.workerInstanceId, leaseTtlMs: LEASE_TTL_MS }
const BY_BOB = { workerInstanceId: 'bob', leaseTtlMs: LEASE_TTL_MS }

conforms('the leases of a lost worker', ({ fabric, given, clock }) => {
  const workers = new GivenWorker(fabric)

  async function revoke(silentMs?: number): Promise<string[]> {
    const ids: string[] = []
    let cursor: RevokeCursor | undefined
    do {
      const input = { ...BY_ADA, silentMs, reason: 'gone', by: 'engine', cursor }
      const page: OperationResult<'revokeWorkerLeases'> = await fabric.run('revokeWorkerLeases', input)
      ids.push(...page.executionIds)
      cursor = page.cursor
    } while (cursor !== undefined)
    return ids
  }

  async function unswept() {
    return await fabric.runIn(STORE_PARTITION, 'listUnsweptWorkers', {})
  }

  test('are revoked in all lanes, and those of others are kept', async () => {
    const mine = await given.activeExecution({}, BY_ADA)
    const inLane = await given.activeExecution({ lane: 'side' }, BY_ADA)
    const theirs = await given.activeExecution({ lane: 'other' }, BY_BOB)

    expect((await revoke()).sort()).toEqual([mine.executionId, inLane.executionId].sort())
    expect(await revoke()).toEqual([])

    expect((await fabric.look(mine.executionId)).state.phase).toBe('eligible')
    expect((await fabric.look(theirs.executionId)).state.phase).toBe('active')
    expect(await given.eventsOf(mine, 'lease_revoked')).toMatchObject([{ reason: 'gone', by: 'engine' }])
  })

  test('are kept if they were renewed since its last heartbeat', async () => {
    const old = await given.activeExecution({}, BY_ADA)
    const renewed = await given.activeExecution({ lane: 'side' }, BY_ADA)
    clock.advance(WORKER_TTL_MS)
    await fabric.run('renewLease', { ...renewed, leaseTtlMs: LEASE_TTL_MS })

    expect(await revoke(WORKER_TTL_MS)).toEqual([old.executionId])

    expect((await fabric.look(renewed.executionId)).state.phase).toBe('active')
  })

  test('are revoked over several pages, more than one call has room for', async () => {
    await given.executions(130)
    const claimed: string[] = []
    while (claimed.length < 130) {
      const { executions } = await given.claim({ ...BY_ADA, count: 50 })
      claimed.push(...executions.map(({ executionId }) => executionId))
    }

    expect((await revoke()).sort()).toEqual(claimed.sort())
  })

  test('fence the worker out: a late completion is refused, and another worker runs the execution', async () => {
    const held = await given.activeExecution({}, BY_ADA)
    await revoke()

    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'refused', code: 'lease_revoked' })
    const { executions } = await given.claim(BY_BOB)
    expect(executions).toMatchObject([{ executionId: held.executionId, attemptKind: 'reclaim' }])
  })

  test('are pending from its loss until the sweep is recorded for that loss', async () => {
    await workers.register()
    expect((await unswept()).workers).toEqual([])
    expect((await unswept()).nextDueAt).toBe(clock.now() + WORKER_TTL_MS)
    clock.advance(WORKER_TTL_MS)
    await workers.duePass()
    const since = clock.now()
    clock.advance(500)

    const silentMs = WORKER_TTL_MS + 500
    expect((await unswept()).workers).toMatchObject([{ workerInstanceId: 'ada', since, silentMs, leaseTtlMs: 30_000 }])
    const record = (at: number) =>
      fabric.runIn(STORE_PARTITION, 'recordWorkerSweep', { workerInstanceId: 'ada', since: at })
    expect(await record(since - 1)).toEqual({ kind: 'already_swept' })
    expect(await record(since)).toEqual({ kind: 'sweep_recorded' })
    expect(await record(since)).toEqual({ kind: 'already_swept' })
    expect((await unswept()).workers).toEqual([])

    await workers.markDead()
    expect((await unswept()).workers).toMatchObject([{ since: clock.now(), silentMs: undefined }])
  })

  test('are no longer pending once the worker has registered again', async () => {
    await workers.register()
    clock.advance(WORKER_TTL_MS)
    await workers.duePass()
    await workers.register()

    expect((await unswept()).workers).toEqual([])
  })
})
