/** The end of a child, in whatever phase its parent is then. */
import { expect, test } from 'vitest'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { conforms } from './harness.ts'
import { LANE, CLASS, forcedCancel, heldOf, permanentFailure, transientFailure, fixedRetry } from './given.ts'
import { CHILD_CLASS } from './given-children.ts'
import { call } from './fabric.ts'

conforms('the end of a child', ({ fabric, given, flows, journal, children, clock }) => {
  async function phaseOf(executionId: ExecutionId): Promise<string> {
    return (await fabric.look(executionId)).state.phase
  }

  test('while its parent runs closes its step and changes nothing else of the parent', async () => {
    const parent = await given.activeExecution()
    const [childId] = await children.started(parent, ['a'])
    const before = await fabric.look(parent.executionId)

    await children.complete(childId!)

    expect(await fabric.look(parent.executionId)).toEqual(before)
    expect(await children.step(parent, 'a')).toMatchObject({
      state: { phase: 'completed' },
      child: { outcome: 'completed' },
    })
  })

  test('while its parent waits for something else is found there later', async () => {
    const parent = await given.activeExecution()
    const [childId] = await children.started(parent, ['a'])
    await journal.wait(parent)

    await children.fail(childId!)

    expect(await phaseOf(parent.executionId)).toBe('suspended')
    await journal.signal(parent, 'reply')
    const again = await given.claimOf(parent)
    expect(await children.join(again, ['a'])).toMatchObject({ kind: 'decided', join: { verdict: 'impossible' } })
  })

  test('while its parent is delayed before a retry is found there later', async () => {
    const parent = await given.activeExecution({ retry: fixedRetry(2, 1_000) })
    const [childId] = await children.started(parent, ['a'])
    await fabric.run('failExecution', { ...parent, ...transientFailure })

    await children.complete(childId!)

    expect(await phaseOf(parent.executionId)).toBe('delayed')
    clock.advance(1_000)
    const again = await given.claimOf(parent)
    expect(await children.join(again, ['a'])).toMatchObject({ kind: 'decided', join: { verdict: 'satisfied' } })
  })

  test('after its parent has failed closes its step, and a replay of the parent gets the result', async () => {
    const parent = await given.activeExecution()
    const [childId] = await children.started(parent, ['a'])
    await fabric.run('failExecution', { ...parent, ...permanentFailure })
    const running = await phaseOf(childId!)

    await children.complete(childId!)
    await fabric.run('replayExecution', { executionId: parent.executionId, requestId: 'again' })
    const again = await given.claimOf(parent)

    expect(running).toBe('eligible')
    expect(await children.started(again, ['a'])).toEqual([childId])
    expect(await children.join(again, ['a'])).toMatchObject({ kind: 'decided', join: { verdict: 'satisfied' } })
  })

  test('a replay of the parent keeps children that completed and starts those that failed', async () => {
    const { parent, ids } = await children.waiting(['a', 'b'], { policy: 'settled' })
    await children.complete(ids[0]!)
    await children.fail(ids[1]!)
    await fabric.run('failExecution', { ...(await given.claimOf(parent)), ...permanentFailure })

    await fabric.run('replayExecution', { executionId: parent.executionId, requestId: 'again' })
    const again = await given.claimOf(parent)
    const restarted = await children.started(again, ['a', 'b'])

    expect(restarted[0]).toBe(ids[0])
    expect(restarted[1]).not.toBe(ids[1])
    expect(await children.join(again, ['a', 'b'], { policy: 'settled' })).toEqual({ kind: 'suspended' })
  })

  test('of a step that a replay has cut changes nothing of the new run', async () => {
    const parent = await given.activeExecution()
    const [oldId] = await children.started(parent, ['a'])
    await children.join(parent, ['a'], { isLast: false })
    await fabric.run('failExecution', { ...parent, ...permanentFailure })
    await fabric.run('replayExecution', { executionId: parent.executionId, requestId: 'r', from: { kind: 'start' } })
    const again = await given.claimOf(parent)
    const [newId] = await children.started(again, ['a'])
    await children.join(again, ['a'])

    await children.complete(oldId!)

    expect(newId).not.toBe(oldId)
    expect(await phaseOf(parent.executionId)).toBe('suspended')
    expect(await children.step(parent, 'a')).toMatchObject({ state: { phase: 'open' } })
    await children.complete(newId!)
    expect(await phaseOf(parent.executionId)).toBe('eligible')
  })

  test('of a cut step that still has its record is not counted by a join of the same name', async () => {
    const parent = await given.activeExecution()
    const [oldId] = await children.started(parent, ['old'])
    await children.join(parent, ['old'], { isLast: false })
    await fabric.run('failExecution', { ...parent, ...permanentFailure })
    await fabric.run('replayExecution', { executionId: parent.executionId, requestId: 'r', from: { kind: 'start' } })
    const again = await given.claimOf(parent)
    await children.started(again, ['new'])
    await children.join(again, ['new'])

    await children.fail(oldId!)

    expect(await phaseOf(parent.executionId)).toBe('suspended')
    expect(await children.joined(parent)).toMatchObject({ completed: 0, failed: 0, verdict: 'pending' })
  })

  test('of a parent that was replaced changes nothing of the new one', async () => {
    const parent = await given.activeExecution()
    const [childId] = await children.started(parent, ['a'])
    await fabric.run('failExecution', { ...parent, ...permanentFailure })
    await given.submit({ executionId: parent.executionId, ifExists: 'replace' })
    const again = await given.claimOf(parent)
    const [newId] = await children.started(again, ['a'])
    await children.join(again, ['a'])

    await children.complete(childId!)

    expect(newId).not.toBe(childId)
    expect(await phaseOf(parent.executionId)).toBe('suspended')
    await flows.drain()
    expect(await given.purgeAt({ executionId: childId! })).toBeDefined()
  })

  test('a child that failed and is replayed changes nothing of its parent', async () => {
    const { parent, ids } = await children.waiting(['a'])
    await children.fail(ids[0]!)
    await fabric.run('replayExecution', { executionId: ids[0]!, requestId: 'again' })

    await children.complete(ids[0]!)

    expect(await children.step(parent, 'a')).toMatchObject({ state: { phase: 'failed' }, child: { outcome: 'failed' } })
  })

  test('a child that completed cannot be replayed, because its parent has its result', async () => {
    const { ids } = await children.waiting(['a'])
    await children.complete(ids[0]!)

    const result = await fabric.run('replayExecution', { executionId: ids[0]!, requestId: 'again' })

    expect(result).toMatchObject({ code: 'execution_is_child' })
  })

  test('a child can be neither replaced nor added to a flow', async () => {
    const { ids } = await children.waiting(['a'])
    const graph = await flows.open()

    expect(await given.submit({ executionId: ids[0]!, ifExists: 'replace' })).toMatchObject({
      code: 'execution_is_child',
    })
    expect(
      await fabric.run('addExecutionToFlow', {
        flowId: graph.flowId,
        executionId: ids[0]!,
        name: 'child',
        after: [],
      }),
    ).toMatchObject({ code: 'execution_is_child' })
  })

  test('by a deadline, a lost lease or a forced cancel counts like any other', async () => {
    const draft = { policy: 'settled', child: { create: { totalTimeoutMs: 1_000 } } } as const
    const { parent, ids } = await children.waiting(['late', 'forced'], draft)

    await fabric.run('cancelExecution', { executionId: ids[1]!, ...forcedCancel })
    clock.advance(1_000)
    await fabric.duePass()

    expect(await phaseOf(parent.executionId)).toBe('eligible')
    expect(await children.step(parent, 'late')).toMatchObject({
      child: { outcome: 'expired' },
      state: { failure: { category: 'deadline' } },
    })
    expect(await children.step(parent, 'forced')).toMatchObject({ child: { outcome: 'cancelled' } })
  })

  test('many children that are due at once are all counted', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `c${i}`)
    const draft = { policy: 'settled', child: { create: { totalTimeoutMs: 1_000 } } } as const
    const { parent } = await children.waiting(names, draft)

    clock.advance(1_000)
    await flows.drain()

    expect(await phaseOf(parent.executionId)).toBe('eligible')
    expect(await children.joined(parent, 'settled')).toMatchObject({ failed: 30, verdict: 'satisfied' })
  })

  test('children that end in one batch are all counted, and the parent is claimed in the same batch', async () => {
    const { parent } = await children.waiting(['a', 'b', 'c'])
    const claimed = await children.claim()

    const answers = await fabric.batch(
      ...claimed.map((child) => call('completeExecution', { ...heldOf(child), parent: child.parent })),
      call('claimForWorker', given.claimInput({ queues: [{ lane: LANE, class: CLASS }] })),
    )

    expect(answers.at(-1)).toMatchObject({ result: { executions: [{ executionId: parent.executionId }] } })
  })

  test('the worker that completes the last child claims the parent with the same call', async () => {
    const { parent, ids } = await children.waiting(['a'])
    const [child] = await children.claim()

    const result = await fabric.run('completeExecution', {
      ...heldOf(child!),
      parent: child!.parent,
      next: given.claimInput({
        queues: [
          { lane: LANE, class: CLASS },
          { lane: LANE, class: CHILD_CLASS },
        ],
      }),
    })

    expect(child?.executionId).toBe(ids[0])
    expect(result).toMatchObject({ kind: 'completed', next: { executions: [{ executionId: parent.executionId }] } })
  })

  test('a repeated completion of a child counts it once', async () => {
    const { parent, ids } = await children.waiting(['a', 'b'])
    const held = await children.held(ids[0]!)

    await fabric.run('completeExecution', held)
    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'already_completed' })

    expect(await children.joined(parent)).toMatchObject({ completed: 1, verdict: 'pending' })
  })

  test('a child may be a parent: each level resumes the one above', async () => {
    const { parent, ids } = await children.waiting(['a'])
    const middle = await children.held(ids[0]!)
    const [leafId] = await children.started(middle, ['leaf'])
    await children.join(middle, ['leaf'])

    await children.complete(leafId!)
    const above = await phaseOf(parent.executionId)
    await fabric.run('completeExecution', await children.held(ids[0]!))

    expect(above).toBe('suspended')
    expect(await phaseOf(parent.executionId)).toBe('eligible')
    expect((await fabric.look(leafId!)).parent).toMatchObject({ executionId: ids[0], depth: 2 })
  })

  test('a member of a flow waits for children without being skipped or failed by them', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    const parent = await graph.claim('a')
    const ids = await children.started(parent, ['x', 'y'])
    await children.join(parent, ['x', 'y'])
    expect((await graph.view()).flow.counts).toMatchObject({ suspended: 1, waiting_dependencies: 1 })

    await children.fail(ids[0]!)

    expect((await graph.view()).flow.counts).toMatchObject({ suspended: 0, waiting: 1, waiting_dependencies: 1 })
    await graph.complete('a', 'b')
    expect((await graph.view()).state).toBe('completed')
  })
})
