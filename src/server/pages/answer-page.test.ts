/** What a person reads behind a link before an answer. */
import { expect, onTestFinished, test } from 'vitest'
import { createFabric } from '../../fabric/fabric.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import { answerPage } from './answer-page.ts'
import { KeyRing, approval, budget, task } from '../../client/index.ts'

const agents = budget('agents', { hard: { tokens: 100 }, onBreach: 'suspend' })
const agent = task('agent', { budgets: [agents] })
const review = task('review')

async function waiting() {
  const runtime = virtualRuntime()
  const keys = { present: KeyRing.begin(runtime.now()), ring: () => keys.present }
  const fabric = await createFabric('memory:', { runtime, keys })
  onTestFinished(() => fabric.close({ drain: 0 }))
  await fabric.work([
    agent.handle(async (_, ctx) => {
      await ctx.reserve({ tokens: 150 })
    }),
    review.handle(async (_, ctx) => {
      await ctx.waitFor('review', approval())
    }),
  ])
  for (const given of [agent, review]) await fabric.submit(given, undefined, { id: given.name })
  await runtime.advance(10)
  return { fabric, runtime }
}

test('a link to a question of a budget shows what is spent and what is asked for', async () => {
  const { fabric, runtime } = await waiting()
  const token = await fabric.reissue('agent', 'budget agents', { for: 'ada' })

  const asked = await fabric.askedBy(token)
  expect(asked).toMatchObject({
    task: 'agent',
    waitpoint: 'budget agents',
    reason:
      "budget 'agents' has spent 0 and reserved 0 of 100 tokens, and 150 are asked for. An approval adds 50 tokens unless it names other amounts.",
    names: ['approve', 'reject'],
    by: 'ada',
    isOpen: true,
  })
  expect(answerPage(asked, token, 'key')).toContain('<dt>Reason</dt><dd>budget &#39;agents&#39; has spent 0')
  await fabric.answer(token, 'approve')
  await runtime.advance(10)
  expect(await fabric.execution('agent').state()).toBe('completed')
  expect(await fabric.askedBy(token)).toMatchObject({ isOpen: false, reason: undefined })
})

test('a link to an approval without a reason of its own shows none', async () => {
  const { fabric } = await waiting()
  const asked = await fabric.askedBy(await fabric.reissue('review', 'review', { for: 'ada' }))
  expect(asked).toMatchObject({ waitpoint: 'review', reason: undefined, isOpen: true })
  expect(answerPage(asked, 'token', 'key')).not.toContain('Reason')
})
