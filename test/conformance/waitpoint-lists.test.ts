/** Open waitpoints: of one execution, and of a whole partition. */
import { expect, test } from 'vitest'
import { count, every, one } from './condition-nodes.ts'
import { forcedCancel } from './given.ts'
import type { Submitted } from './given.ts'
import { conforms } from './harness.ts'

conforms('listing waitpoints', ({ fabric, given, journal, clock }) => {
  test('returns the senders whose signals a wait counts, if it does not count those of anyone', async () => {
    const held = await given.activeExecution()
    const votes = count(2, ['reply', 'second'], { name: 'yes', from: ['ada', 'bob'] })
    const refusal = count(1, ['reply'], { name: 'no', from: ['bob', 'eve'] })
    await journal.open(held, 'reply')
    await journal.open(held, 'second')
    await journal.open(held, 'third')
    await journal.wait(held, { for: every(votes, refusal, one('third')), timeoutMs: 9_000 })

    const { executionId } = held
    expect(await fabric.run('listWaitpoints', { executionId })).toMatchObject({
      waitpoints: [
        { waitpoint: { target: 'reply' }, from: ['ada', 'bob', 'eve'] },
        { waitpoint: { target: 'second' }, from: ['ada', 'bob'] },
        { waitpoint: { target: 'third' }, from: [] },
      ],
    })
    expect(await fabric.run('explainExecution', { executionId })).toMatchObject({ explanation: { from: [] } })
  })

  test('returns what is open and what is waited for, in pages', async () => {
    const held = await given.activeExecution()
    await journal.open(held, 'early', { expiresInMs: 5_000 })
    await journal.signal(held, '@post', { name: 'post' })
    await journal.wait(held, { for: every(one('reply', 'yes'), one('@post')), timeoutMs: 9_000 })

    const open = await fabric.run('listWaitpoints', { executionId: held.executionId })
    expect(open).toMatchObject({
      kind: 'waitpoints',
      waitpoints: [
        { waitpoint: { target: '@post' }, state: 'awaited', step: 'answer' },
        { waitpoint: { target: 'early' }, task: 'greet', state: 'pending', expiresAt: clock.now() + 5_000, names: [] },
        {
          waitpoint: { target: 'reply' },
          state: 'awaited',
          expiresAt: clock.now() + 9_000,
          step: 'answer',
          names: ['yes'],
        },
      ],
    })
    const first = await fabric.run('listWaitpoints', { executionId: held.executionId, all: true, limit: 2 })
    if (first.kind === 'refused') throw new Error(first.code)
    const rest = await fabric.run('listWaitpoints', { executionId: held.executionId, all: true, cursor: first.cursor })
    const targets = [first, rest].map((page) =>
      page.kind === 'refused' ? [] : page.waitpoints.map((one) => one.waitpoint.target),
    )
    expect(targets).toEqual([['@post', 'early'], ['reply']])
  })

  test('looks past closed ones until it finds open ones', async () => {
    const held = await given.activeExecution()
    for (const name of Array.from({ length: 12 }, (_, i) => `w${i}`)) {
      await journal.open(held, name)
      if (name !== 'w9') await fabric.run('closeWaitpoint', { ...held, target: name, reason: 'unused', by: 'op' })
    }

    const page = await fabric.run('listWaitpoints', { executionId: held.executionId, limit: 1 })
    expect(page).toMatchObject({ waitpoints: [{ waitpoint: { target: 'w9' } }] })
    expect(await fabric.run('listWaitpoints', { executionId: held.executionId, all: true })).toMatchObject({
      waitpoints: { length: 12 },
    })
    expect(await fabric.run('listWaitpoints', { executionId: given.newId() })).toMatchObject({
      code: 'execution_not_found',
    })
  })

  test('of a whole partition goes from the longest open to the latest, and mailboxes are not among them', async () => {
    const opened: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const held = await journal.waiting({ for: one(name), opens: [name] })
      await journal.signal(held, '@go')
      opened.push(held.executionId)
      clock.advance(1)
    }
    const first = await fabric.run('listOpenWaitpoints', { limit: 2 })
    const rest = await fabric.run('listOpenWaitpoints', { cursor: first.cursor })

    const listed = [...first.waitpoints, ...rest.waitpoints]
    expect(listed.map(({ waitpoint }) => waitpoint.executionId)).toEqual(opened)
    expect(listed.map(({ waitpoint, state }) => [waitpoint.target, state])).toEqual([
      ['a', 'awaited'],
      ['b', 'awaited'],
      ['c', 'awaited'],
    ])
    expect(rest).not.toHaveProperty('cursor', expect.anything())
    for (const executionId of opened) {
      await fabric.run('cancelExecution', { executionId: executionId as Submitted['executionId'], ...forcedCancel })
    }
    expect((await fabric.run('listOpenWaitpoints', {})).waitpoints).toEqual([])
  })
})
