/**
 * Tasks that an assistant calls as tools, over the Model Context Protocol. `refund` waits for an approval, which the assistant shows to
 * its user as a form. Its executions outlive the assistant, the server of the protocol and the worker.
 *
 *   npx flowfabric mcp examples/mcp-tools.ts --work
 */
import { z } from 'zod'
import { approval, PermanentError, task } from '../src/index.ts'

export const findOrder = task('orders.find', {
  input: z.object({ id: z.string().describe('The number of the order, such as A-17.') }).describe('Finds an order.'),
  output: z.object({ id: z.string(), cents: z.number() }),
})

export const refund = task('orders.refund', {
  input: z
    .object({ order: z.string(), cents: z.int().positive(), reason: z.string() })
    .describe('Refunds an order. A person approves it first.'),
  output: z.object({ refunded: z.int(), approvedBy: z.string() }),
  retry: { attempts: 3 },
})

export const findOrderHandler = findOrder.handle(({ id }) => ({ id, cents: 1_999 }))

export const refundHandler = refund.handle(async ({ order, cents, reason }, ctx) => {
  await ctx.summary.patch({ order, stage: 'review', reason })
  const review = await ctx.waitFor('refund', approval({ timeout: '3d' }))
  const [vote] = review.votes
  if (!review.ok || vote === undefined) throw new PermanentError('the refund was not approved')
  await ctx.summary.patch({ stage: 'payment' })
  await ctx.step('pay', (step) => pay(order, cents, step.idempotencyKey))
  return { refunded: cents, approvedBy: vote.by.identity }
})

/** Stands for the call of a payment provider, which recognises a repeated request by its key. */
function pay(order: string, cents: number, idempotencyKey: string): string {
  return `${order}/${cents}/${idempotencyKey}`
}
