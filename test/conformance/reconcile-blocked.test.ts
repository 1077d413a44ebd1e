/** Proves that whatever a limit blocks will be released: finds nothing after ordinary lives, and repairs what was damaged. */
import { expect, test } from 'vitest'
import { BLOCKED_RECONCILE_COUNT, LIMIT_OVERDUE_MS, LIMIT_PROBE_MS } from '../../src/kernel/index.ts'
import type { BlockedCursor, BlockedProblem, LimitRef } from '../../src/kernel/index.ts'
import { gateId, gatedIndex } from '../../src/kernel/model/indexes.ts'
import { CLASS, LANE, heldOf } from './given.ts'
import type { Draft, Submitted } from './given.ts'
import { conforms } from './harness.ts'

const NEEDED: LimitRef = { limit: 'openai', key: 'acme', weight: 1, instead: undefined, budget: undefined }
const KEY = { limit: 'openai', key: 'acme' }
const limited: Draft = { limits: [NEEDED] }
const GATE = gateId(KEY.limit, KEY.key)

conforms('reconcileBlocked', ({ fabric, given, clock }) => {
  /** Walks all lanes once. */
  const reconcile = async (skip: readonly string[] = []) => {
    const repaired: BlockedProblem[] = []
    let examined = 0
    let cursor: BlockedCursor | undefined
    for (let steps = 0; steps < 100; steps++) {
      const page = await fabric.run('reconcileBlocked', { cursor, skip })
      repaired.push(...page.repaired)
      examined += page.examined
      cursor = page.cursor
      if (cursor === undefined) return { repaired, examined }
    }
    throw new Error('the walk does not end')
  }

  /** Blocks executions through a claim whose worker got no permit. */
  const blocked = async (...drafts: Draft[]): Promise<Submitted[]> => {
    const all: Submitted[] = []
    for (const draft of drafts) {
      all.push(await given.eligibleExecution({ ...limited, ...draft }))
      const queues = [{ lane: draft.lane ?? LANE, class: CLASS }]
      for (const one of (await given.claim({ count: 1, queues })).executions) {
        const { limit, key } = one.limits[0]!
        await fabric.run('blockExecution', {
          ...heldOf(one),
          limit,
          key,
          cause: 'concurrency',
          retryAfterMs: undefined,
        })
      }
      clock.advance(1)
    }
    return all
  }

  /** Blocks executions, and removes the gate: its time comes while the index does not show what it blocks. */
  const stranded = async (...drafts: Draft[]): Promise<Submitted[]> => {
    const all = await blocked(...drafts)
    const entries = (await fabric.dump()).entries.filter(({ index }) => index === gatedIndex(GATE))
    for (const { index, id } of entries) await fabric.setEntry(index, id, undefined)
    clock.advance(LIMIT_PROBE_MS)
    await fabric.duePass()
    for (const { index, id, score } of entries) await fabric.setEntry(index, id, score)
    return all
  }

  test('finds nothing where a gate will release everything, and writes nothing', async () => {
    await blocked({})
    clock.advance(LIMIT_PROBE_MS + LIMIT_OVERDUE_MS - 2)
    const before = await fabric.dump()

    expect(await reconcile()).toEqual({ repaired: [], examined: 1 })
    expect(await fabric.dump()).toEqual(before)
  })

  test('restores a gate that was lost, and its due pass releases the execution', async () => {
    const [{ executionId }] = (await stranded({})) as [Submitted]

    expect((await reconcile()).repaired).toEqual([{ problem: 'lost_gate', executionId }])
    expect((await reconcile()).repaired).toEqual([])

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'unblock' }])
    expect(await given.readyOrder()).toEqual([executionId])
  })

  test('a restored gate releases one after the other, not all at once', async () => {
    const [first] = await stranded({}, {})
    await reconcile()
    await fabric.duePass()

    expect(await given.readyOrder()).toEqual([first!.executionId])
  })

  test('opens a gate whose timer no due pass has followed', async () => {
    const [{ executionId }] = (await blocked({})) as [Submitted]
    clock.advance(LIMIT_PROBE_MS + LIMIT_OVERDUE_MS)

    expect((await reconcile()).repaired).toEqual([{ problem: 'overdue_gate', executionId }])
    expect(await given.readyOrder()).toEqual([executionId])
  })

  test('covers every lane, page by page, and leaves out what cannot be read', async () => {
    const [other] = await stranded({ lane: 'another' })
    const count = BLOCKED_RECONCILE_COUNT + 5
    await blocked(...Array.from({ length: count }, () => ({ limits: [{ ...NEEDED, key: 'other' }] })))

    expect(await reconcile([other!.executionId])).toEqual({ repaired: [], examined: count + 1 })
    expect((await reconcile()).repaired).toEqual([{ problem: 'lost_gate', executionId: other!.executionId }])
  })

  test('leaves the executions of other tenants to their engine', async () => {
    await stranded({ namespace: 'other' })

    expect(await fabric.run('reconcileBlocked', { filter: { namespace: 'acme' } })).toMatchObject({ repaired: [] })
    await reconcile()
  })

  test('engines that race restore a gate once', async () => {
    await stranded({})

    const passes = await Promise.all([reconcile(), reconcile()])

    expect(passes.flatMap(({ repaired }) => repaired)).toHaveLength(1)
  })
})
