/** Queues with a namespace or needs: what workers learn them by, and how many there may be. */
import { describe, expect, test } from 'vitest'
import {
  FLOW_ATOMIC_NODE_MAX,
  NEEDS_CLASS_MAX,
  QUEUE_SCAN_COUNT,
  readyIndex,
  taskClass,
} from '../../src/kernel/index.ts'
import type { FlowId, ListedQueue, Position } from '../../src/kernel/index.ts'
import { CLASS, LANE, noRetry } from './given.ts'
import type { Draft } from './given.ts'
import { conforms } from './harness.ts'

/** A submit with needs, as a client makes it. */
function needing(needs: readonly string[], { namespace = 'default', ...draft }: Draft = {}): Draft {
  const className = taskClass(CLASS, draft.version, { namespace, needs: { text: needs.join(','), isDigest: false } })
  return { class: className, needs, namespace, ...draft }
}

const classOf = (draft: Draft) => draft.class ?? CLASS

conforms('listQueues', ({ fabric, given }) => {
  async function listAll(lane = LANE, namespace?: string): Promise<ListedQueue[]> {
    const queues: ListedQueue[] = []
    let cursor: Position | undefined
    do {
      const page = await fabric.run('listQueues', { lane, namespace, cursor })
      queues.push(...page.queues)
      cursor = page.cursor
    } while (cursor !== undefined)
    return queues
  }

  test('lists the queues of a lane that have a namespace or needs, and whether anything waits there', async () => {
    const gpu = needing(['gpu'])
    const both = needing(['gpu', 'region:eu'], { version: 2 })
    const acme = { namespace: 'acme', class: taskClass(CLASS, undefined, { namespace: 'acme' }) }
    await given.eligibleExecution()
    await given.eligibleExecution(acme)
    await given.eligibleExecution(gpu)
    await given.activeExecution(both)
    await given.eligibleExecution(needing(['gpu'], { lane: `${LANE}2` }))
    const before = await fabric.dump()

    expect(await listAll()).toEqual([
      { class: acme.class, needs: undefined, isReady: true },
      { class: classOf(gpu), needs: ['gpu'], isReady: true },
      { class: classOf(both), needs: ['gpu', 'region:eu'], isReady: false },
    ])
    expect(await listAll(LANE, 'acme')).toMatchObject([{ class: acme.class }])
    expect(await listAll('none')).toEqual([])
    expect(await fabric.dump()).toEqual(before)
  })

  test('continues on further pages, also over queues that it leaves out', async () => {
    const plain = Array.from({ length: QUEUE_SCAN_COUNT }, (_, i) => ({ class: `greet-${String(i).padStart(4, '0')}` }))
    const classes = [
      ...plain,
      needing(['gpu'], { task: 'zip', class: taskClass('zip', 1, { needs: { text: 'gpu', isDigest: false } }) }),
    ]
    await Promise.all(classes.map((draft) => given.submit(draft)))

    expect(await listAll()).toMatchObject([{ needs: ['gpu'], isReady: true }])
    expect((await fabric.run('listQueues', { lane: LANE })).queues).toEqual([])
  })

  describe('needs', () => {
    test('are stored, and name the queue', async () => {
      const { executionId } = await given.eligibleExecution(needing(['gpu']))

      expect(await fabric.look(executionId)).toMatchObject({ needs: ['gpu'], class: classOf(needing(['gpu'])) })
      expect(await fabric.run('explainExecution', { executionId })).toMatchObject({
        explanation: { why: 'waits_for_worker', needs: ['gpu'], namespace: 'default' },
      })
    })

    test('of a follow-up replace those of the run before', async () => {
      const held = await given.activeExecution()
      await given.submit({ ...needing(['gpu']), executionId: held.executionId, ifExists: 'after' })

      await fabric.run('completeExecution', held)

      expect(await fabric.look(held.executionId)).toMatchObject({ needs: ['gpu'], class: classOf(needing(['gpu'])) })
      expect((await given.claim()).executions).toEqual([])
    })

    test('that no worker has do not hide executions behind them', async () => {
      for (let i = 0; i < 60; i++) await given.eligibleExecution(needing(['tpu'], { priority: 9 }))
      const { executionId } = await given.eligibleExecution(needing(['gpu']))
      const plain = await given.eligibleExecution()

      const queues = [
        { lane: LANE, class: CLASS },
        { lane: LANE, class: classOf(needing(['gpu'])) },
      ]
      const { executions, more } = await given.claim({ queues, count: 2 })

      expect(executions.map((claimed) => claimed.executionId)).toEqual([executionId, plain.executionId])
      expect(more).toBe(false)
    })
  })

  describe('the combinations of needs of a task', () => {
    const flowOf = (drafts: readonly Draft[]) => ({
      requestId: given.requestId(),
      flowId: `f0-${fabric.runtime.uuid()}` as FlowId,
      namespace: 'default',
      name: 'f',
      digest: 'd',
      tags: [],
      outcomeRule: 'all_members' as const,
      retentionMs: 1,
      nodeCount: drafts.length,
      edgeCount: 0,
      nodesBefore: 0,
      nodes: drafts.map((draft, i) => ({ name: `n${i}`, create: { ...given.createInput(draft), retry: noRetry } })),
      edgesBefore: 0,
      edges: [],
    })

    /** As many as there may be. Most come in flows, because each submit counts all of them. */
    const many = async () => {
      const drafts = Array.from({ length: NEEDS_CLASS_MAX }, (_, i) => needing([`kind-${i}`]))
      while (drafts.length > FLOW_ATOMIC_NODE_MAX) {
        const flow = flowOf(drafts.splice(0, FLOW_ATOMIC_NODE_MAX))
        expect(await fabric.run('submitFlow', flow)).toMatchObject({ kind: 'submitted' })
      }
      for (const result of await Promise.all(drafts.map((draft) => given.submit(draft)))) {
        expect(result).toMatchObject({ kind: 'created' })
      }
    }

    test('are limited, but not their executions, and not those of other tasks, lanes and namespaces', async () => {
      await many()

      expect(await given.submit(needing(['one-more']))).toMatchObject({
        kind: 'refused',
        code: 'too_many_needs',
        detail: { limit: NEEDS_CLASS_MAX },
      })
      const others = [
        needing(['kind-0']),
        needing(['one-more'], { namespace: 'acme' }),
        needing(['one-more'], { lane: 'other' }),
        { class: taskClass('zip', 1, { needs: { text: 'one-more', isDigest: false } }), needs: ['one-more'] },
        { class: taskClass(CLASS, 3), version: 3 },
      ]
      for (const draft of others) expect(await given.submit(draft)).toMatchObject({ kind: 'created' })
    })

    test('are limited for replaced executions, follow-ups, flows and children too, and a refusal writes nothing', async () => {
      await many()
      const held = await given.activeExecution()
      const waiting = await given.eligibleExecution({ class: 'else' })
      const before = await fabric.dump()
      const create = given.createInput(needing(['one-more']))

      const refusals = [
        await given.submit({ ...needing(['one-more']), executionId: held.executionId, ifExists: 'after' }),
        await given.submit({ ...needing(['one-more']), executionId: waiting.executionId, ifExists: 'replace' }),
        await fabric.run('submitFlow', flowOf([needing(['one-more'])])),
        await fabric.run('startChildren', { ...held, children: [{ name: 'a', create }] }),
      ]

      expect(refusals.map((refusal) => refusal.kind === 'refused' && refusal.code)).toEqual(
        refusals.map(() => 'too_many_needs'),
      )
      expect(await fabric.dump()).toEqual(before)
    })
  })
})

conforms('the namespace of a claim', ({ fabric, given }) => {
  const own = taskClass(CLASS, undefined, { namespace: 'acme' })

  test('leaves the executions of others', async () => {
    await given.eligibleExecution({ namespace: 'acme', class: own })

    const claim = { queues: [{ lane: LANE, class: own }], count: 5 }
    expect((await given.claim({ ...claim, namespace: 'globex' })).executions).toEqual([])
    expect((await given.claim({ ...claim, namespace: 'acme' })).executions).toMatchObject([{ namespace: 'acme' }])
  })

  test('moves executions that an earlier version left in the queue of all namespaces, and then takes those behind', async () => {
    for (let i = 0; i < 3; i++) await given.eligibleExecution({ namespace: 'acme', priority: 5 })
    const { executionId } = await given.eligibleExecution()

    expect((await given.claim({ namespace: 'default', count: 3 })).executions).toEqual([])
    expect((await given.claim({ namespace: 'default', count: 3 })).executions).toMatchObject([{ executionId }])
    const moved = await given.claim({ namespace: 'acme', count: 5, queues: [{ lane: LANE, class: own }] })

    expect(moved.executions).toHaveLength(3)
  })

  test('is not needed by a worker of all namespaces', async () => {
    await given.eligibleExecution({ namespace: 'acme' })

    expect((await given.claim()).executions).toMatchObject([{ namespace: 'acme' }])
  })

  test('does not depend on a worker of another one: the reconciler moves the executions too', async () => {
    const waiting = await given.eligibleExecution({ namespace: 'acme', version: 2, class: taskClass(CLASS, 2) })
    const held = await given.activeExecution({ namespace: 'acme' })

    const { repaired } = await fabric.run('reconcileIndexes', {})

    const versioned = taskClass(CLASS, 2, { namespace: 'acme' })
    expect(repaired).toEqual([])
    expect([(await fabric.look(waiting.executionId)).class, (await fabric.look(held.executionId)).class]).toEqual([
      versioned,
      own,
    ])
    const { entries } = await fabric.dump()
    expect(entries.filter(({ id }) => id === waiting.executionId).map(({ index }) => index)).toContain(
      readyIndex(LANE, versioned),
    )
  })
})
