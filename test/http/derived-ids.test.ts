/** Ids that follow from stored records: a remote caller of one namespace cannot occupy those of another one. */
import { expect, test } from 'vitest'
import { executionIdFromKey } from '../../src/client/transport/ids.ts'
import { flow } from '../../src/client/define/flow.ts'
import { task } from '../../src/client/define/task.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { scheduleId, taskClass } from '../../src/kernel/index.ts'
import { PORT_PATH, PORT_TYPE, pack, unpack } from '../../src/stores/remote/wire.ts'
import type { WireReply } from '../../src/stores/remote/wire.ts'
import { byRole, served } from './served.ts'
import type { Served } from './served.ts'

const greet = task<{ readonly name: string }, string>('greet')
const party = task<undefined, string>('party', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 1 } } })
const sums = flow('sums', (f) => f.node('first', greet, { input: { name: 'ada' } }))

const start = () => served({ authenticate: byRole, fabric: { allNamespaces: true } })
const reached = ({ url }: Served, token: string): Promise<Fabric> => createFabric(url, { token, log: 'silent' })

async function resultOf({ url }: Served, token: string, operation: string, input: object): Promise<object> {
  const calls = [{ partition: 'fp:0', operation, input, blobs: 0 }]
  const headers = { authorization: `Bearer ${token}`, 'content-type': PORT_TYPE }
  const body = pack({ version: 1, calls }, []) as Uint8Array<ArrayBuffer>
  const response = await fetch(url + PORT_PATH, { method: 'POST', headers, body })
  const [answer] = (unpack(new Uint8Array(await response.arrayBuffer())).head as WireReply).answers
  return answer?.error ?? (answer as { readonly result: object }).result
}

test('a child of one namespace cannot have the id that follows from a key of another one', async () => {
  const found = await start()
  await using fabric = await reached(found, 'worker-other')
  const { id } = await fabric.submit(party, undefined)
  const claim = {
    ...{ requestId: 'r1', workerId: 'w', workerInstanceId: 'w', count: 1, leaseTtlMs: 30_000, seed: 1 },
    queues: [{ lane: 'default', class: taskClass('party', undefined, { namespace: 'other' }) }],
  }
  const claimed = await resultOf(found, 'worker-other', 'claimForWorker', claim)
  const [{ fence }] = (claimed as { readonly executions: readonly [{ readonly fence: object }] }).executions
  const create = {
    ...{ executionId: executionIdFromKey('acme', 'order:1', 1), namespace: 'other', task: 'greet', lane: 'default' },
    ...{ class: taskClass('greet', undefined, { namespace: 'other' }), priority: 100, tags: [], retentionMs: 1_000 },
    retry: { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] },
  }
  const input = { executionId: id, fence, children: [{ name: 'guest', create }] }

  expect(await resultOf(found, 'worker-other', 'startChildren', input)).toMatchObject({ code: 'invalid_input' })
  const stale = { ...input, fence: { ...fence, leaseId: 'guessed' } }
  expect(await resultOf(found, 'worker-other', 'startChildren', stale)).toMatchObject({ kind: 'refused' })
})

test('a worker of one namespace starts children, also in a second attempt', async () => {
  const found = await start()
  found.fabric.engine()
  await using fabric = await reached(found, 'worker-other')
  let attempts = 0
  const host = party.handle(async (_, ctx) => {
    attempts += 1
    const name = await ctx.call('guest', greet, { name: 'ada' })
    if (attempts === 1) throw new Error('again')
    return name + (await ctx.call('late', greet, { name: 'bob' }))
  })
  await fabric.work([host, greet.handle(({ name }) => name)], { concurrency: 2 })

  const execution = await fabric.submit(party, undefined)
  expect(await execution.result()).toBe('adabob')
})

test('a schedule of one namespace starts nothing with an id of another one', async () => {
  const found = await start()
  await using acme = await reached(found, 'worker-acme')
  await using other = await reached(found, 'operator-other')
  const { id } = await acme.submit(greet, { name: 'ada' })
  await other.schedule('nightly', { task: greet, input: { name: 'ada' }, every: '1h' })
  await other.schedule('weekly', { flow: sums, every: '1h' })
  const taken = executionIdFromKey('acme', 'order:1', 1)
  const fire = async (name: string, firing: object) => {
    const described = await resultOf(found, 'operator-other', 'describeSchedule', {
      scheduleId: scheduleId('other', name),
    })
    const { timingDigest } = (described as { readonly schedule: { readonly timingDigest: string } }).schedule
    const digest = name === 'weekly' ? { timingDigest } : {}
    const input = { scheduleId: scheduleId('other', name), cause: 'trigger', firings: [firing], ...digest }
    return await resultOf(found, 'operator-other', 'fireSchedule', input)
  }
  const flowId = 'f0-01a1f44b-6b98-7070-8de3-2fa984793998'

  expect(await fire('nightly', { executionId: taken })).toMatchObject({ code: 'invalid_input' })
  expect(await fire('nightly', { executionId: taken, at: 1 })).toMatchObject({ code: 'invalid_input' })
  expect(await fire('weekly', { executionId: flowId, memberIds: [id] })).toMatchObject({ code: 'invalid_input' })
  const described = await resultOf(found, 'worker-acme', 'describeExecution', { executionId: id })
  expect(described).toMatchObject({ execution: { namespace: 'acme', payload: { size: 14 } } })
})

test('an operator of one namespace triggers and backfills schedules of tasks and flows', async () => {
  const found = await start()
  await using fabric = await reached(found, 'operator-other')
  const now = found.fabric.runtime.now()
  for (const work of [{ task: greet, input: { name: 'ada' } }, { flow: sums }]) {
    const name = 'task' in work ? 'nightly' : 'weekly'
    const schedule = await fabric.schedule(name, { ...work, every: '1h', from: new Date(now - 7_200_000) } as never)
    await schedule.trigger()
    const { created } = await schedule.backfill({ from: new Date(now - 7_200_000), to: new Date(now) })
    expect(created.length).toBeGreaterThan(0)
  }
})
