/** Events of budgets, lanes and workers reach subscriptions and consumers like those of executions. */
import { expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import type { SubscribeOptions } from '../../src/client/index.ts'
import { silentLog } from '../../src/runtime/index.ts'
import { logPartitions } from '../../src/stores/partitions.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const plain = task<number, number>('plain')
const families = ['budgets', 'lanes', 'workers'] as const

/** Causes one event of each family. */
async function act(working: Working, name: string): Promise<void> {
  const { client } = working
  await working.until(client.lane(name).pause({ by: 'ops' }))
  await working.until(client.budgets.define(name, { hard: { tokens: 5 } }))
  const worker = working.work([plain.handle((n) => n)], { workerId: `${name}-worker` })
  await working.until(client.submit(plain, 1))
  await working.until(worker.close())
}

async function seen(working: Working, options: SubscribeOptions) {
  const types: string[] = []
  let cursor = options.cursor ?? ''
  const items = working.client.subscribe({ ...options, follow: false })
  for (;;) {
    const next = await working.until(items.next())
    if (next.done === true) return { types: types.toSorted(), cursor }
    types.push(next.value.kind === 'event' ? next.value.event.type : next.value.kind)
    cursor = next.value.cursor
  }
}

const noFilter = { namespace: undefined, task: undefined, lane: undefined, tag: undefined, storeWide: undefined }
const all = ['budget_changed', 'lane_changed', 'worker_registered', 'worker_unregistered']

conforms('events of budgets, lanes and workers', ({ fabric }) => {
  test('a subscription gets them by family, from any cursor', async () => {
    await using working = new Working(fabric)
    await act(working, 'first')

    const first = await seen(working, { families, fromStart: true })
    expect(first.types).toEqual(all)
    expect((await seen(working, { families: ['lanes'], fromStart: true })).types).toEqual(['lane_changed'])
    expect((await seen(working, { families: ['budgets'], lane: 'first', fromStart: true })).types).toEqual([])
    expect((await seen(working, { lane: 'first', fromStart: true })).types).toEqual(['lane_changed'])

    await act(working, 'second')
    expect((await seen(working, { families, cursor: first.cursor })).types).toEqual(all)
  })

  test('a client for one namespace of many gets none of those that belong to the store', async () => {
    await using working = new Working(fabric)
    await act(working, 'first')
    const bound = working.client.forNamespace('default')
    const types: string[] = []
    for await (const item of bound.subscribe({ families, fromStart: true, follow: false })) {
      if (item.kind === 'event') types.push(item.event.type)
    }
    expect(types).toEqual(['worker_registered', 'worker_unregistered'])
  })

  test('a cursor from before their logs were read continues in those of executions', async () => {
    await using working = new Working(fabric)
    const marked = await working.until(working.client.currentCursor())
    const cursor = marked
      .split('.')
      .slice(0, 1 + fabric.store.settings.executionPartitions)
      .join('.')
    await act(working, 'first')

    const { types } = await seen(working, { cursor })
    expect(types).toContain('execution_created')
    expect(types).not.toContain('lane_changed')
  })

  test('a consumer handles those that happened while none of its processes ran', async () => {
    await using working = new Working(fabric)
    const types: string[] = []
    const done = Promise.withResolvers<undefined>()
    const start = () =>
      working.client.startConsumer(
        silentLog,
        'audit',
        { families },
        ({ type }) => {
          if (types.push(type) === all.length) done.resolve(undefined)
        },
        { ttl: '1s' },
      )
    await working.until((await working.until(start())).close())
    await act(working, 'first')
    const consumer = await working.until(start())
    await working.until(done.promise)
    await working.until(consumer.close())

    expect(types.toSorted()).toEqual(all)
    expect(await working.until(working.client.consumer('audit').describe())).toMatchObject({ handledCount: 4 })
  })

  test('a consumer from before their logs were read gets them from now on', async () => {
    await using working = new Working(fabric)
    const filter = { types: ['lane_changed'], ...noFilter }
    const positions = Array.from({ length: fabric.store.settings.executionPartitions }, () => ({ position: 0 }))
    const earlier = {
      ...{ consumerId: 'default\u001faudit', memberId: 'earlier', callNumber: 1, ttlMs: 1_000, filter },
      ...{ create: { namespace: 'default', name: 'audit', positions }, progress: [], release: [], isLeaving: true },
      ...{ handledCount: 0, skippedCount: 0, missedCount: 0 },
    }
    await fabric.runIn('m:0', 'renewConsumer', earlier)
    await act(working, 'before')

    const lanes: string[] = []
    const done = Promise.withResolvers<undefined>()
    const { client } = working
    const handle = ({ lane }: { readonly lane: string }) => {
      if (lanes.push(lane) === 1) done.resolve(undefined)
    }
    const consumer = await working.until(
      client.startConsumer(silentLog, 'audit', { types: ['lane_changed'] }, handle, { ttl: '1s' }),
    )
    const logCount = logPartitions(fabric.store.settings).length
    const logsOf = async () => (await working.until(client.consumer('audit').describe())).partitions
    while ((await logsOf()).length < logCount) await working.elapse(100)
    await working.until(client.lane('after').pause({ by: 'ops' }))
    await working.until(done.promise)
    await working.until(consumer.close())

    expect(lanes).toEqual(['after'])
    expect(await logsOf()).toHaveLength(logCount)
  })
})
