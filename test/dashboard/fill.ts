/** Gives a world work in every state, so that every screen has something to show. */
import { HOSTILE, addition, tasks } from './world.ts'
import type { World } from './world.ts'

export async function fill(world: World): Promise<void> {
  const { fabric } = world
  await fabric.consume('billing', { types: ['execution_ended'], task: 'mail.send' }, () => {
    throw new Error('the ledger is closed')
  })
  const crm = `${world.receiver.origin}/hooks?key=x`
  await fabric.webhooks.define('crm', {
    url: crm,
    types: ['execution_ended'],
    task: 'text.summarise',
    allowPrivate: true,
  })
  await (await fabric.consume('audit', {}, () => undefined)).close()
  await Promise.all([
    ...Array.from({ length: 300 }, (_, i) => fabric.submit(tasks.charge, { cents: i }, { id: `charge:${i}` })),
    fabric.submit(tasks.refuse, {}, { id: 'mail:1' }),
    fabric.submit(tasks.hostile, HOSTILE, { id: 'note:1' }),
    fabric.submit(tasks.order, { item: 'honey' }, { id: 'order:1', tags: { plan: 'pro' } }),
    fabric.submit(tasks.order, { item: 'wax' }, { id: 'order:2' }),
    fabric.submit(tasks.settle, {}, { id: 'payment:1' }),
    fabric.submit(tasks.encode, { minutes: 3 }, { id: 'video:1' }),
    fabric.submit(tasks.summarise, { tenant: 'acme', tokens: 300 }, { id: 'text:1' }),
    fabric.submit(tasks.nowhere, {}, { id: 'gpu:1' }),
    fabric.submit(tasks.nowhere, {}, { id: 'gpu:2' }),
    fabric.submit(addition, { parts: 60, broken: 7 }, { id: 'sum:broken' }),
    fabric.limits.define('bank', { perMinute: 60, concurrency: 4 }),
    fabric.schedule('nightly', { task: tasks.charge, input: { cents: 1 }, cron: '0 3 * * *' }),
  ])
  await Promise.all([
    world.untilState('order:1', 'suspended'),
    world.untilState('order:2', 'suspended'),
    world.untilState('payment:1', 'suspended'),
    world.untilState('video:1', 'active'),
    world.untilState('note:1', 'failed'),
    world.untilState('text:1', 'completed'),
  ])
}
