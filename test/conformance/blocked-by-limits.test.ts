import { describe, expect, test } from 'vitest'
import { LIST_SCAN_COUNT } from '../../src/kernel/limits.ts'
import { GATE_RELEASE_MAX, GATE_WAIT_MAX_MS, LIMIT_PROBE_MS } from '../../src/kernel/index.ts'
import type { ClaimInput, Claimed, FlowId, LimitCause, LimitRef } from '../../src/kernel/index.ts'
import { CLASS, LANE, forcedCancel, heldOf, politeCancel } from './given.ts'
import type { Draft, Submitted } from './given.ts'
import { conforms } from './harness.ts'

const LIMIT = 'openai'
const NEEDED: LimitRef = { limit: LIMIT, key: 'acme', weight: 1, instead: undefined, budget: undefined }
const KEY = { limit: LIMIT, key: 'acme' }
const limited: Draft = { limits: [NEEDED] }
const atHand = { ...NEEDED, count: 1 }

conforms('work that needs a limit', ({ fabric, given, clock, flows }) => {
  const claimed = async (changes: Partial<ClaimInput> = {}): Promise<Claimed[]> =>
    (await given.claim({ count: 10, ...changes })).executions

  const refuse = (one: Claimed, retryAfterMs?: number, cause: LimitCause = 'concurrency') =>
    fabric.run('blockExecution', { ...heldOf(one), ...KEY, cause, retryAfterMs })

  /** Executions that a limit has blocked: the first was claimed and refused, the others in place. */
  const blocked = async (count: number, retryAfterMs?: number): Promise<Submitted[]> => {
    const all: Submitted[] = []
    for (let i = 0; i < count; i++) {
      all.push(await given.eligibleExecution(limited))
      clock.advance(1)
    }
    const [first] = await claimed({ count: 1 })
    await refuse(first!, retryAfterMs)
    expect(await claimed()).toEqual([])
    return all
  }

  const heldLane = async (lane: string) => {
    const result = await fabric.runIn('m:0', 'configureLane', { lane, by: 'ops', state: 'paused' })
    if (result.kind === 'refused') throw new Error(result.code)
    return result.lane
  }

  const countsOf = async (flowId: FlowId) => {
    const described = await fabric.run('describeFlow', { flowId })
    return described.kind === 'refused' ? undefined : described.view.flow.counts
  }

  const open = (permits: number, afterMs = 0) => fabric.run('openGates', { gates: [{ ...KEY, permits, afterMs }] })

  const statesOf = async (all: readonly Submitted[]): Promise<string[]> =>
    Promise.all(all.map(async ({ executionId }) => (await fabric.look(executionId)).state.phase))

  describe('a claim', () => {
    test('leases it, and names the permits that it still needs', async () => {
      await given.eligibleExecution(limited)

      expect(await claimed()).toMatchObject([{ limits: [NEEDED], isAdmitted: false }])
    })

    test('of a worker without conditions leases it too, and leaves members with a condition as they are', async () => {
      const drafts = { first: { class: CLASS, priority: 9 } }
      const graph = await flows.graph({ first: [] }, { conditions: ['first'], drafts })
      const needing = await given.eligibleExecution(limited)

      expect(await claimed({ isPlain: true, count: 1 })).toMatchObject([{ executionId: needing.executionId }])
      expect(await claimed({ isPlain: true })).toEqual([])
      expect((await fabric.look(graph.id('first'))).state.phase).toBe('eligible')
      expect(await claimed()).toMatchObject([{ executionId: graph.id('first') }])
    })

    test('of plain work takes members with a condition if the worker evaluates them', async () => {
      const graph = await flows.graph({ first: [] }, { conditions: ['first'], drafts: { first: { class: CLASS } } })
      const plain = { isPlain: true, count: 1 }

      expect(await claimed({ ...plain, plainAbilities: { undo: true } })).toEqual([])
      expect(await claimed({ ...plain, plainAbilities: { conditions: true } })).toMatchObject([
        { executionId: graph.id('first'), condition: {} },
      ])
    })

    test('of a worker without conditions continues behind the members that it leaves', async () => {
      const names = Array.from({ length: 40 }, (_, i) => `node-${i}`)
      const nodes = Object.fromEntries(names.map((name) => [name, []]))
      const drafts = Object.fromEntries(names.map((name) => [name, { class: CLASS, priority: 9 }]))
      for (let i = 0; i <= LIST_SCAN_COUNT / 40; i++) await flows.graph(nodes, { conditions: names, drafts })
      const free = await given.eligibleExecution(limited)

      const first = await given.claim({ isPlain: true, count: 1 })
      const plainFrom = first.plainPlace
      const second = await given.claim({ isPlain: true, count: 1, plainFrom })

      expect(first.executions).toEqual([])
      expect(second.executions).toMatchObject([{ executionId: free.executionId }])
      expect(await given.claim({ isPlain: true, count: 1, plainFrom })).toMatchObject({
        executions: [],
        plainPlace: undefined,
      })
    })

    test('of a worker without conditions reads a queue from its start when the queue before it is held', async () => {
      const queues = ['other', LANE].map((lane) => ({ lane, class: CLASS }))
      const first = { class: CLASS, priority: 9 }
      await flows.graph({ first: [] }, { conditions: ['first'], drafts: { first } })
      const free = await given.eligibleExecution()
      await fabric.run('applyLane', { lane: await heldLane('other') })
      const plainFrom = { queue: 0, from: { score: Number.MAX_SAFE_INTEGER } }

      const { executions } = await given.claim({ isPlain: true, count: 1, queues, plainFrom })

      expect(executions).toMatchObject([{ executionId: free.executionId }])
    })

    test('names nothing for work without limits', async () => {
      await given.eligibleExecution()

      expect(await claimed()).toMatchObject([{ limits: [], isAdmitted: true }])
    })

    test('with permits at hand admits as many as they cover', async () => {
      await given.executions(3, () => limited)

      const executions = await claimed({ permits: [{ ...NEEDED, count: 2 }] })

      expect(executions.map(({ isAdmitted }) => isAdmitted)).toEqual([true, true, false])
    })

    test.each([
      ['another key', { key: 'other' }],
      ['another weight', { weight: 2 }],
      ['another limit', { limit: 'other' }],
    ])('with a permit of %s admits nothing', async (_, other) => {
      await given.eligibleExecution(limited)

      expect(await claimed({ permits: [{ ...atHand, ...other }] })).toMatchObject([{ isAdmitted: false }])
    })

    test('needs a permit of each of several limits', async () => {
      const other = { limit: 'gpu', key: '', weight: 1, instead: undefined, budget: undefined }
      await given.executions(2, () => ({ limits: [NEEDED, other] }))

      const executions = await claimed({ permits: [atHand, { ...NEEDED, ...other, count: 2 }] })

      expect(executions.map(({ isAdmitted }) => isAdmitted)).toEqual([true, false])
    })

    test('blocks in place what a closed gate concerns, and takes the work behind it', async () => {
      const [first, second] = await blocked(2)
      const free = await given.eligibleExecution()

      expect((await claimed()).map(({ executionId }) => executionId)).toEqual([free.executionId])
      expect(await statesOf([first!, second!])).toEqual(['blocked', 'blocked'])
      expect(await fabric.look(second!.executionId)).toMatchObject({ attempt: undefined, epoch: 0, next: 'initial' })
    })

    test('passes a closed gate with a permit at hand', async () => {
      await blocked(1)
      await given.eligibleExecution(limited)

      expect(await claimed({ permits: [atHand] })).toMatchObject([{ isAdmitted: true }])
    })

    test('takes what a gate blocks if it has permits for it, in order of priority and age', async () => {
      const [first, second, third] = await blocked(3)
      await fabric.run('changePriority', { ...third!, priority: 5 })

      const executions = await claimed({ permits: [{ ...atHand, count: 2, takesBlocked: true }] })

      expect(executions.map(({ executionId }) => executionId)).toEqual([third!.executionId, first!.executionId])
      expect(await statesOf([second!])).toEqual(['blocked'])
    })

    test('takes nothing that a gate blocks in a queue that it did not ask for', async () => {
      await blocked(1)

      expect(
        await claimed({ queues: [{ lane: 'other', class: 'x' }], permits: [{ ...atHand, takesBlocked: true }] }),
      ).toEqual([])
    })

    test('takes nothing that a gate blocks in a lane that is paused', async () => {
      await blocked(1)
      await fabric.plant({
        type: 'lane',
        id: LANE,
        version: 1,
        hold: { state: 'paused', by: 'ada', reason: 'incident', at: clock.now() },
        tasks: [],
        weight: undefined,
        changedAt: clock.now(),
        isCopying: undefined,
        limit: undefined,
      })

      expect(await claimed({ permits: [{ ...atHand, takesBlocked: true }] })).toEqual([])
    })

    test('of work that continues counts it against the cap alone', async () => {
      await given.eligibleExecution(limited)
      const [first] = await claimed()
      await fabric.run('releaseExecution', { ...heldOf(first!), reason: 'shutdown' })

      expect(await claimed()).toMatchObject([{ limits: [{ ...NEEDED, weight: 0 }] }])
    })

    test('whose reply was lost is answered again with what is still needed', async () => {
      await given.eligibleExecution(limited)
      const input = given.claimInput({ count: 10 })
      const first = await fabric.run('claimForWorker', input)

      const again = await fabric.run('claimForWorker', { ...input, repeated: true })

      // For how long it was ready is known to the first reply alone.
      expect(again.executions).toEqual(first.executions.map((one) => ({ ...one, readyForMs: undefined })))
    })
  })

  describe('blockExecution', () => {
    test('undoes the claim: no attempt is used, and the place stays the same', async () => {
      const { executionId } = await given.eligibleExecution(limited)
      const before = await fabric.look(executionId)
      clock.advance(5)
      const [one] = await claimed()

      expect(await refuse(one!)).toEqual({ kind: 'blocked', until: clock.now() + LIMIT_PROBE_MS })

      const after = await fabric.look(executionId)
      expect(after).toMatchObject({
        state: { phase: 'blocked', by: 'limit' },
        attempt: undefined,
        startedAt: undefined,
        next: 'initial',
        epoch: before.epoch + 1,
        createdAt: before.createdAt,
        failureCount: 0,
      })
      await open(1)
      expect(await claimed()).toMatchObject([{ fence: { attempt: 1, epoch: 2 }, attemptKind: 'initial' }])
    })

    test('restores the attempts of a retry', async () => {
      const retry = { attempts: 3, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] } as const
      const { executionId } = await given.eligibleExecution({ ...limited, retry })
      const [first] = await claimed()
      await fabric.run('failExecution', {
        ...heldOf(first!),
        failure: { category: 'transient', message: 'no' },
        seed: 1,
      })
      const before = await fabric.look(executionId)
      const [second] = await claimed()

      await refuse(second!)

      expect(await fabric.look(executionId)).toMatchObject({
        attempt: before.attempt,
        startedAt: before.startedAt,
        next: 'retry',
        failureCount: 1,
      })
      await open(1)
      expect(await claimed()).toMatchObject([{ attemptKind: 'retry', fence: { attempt: 2 } }])
    })

    test('is idempotent per fence', async () => {
      await given.eligibleExecution(limited)
      const [one] = await claimed()
      await refuse(one!)
      const before = await fabric.dump()

      expect(await refuse(one!)).toEqual({ kind: 'already_blocked' })
      expect(await fabric.dump()).toEqual(before)
    })

    test('refuses a fence that another claim has replaced, and a limit that is not needed', async () => {
      await given.eligibleExecution(limited)
      const [one] = await claimed()

      expect(
        await fabric.run('blockExecution', {
          ...heldOf(one!),
          limit: 'other',
          key: '',
          cause: 'rate',
          retryAfterMs: 5,
        }),
      ).toMatchObject({ kind: 'refused', code: 'limit_not_needed' })
      await fabric.run('revokeLease', { executionId: one!.executionId, reason: 'test', by: 'operator' })
      await claimed()
      expect(await refuse(one!)).toMatchObject({ kind: 'refused', code: 'stale_lease' })
    })

    test('cancels if a cancel was requested meanwhile', async () => {
      await given.eligibleExecution(limited)
      const [one] = await claimed()
      await fabric.run('cancelExecution', { executionId: one!.executionId, ...politeCancel })

      expect(await refuse(one!)).toEqual({ kind: 'cancelled' })
      expect(await statesOf([one!])).toEqual(['ended'])
    })

    test.each([
      [300, 300],
      [0, 1],
      [10 * GATE_WAIT_MAX_MS, GATE_WAIT_MAX_MS],
    ])('with a permit expected in %d ms waits %d ms', async (retryAfterMs, waitMs) => {
      await given.eligibleExecution(limited)
      const [one] = await claimed()

      expect(await refuse(one!, retryAfterMs, 'rate')).toMatchObject({ until: clock.now() + waitMs })
    })

    test('does not postpone a gate that opens earlier', async () => {
      await given.executions(2, () => limited)
      const [one, other] = await claimed()
      const { until } = (await refuse(one!, 100)) as { readonly until: number }
      clock.advance(10)

      expect(await refuse(other!, 5_000)).toEqual({ kind: 'blocked', until })
    })
  })

  describe('a gate', () => {
    test('releases one at its time, and the next later', async () => {
      const [first, second] = await blocked(2, 300)
      clock.advance(297)
      await fabric.duePass()
      expect(await given.readyOrder()).toEqual([])

      clock.advance(3)
      expect((await fabric.duePass()).handled).toMatchObject([{ case: 'unblock' }])
      expect(await given.readyOrder()).toEqual([first!.executionId])
      clock.advance(LIMIT_PROBE_MS)
      await fabric.duePass()
      expect(await given.readyOrder()).toEqual([first!.executionId, second!.executionId])
    })

    test('does not block again what it has released, but what comes later', async () => {
      const [first] = await blocked(2)
      await open(1)
      await given.eligibleExecution({ ...limited, priority: 9 })

      expect((await claimed()).map(({ executionId }) => executionId)).toEqual([first!.executionId])
    })

    test('releases as many as permits are free, in order, and is removed with the last', async () => {
      const all = await blocked(4)

      expect(await open(3)).toEqual({ kind: 'gates_opened', released: [3] })
      expect(await given.readyOrder()).toEqual(all.slice(0, 3).map(({ executionId }) => executionId))
      expect(await open(3)).toEqual({ kind: 'gates_opened', released: [1] })
      expect((await fabric.dump()).records.filter(({ type }) => type === 'gate')).toEqual([])
      expect(await open(3)).toEqual({ kind: 'gates_opened', released: [0] })
    })

    test('releases many in several steps', async () => {
      const count = GATE_RELEASE_MAX + 5
      await blocked(1)
      await given.executions(count, () => limited)
      for (let i = 0; i < 5; i++) await claimed({ count: 50 })

      await open(10 * count)
      await fabric.duePass()
      await fabric.duePass()

      expect(await given.readyOrder()).toHaveLength(count + 1)
    })

    test('opens earlier if permits become free earlier', async () => {
      const [first] = await blocked(2)
      await open(1, 100)
      clock.advance(100)
      await fabric.duePass()

      expect(await given.readyOrder()).toEqual([first!.executionId])
    })

    test('that blocks nothing any more is removed at its time', async () => {
      const [first] = await blocked(1)
      await fabric.run('cancelExecution', { ...first!, ...forcedCancel })
      clock.advance(LIMIT_PROBE_MS)
      await fabric.duePass()

      expect((await fabric.dump()).records.filter(({ type }) => type === 'gate')).toEqual([])
    })

    test('blocks the keys of others not at all', async () => {
      await blocked(1)
      await given.eligibleExecution({ limits: [{ ...NEEDED, key: 'other' }] })

      expect(await claimed()).toHaveLength(1)
    })
  })

  test('ends in time although it is blocked', async () => {
    const { executionId } = await given.eligibleExecution({ ...limited, totalTimeoutMs: 1_000 })
    const [one] = await claimed()
    await refuse(one!)
    clock.advance(1_000)
    await fabric.duePass()

    expect(await fabric.look(executionId)).toMatchObject({ state: { phase: 'ended', outcome: 'expired' } })
  })

  test('may be replaced while it is blocked, because it has not started', async () => {
    const [first] = await blocked(1)

    const again = await given.submit({ executionId: first!.executionId, ifExists: 'replace' })

    expect(again).toMatchObject({ kind: 'replaced' })
    expect(await claimed()).toHaveLength(1)
  })

  test('is counted as rate-limited in its flow', async () => {
    const graph = await flows.graph({ a: [] }, { class: 'greet', drafts: { a: limited } })
    const [one] = await claimed()
    await refuse(one!)

    expect(await countsOf(graph.flowId)).toMatchObject({ rate_limited: 1, waiting: 0, active: 0 })
    await open(1)
    expect(await countsOf(graph.flowId)).toMatchObject({ rate_limited: 0, waiting: 1 })
  })

  test('is explained by the limit, its key, and the place in the line', async () => {
    const [, second] = await blocked(2, 300)

    expect(await fabric.run('explainExecution', second!)).toMatchObject({
      explanation: {
        why: 'blocked',
        by: 'limit',
        limit: { limit: LIMIT, key: 'acme', cause: 'concurrency', ahead: 1 },
      },
    })
  })

  test('engines that race release it once', async () => {
    const [first] = await blocked(2)
    clock.advance(LIMIT_PROBE_MS)

    const passes = await Promise.all([fabric.duePass(), fabric.duePass(), open(1)])

    expect(passes).toHaveLength(3)
    expect(await given.eventsOf(first!, 'execution_unblocked')).toHaveLength(1)
  })
})
