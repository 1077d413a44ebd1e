/** A worker with tasks that do everything that the API shows. */
import { PermanentError, allOf, approval, flow, signal, task } from '../../src/contract.ts'
import { z } from 'zod'
import type { Fabric } from '../../src/fabric/fabric.ts'

const anything = z.unknown()

const greet = task('greet').handle((input: unknown) => ({ greeted: input }))
const bytes = task('bytes').handle((input: unknown) => new Uint8Array(input instanceof Uint8Array ? input : [1, 2, 3]))
const refuse = task('refuse', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } } }).handle(
  (input: unknown) => {
    throw new PermanentError(`refused ${JSON.stringify(input)}`)
  },
)
const flaky = task('flaky').handle((_input: unknown, { attempt }) => {
  if (attempt === 1) throw new Error('not yet')
  return attempt
})
const review = task('review').handle(async (_input: unknown, ctx) => {
  await ctx.step('prepare', () => ({ page: 1 }))
  const waitpoint = await ctx.waitpoint('review')
  const links = await ctx.step('links', () => ({ ada: waitpoint.token({ for: 'ada' }) }))
  const vote = await ctx.waitFor('decision', approval({ on: waitpoint }))
  return { ok: vote.ok, links }
})
const mailbox = task('mailbox').handle(async (_input: unknown, ctx) => {
  const paid = await ctx.waitFor(signal('paid'))
  return paid
})
const endless = task('endless').handle(
  (_input: unknown, ctx) =>
    new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error))),
)
const narrate = task('narrate', { frames: { token: anything } }).handle(async (_input: unknown, ctx) => {
  await ctx.step('draft', async (s) => {
    await ctx.summary.patch({ stage: 'writing' })
    for (const word of ['one', 'two', 'three']) await s.frames.token(word)
    ctx.log.warn({ words: 3 }, 'drafted')
  })
  await ctx.waitFor(signal('more'))
  await ctx.frames.token({ word: 'four' })
  ctx.log.info({}, 'finished')
  await ctx.summary.patch({ stage: 'done' })
})
const buy = task('buy').handle(async (_input: unknown, ctx) => {
  const reserved = await ctx.reserve({ tokens: 40 }, { key: 'call' })
  await reserved.settle({ tokens: 60 })
})
const part = task<{ n: number }, number>('part')
const sum = task<undefined, number, { left: number; right: number }>('sum')

export const addition = flow('addition', (f, input: { left: number; right: number }) => {
  const left = f.node('left', part, { input: { n: input.left } })
  const right = f.node('right', part, { input: { n: input.right } })
  f.node('sum', sum, { after: allOf(left, right) })
})

const handlers = [
  greet,
  bytes,
  refuse,
  flaky,
  review,
  mailbox,
  endless,
  narrate,
  buy,
  part.handle(({ n }) => {
    if (n < 0) throw new PermanentError('negative')
    return n
  }),
  sum.handle((_input, { inputs }) => inputs.left + inputs.right),
]

export async function work(fabric: Fabric): Promise<void> {
  await fabric.work(handlers, { concurrency: 8, lanes: ['default'] })
}
