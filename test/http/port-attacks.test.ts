/** What a token cannot claim over the operation port: the votes of others, their spending, the place of another worker. */
import { expect, test } from 'vitest'
import { KeyRing, approval } from '../../src/client/index.ts'
import { budget } from '../../src/client/define/budget.ts'
import { task } from '../../src/client/define/task.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { budgetId, webhookId } from '../../src/kernel/index.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { gaugeId } from '../../src/kernel/model/indexes.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { PORT_PATH, PORT_TYPE, pack, unpack } from '../../src/stores/remote/wire.ts'
import type { WireReply } from '../../src/stores/remote/wire.ts'
import { until } from '../servers/until.ts'
import { byRole, served } from './served.ts'
import type { Served } from './served.ts'

type Gate = PromiseWithResolvers<undefined>

const keys = KeyRing.begin(systemRuntime().now())
const links = new Map<string, string>()
const deploy = task<undefined, string>('deploy')
const deployHandler = deploy.handle(async (_, ctx) => {
  const gate = await ctx.waitpoint('gate')
  for (const person of ['ada', 'bob', 'eve']) links.set(person, gate.token({ for: person, names: ['approve'] }))
  const { votes } = await ctx.waitFor('review', approval({ on: gate, need: 2, of: ['ada', 'bob', 'eve'] }))
  return votes.map(({ by }) => by.identity).join()
})

const total = budget('total', { hard: { tokens: 100 } })
const write = task<undefined, number>('write', { budgets: [total] })

async function start(): Promise<Served> {
  return await served({ authenticate: byRole, fabric: { allNamespaces: true, keys } })
}

function remote({ url }: Served, token: string): Promise<Fabric> {
  return createFabric(url, { token, keys, log: 'silent' })
}

async function answerTo({ url }: Served, token: string, operation: string, partition: string, input: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': PORT_TYPE }
  const body = pack({ version: 1, calls: [{ partition, operation, input, blobs: 0 }] }, [])
  const response = await fetch(url + PORT_PATH, { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> })
  const { head } = unpack(new Uint8Array(await response.arrayBuffer()))
  return (head as WireReply).answers[0]
}

/** The code of the refusal, or the kind of the result. */
async function outcomeOf(found: Served, token: string, operation: string, partition: string, input: object) {
  const answer = await answerTo(found, token, operation, partition, input)
  if (answer?.error !== undefined) return answer.error.code
  const { kind, code } = answer?.result as { readonly kind: string; readonly code?: string }
  return code ?? kind
}

test('a worker cannot vote as a person: a vote by a link needs the link, and no other sender is named', async () => {
  const found = await start()
  await using fabric = await remote(found, 'worker-acme')
  await using _worker = await fabric.work([deployHandler])
  const execution = await fabric.submit(deploy, undefined)
  await until('the handler waits', 60_000, async () =>
    (await execution.describe()).state === 'suspended' ? true : undefined,
  )
  const [, , claims = ''] = links.get('bob')!.split('.')
  const forged = `${links.get('ada')!.split('.').slice(0, 2).join('.')}.${claims}.${links.get('ada')!.split('.')[3]}`
  const { tokens } = fabric.openSession()
  const { waitpointId, generation, openedAt, nonce } = tokens.verify(links.get('bob')!)
  const vote = {
    ...{ executionId: execution.id, target: 'gate', key: '3:bob:1', name: 'approve' },
    ...{ source: { type: 'token', identity: 'bob' }, token: { waitpointId, generation, openedAt, nonce } },
  }
  const partition = `fp:${execution.id.split('-')[0]}`
  const attack = (more: object) => outcomeOf(found, 'worker-acme', 'deliverSignal', partition, { ...vote, ...more })

  expect(await attack({})).toBe('forbidden')
  expect(await attack({ link: forged })).toBe('invalid_token')
  // The own link of one person is no vote of another one.
  expect(await attack({ link: links.get('ada') })).toBe('invalid_token')
  expect(await attack({ link: links.get('bob'), name: 'reject' })).toBe('invalid_token')
  expect(await attack({ link: links.get('bob'), key: '3:ada:1' })).toBe('invalid_token')
  expect(await attack({ source: { type: 'caller', identity: 'bob' }, token: undefined })).toBe('forbidden')
  expect(await attack({ source: { type: 'operator', identity: 'bob' }, token: undefined })).toBe('forbidden')
  expect((await execution.describe()).state).toBe('suspended')

  await fabric.answer(links.get('ada')!, 'approve')
  await fabric.answer(links.get('bob')!, 'approve')
  expect(await execution.result()).toBe('ada,bob')
})

test('a signal of a worker is from its credential, and an operator may name another', async () => {
  const found = await start()
  await using fabric = await remote(found, 'worker-acme')
  await using operator = await remote(found, 'operator-acme')
  const execution = await fabric.submit(deploy, undefined)

  await execution.signal('hello')
  await expect(execution.signal('hello', undefined, { by: 'ada' })).rejects.toMatchObject({ code: 'forbidden' })
  await operator.execution(execution.id).signal('hello', undefined, { by: 'ada' })

  const senders: string[] = []
  for await (const { by } of fabric.signals(execution.id)) senders.push(by.identity)
  expect(senders).toEqual(['worker', 'ada'])
})

test('a caller of one namespace spends, reserves and releases for its own executions alone', async () => {
  const found = await start()
  await using fabric = await remote(found, 'worker-acme')
  const spent = Promise.withResolvers<undefined>()
  const gate = Promise.withResolvers<undefined>()
  const handler = write.handle(async (_, ctx) => {
    const reservation = await ctx.reserve({ tokens: 60 }, { key: 'draft' })
    spent.resolve(undefined)
    await gate.promise
    await reservation.settle({ tokens: 60 })
    await ctx.spend({ tokens: 30 }, { key: 'rest' })
    return 1
  })
  await using _worker = await fabric.work([handler])
  const execution = await fabric.submit(write, undefined)
  await spent.promise
  const { records } = await found.fabric.store.dump('q:0')
  const reservation = records.find((record) => record.type === 'reservation')
  const { root, key, accounts } = reservation!
  const rest = key.replace(/draft$/, 'rest')
  const other = { executionId: execution.id, namespace: 'other', task: 'write', epoch: 9, attempt: 1 }
  const usage = { root, key: rest, accounts, amounts: [{ dimension: 'tokens', value: 0 }], spender: other }
  const attack = (operation: string, input: object) => outcomeOf(found, 'worker-other', operation, 'q:0', input)

  expect(await attack('spendBudget', usage)).toBe('execution_not_found')
  expect(await attack('spendBudget', { ...usage, key: 'mine' })).toBe('invalid_input')
  expect(await attack('reserveBudget', { ...usage, key, ttlMs: 1 })).toBe('execution_not_found')
  expect(await attack('awaitRoom', { ...usage, key, waitMs: 1 })).toBe('execution_not_found')
  expect(await attack('settleReservation', { ...usage, key })).toBe('execution_not_found')
  expect(await attack('releaseReservation', { root, key })).toBe('execution_not_found')
  expect(await attack('renewReservations', { reservations: [{ root, key }], ttlMs: 1 })).toBe('execution_not_found')
  const own = (operation: string, more: object) =>
    outcomeOf(found, 'worker-acme', operation, 'q:0', { ...usage, spender: reservation!.spender, ...more })
  const tokens = (...values: number[]) => ({ amounts: values.map((value) => ({ dimension: 'tokens', value })) })
  const theirs = { accounts: [...accounts, { name: 'total', key: 'other' }] }
  for (const operation of ['spendBudget', 'settleReservation']) expect(await own(operation, theirs)).toBe('forbidden')
  expect(await own('reserveBudget', { ...theirs, ttlMs: 60_000 })).toBe('forbidden')
  // A dimension that is named twice would be checked once.
  expect(await own('spendBudget', {})).toBe('spent')
  expect(await own('spendBudget', tokens(1, 500))).toBe('invalid_input')
  expect(await own('spendBudget', tokens(-1))).toBe('invalid_input')
  expect(await own('spendBudget', tokens(0.5))).toBe('invalid_input')
  expect(await own('spendBudget', tokens(Number.MAX_SAFE_INTEGER))).toBe('invalid_input')
  expect(await own('spendBudget', { amounts: [{ dimension: 'open reservations', value: 1 }] })).toBe('invalid_input')
  // Its own execution does not make the key of another one its own.
  await using others = await remote(found, 'worker-other')
  const { id } = await others.submit(task('own'), undefined)
  expect(await attack('spendBudget', { ...usage, spender: { ...other, executionId: id } })).toBe('invalid_input')

  gate.resolve(undefined)
  expect(await execution.result()).toBe(1)
  expect((await found.fabric.budgets.describe('total')).keys[0]?.dimensions).toMatchObject([{ spent: 90, reserved: 0 }])
})

test('a caller of one namespace takes, renews and returns no permits as a worker of another one', async () => {
  const found = await start()
  await using fabric = await remote(found, 'worker-acme')
  await using _worker = await fabric.work([deployHandler])
  const registered = async () => (await found.fabric.workers()).items[0]
  const { instanceId: workerInstanceId } = await until('the worker is registered', 60_000, registered)
  const limit = 'total\u001ftotal'
  const requests = [{ limit, key: '', weight: 1, needed: 1, spare: 0 }]
  const inputs = {
    takePermits: { requestId: 'r1', workerInstanceId, ttlMs: 1_000, requests },
    renewPermits: { workerInstanceId, ttlMs: 1_000, keys: [{ limit, key: '' }] },
    returnPermits: { requestId: 'r2', workerInstanceId, returns: [] },
  }
  for (const [operation, input] of Object.entries(inputs)) {
    expect([operation, await outcomeOf(found, 'worker-other', operation, 'q:0', input)]).toEqual([
      operation,
      'worker_not_found',
    ])
    expect(await outcomeOf(found, 'worker-acme', operation, 'q:0', input)).not.toMatch(/not_found|forbidden/)
  }
})

test('a worker names no partition that the store does not have', async () => {
  const found = await start()
  await found.fabric.limits.define('mail', { concurrency: 1 }, { by: 'ada', reason: 'a plan' })
  const ask = (waitingIn: number) => {
    const requests = [{ limit: 'mail', key: 'acme\u001e', weight: 1, needed: 0, spare: 0, waitingIn }]
    const input = { requestId: 'r1', workerInstanceId: 'w', ttlMs: 1_000, requests }
    return answerTo(found, 'worker-acme', 'takePermits', 'q:0', input)
  }

  const message = 'waitingIn is 1, but the partitions of executions have numbers below 1.'
  expect(await ask(1)).toMatchObject({ error: { code: 'invalid_input', detail: { field: 'waitingIn', message } } })
  const { records } = await found.fabric.store.dump('q:0')
  expect(records.filter((record) => record.type === 'gauge')).toEqual([])
  expect(await ask(0)).toMatchObject({ result: { kind: 'permits_taken' } })
})

test('a caller of one namespace learns no executions of another one from the room that it makes, and wakes none itself', async () => {
  const found = await start()
  await using acme = await remote(found, 'worker-acme')
  await using others = await remote(found, 'worker-other')
  const [reserved, done, isMade] = [1, 2, 3].map(() => Promise.withResolvers<undefined>()) as [Gate, Gate, Gate]
  await using _acme = await acme.work([
    write.handle(async (_, ctx) => {
      await ctx.reserve({ tokens: 60 }, { key: 'draft' })
      reserved.resolve(undefined)
      await done.promise
      return 1
    }),
  ])
  await acme.submit(write, undefined)
  await reserved.promise
  await using _others = await others.work([
    write.handle(async (_, ctx) => {
      await ctx.reserve({ tokens: 80 })
      await isMade.promise
      return 2
    }),
  ])
  const waiting = await others.submit(write, undefined)
  const state = async () => (await waiting.describe()).state
  await until('the budget remembers the execution that waits', 60_000, async () => {
    const { records } = await found.fabric.store.dump('q:0')
    return records.some((record) => record.type === 'account' && record.parked !== undefined) || undefined
  })
  const executions = [{ executionId: waiting.id, epoch: 1 }]
  expect(await outcomeOf(found, 'worker-acme', 'openGates', 'fp:0', { gates: [], executions })).toBe('gates_opened')
  expect(await state()).toBe('delayed')

  const { records } = await found.fabric.store.dump('q:0')
  const { root, key } = records.find((record) => record.type === 'reservation')!
  const answer = await answerTo(found, 'worker-acme', 'releaseReservation', 'q:0', { root, key })
  expect(answer).toMatchObject({ result: { kind: 'reservation_released', wakes: [] } })
  expect(await state()).not.toBe('delayed')
  const { result } = await found.fabric.batcher.run('q:0', 'readWakes', { id: gaugeId(budgetId('total', 'total'), '') })
  expect(result.wakes).toEqual([])

  for (const gate of [done, isMade]) gate.resolve(undefined)
  expect(await waiting.result()).toBe(2)
})

test('a caller of one namespace confirms no wakes that it does not get', async () => {
  const found = await start()
  const { batcher } = found.fabric
  await found.fabric.budgets.define('total', { hard: { tokens: 1 } }, { by: 'ada', reason: 'a plan' })
  const limit = budgetId('total', 'total')
  const spender = { executionId: '0-x' as ExecutionId, namespace: 'other', task: 'write', epoch: 1, attempt: 1 }
  const amounts = [{ dimension: 'tokens', value: 1 }]
  const accounts = [{ name: 'total', key: '' }]
  await batcher.run('q:0', 'spendBudget', { root: 'total', key: 'all of it', accounts, amounts, spender })
  const requests = [{ limit, key: '', weight: 1, needed: 1, spare: 0, waitingIn: 0 }]
  await batcher.run('q:0', 'takePermits', { requestId: 'r1', workerInstanceId: 'w', ttlMs: 1, requests })
  const raise = { root: 'total', name: 'total', key: '', requestId: 'r2', by: 'ada', reason: 'more' }
  await batcher.run('q:0', 'raiseBudget', { ...raise, amounts: [{ dimension: 'tokens', value: 5 }] })

  const keys = [{ key: '', at: Number.MAX_SAFE_INTEGER }]
  expect(await outcomeOf(found, 'worker-acme', 'confirmWakes', 'q:0', { limit, keys })).toBe('wakes_confirmed')
  const { result } = await batcher.run('q:0', 'readWakes', { id: gaugeId(limit, '') })
  expect(result.wakes).toMatchObject([{ partition: 0 }])
})

test('a worker takes no part in the deliveries of a webhook', async () => {
  const found = await start()
  const input = {
    ...{ consumerId: webhookId('acme', 'crm'), memberId: 'm', callNumber: 1, ttlMs: 60_000, filter: {} },
    ...{ progress: [], release: [], isLeaving: false, handledCount: 0, skippedCount: 0, missedCount: 0 },
  }
  expect(await outcomeOf(found, 'worker-acme', 'renewConsumer', 'm:0', input)).toBe('forbidden')
  expect(await outcomeOf(found, 'admin-acme', 'renewConsumer', 'm:0', input)).toBe('consumer_not_found')
  // A consumer may have the name that ids of webhooks end with.
  const consumerId = 'acme\u001fwebhook'
  expect(await outcomeOf(found, 'worker-acme', 'renewConsumer', 'm:0', { ...input, consumerId })).toBe(
    'consumer_not_found',
  )
})
