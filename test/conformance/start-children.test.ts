import { expect, test } from 'vitest'
import { CHILD_DEPTH_MAX, CHILD_START_MAX } from '../../src/kernel/index.ts'
import { conforms } from './harness.ts'
import { RETENTION_MS, fixedRetry, heldOf, politeCancel, transientFailure } from './given.ts'

const utf8 = new TextEncoder()

conforms('startChildren', ({ fabric, given, children, clock }) => {
  test('creates a child and a step that names it', async () => {
    const parent = await given.activeExecution()

    const result = await children.start(parent, ['page'])

    const step = await children.step(parent, 'page')
    const childId = step.child?.executionId
    expect(result).toMatchObject({ kind: 'started', children: [{ name: 'page', executionId: childId, isNew: true }] })
    expect(step).toMatchObject({ kind: 'child', state: { phase: 'open' } })
    if (childId === undefined) throw new Error('the step has no child')
    expect(await fabric.look(childId)).toMatchObject({
      state: { phase: 'eligible' },
      task: 'child',
      parent: { executionId: parent.executionId, name: 'page', depth: 1 },
    })
    expect(await given.eventsOf({ executionId: childId })).toMatchObject([
      { type: 'execution_created', by: parent.executionId },
    ])
  })

  test('starts nothing twice: a repeated call names the same children', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b'])

    const again = await children.start(parent, ['a', 'b'])

    expect(again).toMatchObject({
      kind: 'started',
      children: [
        { name: 'a', executionId: ids[0], isNew: false },
        { name: 'b', executionId: ids[1], isNew: false },
      ],
    })
    expect(await children.claim()).toHaveLength(2)
  })

  test('a claimed child names its parent, and a claimed parent names none', async () => {
    const parent = await given.activeExecution()
    await children.started(parent, ['page'])

    const [child] = await children.claim()

    expect(child?.parent).toMatchObject({ executionId: parent.executionId, name: 'page', life: 0 })
    const { executions } = await given.claim({ repeated: true, requestId: parent.fence.leaseId })
    expect(executions).toMatchObject([{ executionId: parent.executionId, parent: undefined, journal: { life: 0 } }])
  })

  test('one call starts a child and suspends the parent until it ends', async () => {
    const parent = await given.activeExecution()
    const join = children.joinOf(['page'])

    const result = await children.start(parent, ['page'], { join, park: true })

    expect(result).toEqual({ kind: 'suspended' })
    expect(await children.start(parent, ['page'], { join, park: true })).toEqual({ kind: 'already_suspended' })
    expect((await fabric.look(parent.executionId)).state).toMatchObject({ phase: 'suspended', reason: 'children' })
    const childId = (await children.step(parent, 'page')).child?.executionId ?? given.newId()
    await children.complete(childId, utf8.encode('done'))
    expect((await fabric.look(parent.executionId)).state.phase).toBe('eligible')
  })

  test('a suspended parent that is claimed again reads the result of its child', async () => {
    const { parent, ids } = await children.waiting(['page'])
    await children.complete(ids[0] ?? given.newId(), utf8.encode('done'))

    const { executions } = await given.claim()
    const { result, blobs } = await fabric.reply('readSteps', { executionId: parent.executionId, values: true })

    expect(executions).toMatchObject([
      { executionId: parent.executionId, journal: { resumed: { step: 'all', cause: 'children' } } },
    ])
    const view = result.kind === 'refused' ? undefined : result.steps.find(({ step }) => step.kind === 'child')
    expect(view).toMatchObject({ isFinal: true, step: { state: { phase: 'completed', value: { size: 4 } } } })
    expect(new TextDecoder().decode(blobs[view?.valueBlob ?? -1])).toBe('done')
  })

  test('a child that completed is not started again by a later attempt', async () => {
    const parent = await given.activeExecution({ retry: fixedRetry(2, 0) })
    const [childId] = await children.started(parent, ['page'])
    await children.complete(childId ?? given.newId())
    await fabric.run('failExecution', { ...parent, ...transientFailure })
    const again = await given.claimOf(parent)

    const result = await children.start(again, ['page'])

    expect(result).toMatchObject({
      children: [{ executionId: childId, isNew: false, state: { phase: 'completed' }, outcome: 'completed' }],
    })
  })

  test('a child that failed is started anew by a later attempt, and the failed one is released', async () => {
    const parent = await given.activeExecution({ retry: fixedRetry(2, 0) })
    const [failedId = given.newId()] = await children.started(parent, ['page'])
    await children.fail(failedId)
    const same = await children.start(parent, ['page'])
    await fabric.run('failExecution', { ...parent, ...transientFailure })
    const again = await given.claimOf(parent)

    const [newId] = await children.started(again, ['page'])

    expect(same).toMatchObject({ children: [{ executionId: failedId, state: { phase: 'failed' }, outcome: 'failed' }] })
    expect(newId).not.toBe(failedId)
    expect(await given.purgeAt({ executionId: failedId })).toBe(clock.now() + RETENTION_MS)
  })

  test('a child that runs is taken over by a later attempt, which gets its failure', async () => {
    const parent = await given.activeExecution({ retry: fixedRetry(2, 0) })
    const [childId = given.newId()] = await children.started(parent, ['page'])
    await fabric.run('failExecution', { ...parent, ...transientFailure })
    const again = await given.claimOf(parent)
    await children.start(again, ['page'])

    await children.fail(childId)

    expect(await children.start(again, ['page'])).toMatchObject({
      children: [{ executionId: childId, isNew: false, state: { phase: 'failed', round: 1 } }],
    })
  })

  test('a detached child is done at once, and is removed after its own retention', async () => {
    const parent = await given.activeExecution()

    const [childId = given.newId()] = await children.started(parent, ['mail'], { isDetached: true })

    expect(await children.step(parent, 'mail')).toMatchObject({ state: { phase: 'completed', value: undefined } })
    await children.complete(childId)
    expect(await given.purgeAt({ executionId: childId })).toBe(clock.now() + RETENTION_MS)
  })

  test('a child inherits the named tags of its parent, unless it has its own', async () => {
    const tag = (name: string, value: string) => ({ name, value, indexed: false })
    const parent = await given.activeExecution({ tags: [tag('tenant', 'a'), tag('plan', 'pro'), tag('secret', 'x')] })

    const draft = { inheritTags: ['tenant', 'plan', 'absent'], create: { tags: [tag('plan', 'free')] } }
    const [childId = given.newId()] = await children.started(parent, ['page'], draft)

    expect((await fabric.look(childId)).tags).toEqual([tag('plan', 'free'), tag('tenant', 'a')])
  })

  test('a child is in the namespace of its parent', async () => {
    const parent = await given.activeExecution({ namespace: 'blue' })

    const [childId = given.newId()] = await children.started(parent, ['page'], { create: { namespace: 'red' } })

    expect((await fabric.look(childId)).namespace).toBe('blue')
  })

  test('refuses a fence that is not current, an id that is taken, and a page that is too large', async () => {
    const taken = await given.eligibleExecution({ class: 'other' })
    const parent = await given.activeExecution()
    const stale = { ...parent, fence: { ...parent.fence, epoch: parent.fence.epoch - 1 } }
    const many = Array.from({ length: CHILD_START_MAX + 1 }, (_, i) => `page-${i}`)

    expect(await children.start(stale, ['page'])).toMatchObject({ code: 'stale_lease' })
    expect(await children.start(parent, ['page'], {}, { create: { executionId: taken.executionId } })).toMatchObject({
      code: 'execution_exists',
    })
    expect(await children.start(parent, many)).toMatchObject({
      code: 'invalid_input',
      detail: { limit: CHILD_START_MAX },
    })
    expect(await children.start(parent, ['page', 'page'])).toMatchObject({ code: 'invalid_input' })
    expect((await fabric.look(parent.executionId)).journal).toBeUndefined()
  })

  test('refuses a child below too many parents, but a detached child has none', async () => {
    let holder = await given.activeExecution()
    for (let depth = 1; depth <= CHILD_DEPTH_MAX; depth++) {
      await children.start(holder, ['next'])
      const [claimed] = await children.claim()
      if (claimed === undefined) throw new Error('the child is not ready')
      holder = heldOf(claimed)
    }

    expect(await children.start(holder, ['next'])).toMatchObject({ code: 'child_depth_exceeded' })
    expect(await children.start(holder, ['next'], {}, { isDetached: true })).toMatchObject({ kind: 'started' })
  })

  test('a cancel request is answered instead of a wait, and starts nothing', async () => {
    const parent = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: parent.executionId, ...politeCancel })
    const call = { join: children.joinOf(['page']), park: true }

    expect(await children.start(parent, ['page'], call)).toEqual({ kind: 'cancelled' })
    expect(await children.start(parent, ['page'], call)).toEqual({ kind: 'already_cancelled' })
    expect(await children.claim()).toEqual([])
  })

  test('a cancel of an execution that has started a child wakes its handler', async () => {
    const { parent } = await children.waiting(['page'])

    await fabric.run('cancelExecution', { executionId: parent.executionId, ...politeCancel })

    expect(await fabric.look(parent.executionId)).toMatchObject({
      state: { phase: 'eligible' },
      unwinding: { outcome: 'cancelled' },
    })
  })
})
