/** The question of a budget: it stores what an approval adds, and nothing that was sent or made before it answers it. */
import { expect, test } from 'vitest'
import { asksText } from '../../src/client/index.ts'
import { one } from './condition-nodes.ts'
import { politeCancel } from './given.ts'
import { conforms } from './harness.ts'
import { ada } from './given-journal.ts'
import { refusal } from './refusal.ts'

const asks = [{ dimension: 'tokens', value: 5 }]
/** What a wait of a budget stores: the amounts, and a text for people that states them. */
const question = { asks, reason: asksText(asks) }

conforms('a wait with what an approval adds', ({ fabric, given, journal }) => {
  test('keeps it until it is answered', async () => {
    const held = await journal.waiting(question)
    expect(await journal.step(held, 'answer')).toMatchObject({ wait: { asks } })
    expect(await journal.effect(held, 'reply')).toBe('resumed')
    expect(await journal.step(held, 'answer')).toMatchObject({ state: { phase: 'closed' }, wait: { asks } })
  })

  test('is not answered by a signal that was sent before, nor with a link that was made before', async () => {
    const held = await given.activeExecution()
    const view = await journal.opened(held, 'reply', { keyId: 'k', nonce: 'early' })
    const token = journal.tokenOf(view)
    expect(await journal.effect(held, 'reply')).toBe('buffered')

    expect(await journal.wait(held, { ...question, opens: [], keyId: 'k', nonce: 'late' })).toMatchObject({
      kind: 'suspended',
    })

    const early = await refusal(fabric, () => journal.signal(held, 'reply', { source: ada, token }))
    expect(early.code).toBe('token_expired')
    expect((await journal.journal(held)).open).toMatchObject([{ target: 'reply' }])
    const now = journal.tokenOf({ ...view, ...(await journal.waitpoint(held, 'reply')) })
    expect(await journal.effect(held, 'reply', { source: ada, token: now })).toBe('resumed')
    const [, counted] = await journal.signals(held)
    expect(await journal.step(held, 'answer')).toMatchObject({ wait: { satisfiers: [counted?.sequence] } })
    expect(await journal.journal(held)).toMatchObject({ open: [], bufferedCount: 0 })
  })

  test('opens its waitpoint anew if it is asked again after a replay', async () => {
    const held = await journal.waiting({ ...question, for: one('reply', 'approve') })
    const before = await journal.waitpoint(held, 'reply')
    const { executionId } = held
    await fabric.run('cancelExecution', { executionId, ...politeCancel })
    await fabric.run('replayExecution', { executionId, requestId: given.requestId() })
    const again = await given.claimOf(held)
    expect(await journal.wait(again, { ...question, for: one('reply', 'approve') })).toMatchObject({
      kind: 'suspended',
    })
    expect((await journal.waitpoint(held, 'reply')).generation).toBe(before.generation + 1)
    expect(await journal.effect(held, 'reply', { name: 'approve' })).toBe('resumed')
  })
})
