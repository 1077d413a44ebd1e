import { expect, test } from 'vitest'
import { CHILD_JOIN_MAX, CHILD_MAX } from '../../src/kernel/index.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { conforms } from './harness.ts'
import { fixedRetry, politeCancel, transientFailure } from './given.ts'

conforms('joinChildren', ({ fabric, given, children }) => {
  async function phaseOf(executionId: ExecutionId): Promise<string> {
    return (await fabric.look(executionId)).state.phase
  }

  test('all: suspends until every child has completed', async () => {
    const { parent, ids } = await children.waiting(['a', 'b'])

    await children.complete(ids[1]!)
    const between = await phaseOf(parent.executionId)
    await children.complete(ids[0]!)

    expect([between, await phaseOf(parent.executionId)]).toEqual(['suspended', 'eligible'])
    expect(await children.joined(parent)).toMatchObject({ verdict: 'satisfied', completed: 2, failed: 0 })
    const again = await given.claimOf(parent)
    expect(await children.join(again, ['a', 'b'])).toMatchObject({ kind: 'decided', join: { verdict: 'satisfied' } })
  })

  test('all: resumes at the first failure, and the other children run on', async () => {
    const { parent, ids } = await children.waiting(['a', 'b', 'c'])

    await children.fail(ids[1]!)

    expect(await phaseOf(parent.executionId)).toBe('eligible')
    expect(await children.joined(parent)).toMatchObject({ verdict: 'impossible', firstFailed: 1 })
    expect([await phaseOf(ids[0]!), await phaseOf(ids[2]!)]).toEqual(['eligible', 'eligible'])
    await children.complete(ids[0]!)
    expect(await children.step(parent, 'a')).toMatchObject({ state: { phase: 'completed' } })
    expect(await children.joined(parent)).toMatchObject({ verdict: 'impossible', completed: 0, failed: 1 })
  })

  test('settled: suspends until every child has ended in any way', async () => {
    const { parent, ids } = await children.waiting(['a', 'b', 'c'], { policy: 'settled' })

    await children.fail(ids[0]!)
    await children.complete(ids[1]!)
    const between = await phaseOf(parent.executionId)
    await fabric.run('cancelExecution', { executionId: ids[2]!, ...politeCancel })

    expect([between, await phaseOf(parent.executionId)]).toEqual(['suspended', 'eligible'])
    expect(await children.joined(parent, 'settled')).toMatchObject({ verdict: 'satisfied', completed: 1, failed: 2 })
    expect(await children.step(parent, 'a')).toMatchObject({ child: { outcome: 'failed' } })
    expect(await children.step(parent, 'c')).toMatchObject({
      child: { outcome: 'cancelled' },
      state: { phase: 'failed', failure: { category: 'cancelled', message: 'not needed' } },
    })
  })

  test('quorum: keeps the winners in the order in which they completed, also if more complete later', async () => {
    const { parent, ids } = await children.waiting(['a', 'b', 'c', 'd'], { policy: 'quorum', need: 2 })

    await children.complete(ids[3]!)
    await children.fail(ids[0]!)
    await children.complete(ids[1]!)
    const decided = await phaseOf(parent.executionId)
    await children.complete(ids[2]!)

    expect(decided).toBe('eligible')
    expect(await children.joined(parent, 'quorum')).toMatchObject({ verdict: 'satisfied', winners: [3, 1] })
  })

  test('quorum: resumes once too few children can still complete', async () => {
    const { parent, ids } = await children.waiting(['a', 'b', 'c'], { policy: 'quorum', need: 2 })

    await children.fail(ids[0]!)
    const between = await phaseOf(parent.executionId)
    await children.fail(ids[2]!)

    expect([between, await phaseOf(parent.executionId)]).toEqual(['suspended', 'eligible'])
    expect(await children.joined(parent, 'quorum')).toMatchObject({ verdict: 'impossible', failed: 2 })
  })

  test('keeps the lease if the children have ended before, and counts them in the order of the list', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b', 'c'])
    await children.complete(ids[2]!)
    await children.complete(ids[1]!)

    const result = await children.join(parent, ['a', 'b', 'c'], { policy: 'quorum', need: 1 })

    expect(result).toMatchObject({ kind: 'decided', join: { verdict: 'satisfied', winners: [1] } })
    expect(await phaseOf(parent.executionId)).toBe('active')
    expect(await children.join(parent, ['a', 'b', 'c'], { policy: 'quorum', need: 1 })).toEqual(result)
  })

  test('a join without children is decided at once', async () => {
    const parent = await given.activeExecution()

    expect(await children.join(parent, [])).toMatchObject({ kind: 'decided', join: { verdict: 'satisfied', total: 0 } })
  })

  test('counts a child once, however often its page is sent', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b'])
    await children.complete(ids[0]!)
    const page = { total: 2, offset: 0, isLast: false }
    await children.join(parent, ['a'], page)
    await children.join(parent, ['a'], page)

    expect(await children.join(parent, ['b'], { total: 2, offset: 1 })).toEqual({ kind: 'suspended' })
    expect(await children.join(parent, ['b'], { total: 2, offset: 1 })).toEqual({ kind: 'already_suspended' })
    expect(await children.joined(parent)).toMatchObject({ completed: 1, verdict: 'pending' })
  })

  test('is decided by no child before the last page', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b'])
    await children.join(parent, ['a'], { policy: 'quorum', need: 1, total: 2, isLast: false })

    await children.complete(ids[0]!)

    expect(await children.joined(parent, 'quorum')).toMatchObject({ verdict: 'pending', completed: 1 })
    expect(await children.join(parent, ['b'], { policy: 'quorum', need: 1, total: 2, offset: 1 })).toMatchObject({
      kind: 'decided',
      join: { winners: [0] },
    })
  })

  test('begins again under a later lease, and counts no child twice', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b', 'c'])
    await children.join(parent, ['a', 'b'], { total: 3, isLast: false })
    await children.complete(ids[0]!)
    await fabric.run('revokeLease', { executionId: parent.executionId, by: 'operator', reason: 'gone' })
    const again = await given.claimOf(parent)
    await children.start(again, ['a', 'b', 'c'])
    await children.join(again, ['a'], { total: 3, isLast: false })
    await children.complete(ids[1]!)

    expect(await children.join(again, ['b', 'c'], { total: 3, offset: 1 })).toEqual({ kind: 'suspended' })
    expect(await children.joined(parent)).toMatchObject({ completed: 2, total: 3 })
    await children.complete(ids[2]!)
    expect(await phaseOf(parent.executionId)).toBe('eligible')
  })

  test('a child that two joins wait for counts in the later one, and again in the earlier one', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b'])
    await children.join(parent, ['a'], { name: 'first', total: 2, isLast: false })
    await children.join(parent, ['a'], { name: 'second', total: 1 })
    await children.complete(ids[0]!)
    const again = await given.claimOf(parent)

    const second = await children.join(again, ['a'], { name: 'second', total: 1 })
    const first = await children.join(again, ['a', 'b'], { name: 'first', total: 2 })

    expect(second).toMatchObject({ kind: 'decided', join: { verdict: 'satisfied' } })
    expect(first).toEqual({ kind: 'suspended' })
    expect(await children.joined(parent, 'first')).toMatchObject({ completed: 1, total: 2 })
  })

  test('a later attempt waits again for children that had failed', async () => {
    const { parent, ids } = await children.waiting(['a', 'b'], { parent: { retry: fixedRetry(2, 0) } })
    await children.fail(ids[0]!)
    const held = await given.claimOf(parent)
    await fabric.run('failExecution', { ...held, ...transientFailure })
    const retried = await given.claimOf(parent)

    const unknown = await children.join(retried, ['a', 'b'])
    const restarted = await children.started(retried, ['a', 'b'])
    const result = await children.join(retried, ['a', 'b'])

    expect(unknown).toMatchObject({ code: 'step_not_found', detail: { step: 'a' } })
    expect(restarted[0]).not.toBe(ids[0])
    expect(restarted[1]).toBe(ids[1])
    expect(result).toEqual({ kind: 'suspended' })
    await children.complete(restarted[0]!)
    await children.complete(restarted[1]!)
    expect(await children.joined(parent)).toMatchObject({ verdict: 'satisfied', completed: 2, failed: 0, round: 1 })
  })

  test('a race that was decided starts no children when the handler runs again', async () => {
    const { parent, ids } = await children.waiting(['a', 'b'], {
      policy: 'quorum',
      need: 1,
      parent: { retry: fixedRetry(2, 0) },
    })
    await children.complete(ids[0]!)
    await children.fail(ids[1]!)
    await fabric.run('failExecution', { ...(await given.claimOf(parent)), ...transientFailure })
    const retried = await given.claimOf(parent)

    const result = await children.start(retried, ['a', 'b'], {
      join: children.joinOf(['a', 'b'], 'quorum', 1),
      park: true,
    })

    expect(result).toMatchObject({
      kind: 'started',
      join: { verdict: 'satisfied', winners: [0] },
      children: [
        { name: 'a', executionId: ids[0], isNew: false },
        { name: 'b', executionId: undefined, isNew: false },
      ],
    })
    expect(await children.claim()).toEqual([])
  })

  test('a parent that is resumed by an operator runs again, and may wait again', async () => {
    const { parent, ids } = await children.waiting(['a'])

    const resumed = await fabric.run('resumeExecution', { executionId: parent.executionId, by: 'operator' })
    const again = await given.claimOf(parent)

    expect(resumed).toMatchObject({ kind: 'resumed', step: 'all' })
    expect(await children.join(again, ['a'])).toEqual({ kind: 'suspended' })
    await children.complete(ids[0]!)
    expect(await phaseOf(parent.executionId)).toBe('eligible')
  })

  test('a signal to a parent that waits for children is kept for a later wait', async () => {
    const { parent } = await children.waiting(['a'])

    const signal = await fabric.run('deliverSignal', {
      executionId: parent.executionId,
      target: '@go',
      key: 'k',
      name: 'go',
      source: { type: 'caller', identity: 'c' },
    })

    expect(signal).toMatchObject({ kind: 'delivered', effect: 'buffered' })
    expect(await phaseOf(parent.executionId)).toBe('suspended')
  })

  test('refuses pages and quorums beyond their limits, unknown children and stale fences', async () => {
    const parent = await given.activeExecution()
    await children.started(parent, ['a'])
    const many = Array.from({ length: CHILD_JOIN_MAX + 1 }, (_, i) => `n${i}`)
    const stale = { ...parent, fence: { ...parent.fence, leaseId: 'other' } }

    expect(await children.join(parent, many)).toMatchObject({ code: 'invalid_input' })
    expect(await children.join(parent, ['a'], { policy: 'quorum', need: 2 })).toMatchObject({ code: 'invalid_input' })
    expect(
      await children.join(parent, ['a'], { policy: 'quorum', need: CHILD_MAX + 1, total: 2 * CHILD_MAX }),
    ).toMatchObject({ code: 'invalid_input', detail: { limit: CHILD_MAX } })
    expect(await children.join(parent, ['a', 'a'])).toMatchObject({ code: 'invalid_input' })
    expect(await children.join(parent, ['b'])).toMatchObject({ code: 'step_not_found', detail: { step: 'b' } })
    expect(await children.join(stale, ['a'])).toMatchObject({ code: 'stale_lease' })
  })

  test('a cancel request is answered instead of a wait', async () => {
    const parent = await given.activeExecution()
    await children.started(parent, ['a'])
    await fabric.run('cancelExecution', { executionId: parent.executionId, ...politeCancel })

    expect(await children.join(parent, ['a'])).toEqual({ kind: 'cancelled' })
    expect(await fabric.look(parent.executionId)).toMatchObject({ unwinding: { outcome: 'cancelled' } })
  })

  test('explain names the children that have not ended', async () => {
    const { parent, ids } = await children.waiting(['a', 'b', 'c'])
    await children.complete(ids[0]!)

    const result = await fabric.run('explainExecution', { executionId: parent.executionId })

    expect(result).toMatchObject({
      explanation: {
        why: 'waits_for_children',
        step: 'all',
        join: { total: 3, completed: 1 },
        waitsFor: [
          { executionId: ids[1], name: 'b', state: 'waiting' },
          { executionId: ids[2], name: 'c', state: 'waiting' },
        ],
      },
    })
  })
})
