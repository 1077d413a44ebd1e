/** What a remote caller cannot do: operations that are not served, other roles and namespaces, forged fences, malformed batches. */
import { expect, test } from 'vitest'
import { Client } from '../../src/client/index.ts'
import { executionIdFromKey, memberIdOf } from '../../src/client/transport/ids.ts'
import { budget } from '../../src/client/define/budget.ts'
import { limit } from '../../src/client/define/limit.ts'
import { until } from '../servers/until.ts'
import { task } from '../../src/client/define/task.ts'
import { scheduleId, taskClass, webhookId } from '../../src/kernel/index.ts'
import type { OperationName } from '../../src/kernel/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { AuditEntry } from '../../src/server/auth/audit.ts'
import { roles } from '../../src/server/auth/principal.ts'
import type { Role } from '../../src/server/auth/principal.ts'
import { operationAccess } from '../../src/server/operations/access.ts'
import { PORT_PATH, PORT_TYPE, pack, unpack } from '../../src/stores/remote/wire.ts'
import type { WireAnswer, WireReply } from '../../src/stores/remote/wire.ts'
import { bearer, byRole, served } from './served.ts'
import type { Served } from './served.ts'

const greet = task<{ readonly name: string }, string>('greet')

interface Sent {
  readonly partition?: string
  readonly operation: string
  readonly input: object
}

function start(): Promise<Served> {
  return served({ authenticate: byRole, fabric: { allNamespaces: true } })
}

async function post({ url }: Served, token: string, body: Uint8Array | string, type = PORT_TYPE): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type }
  return await fetch(url + PORT_PATH, { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> })
}

async function answersTo(found: Served, token: string, calls: readonly Sent[]): Promise<readonly WireAnswer[]> {
  const sent = calls.map(({ partition = 'fp:0', ...call }) => ({ partition, ...call, blobs: 0 }))
  const response = await post(found, token, pack({ version: 1, calls: sent }, []))
  expect(response.status).toBe(200)
  const { head } = unpack(new Uint8Array(await response.arrayBuffer()))
  return (head as WireReply).answers
}

/** The code of the refusal, or the kind of the result. */
async function outcomeOf(found: Served, token: string, call: Sent): Promise<string> {
  const [answer] = await answersTo(found, token, [call])
  if (answer?.error !== undefined) return answer.error.code
  const { kind, code } = answer?.result as { readonly kind: string; readonly code?: string }
  return code ?? kind
}

function newExecution(namespace: string, more: object = {}) {
  return {
    executionId: '0-01a1f44b-6b98-7070-8de3-2fa984793998',
    namespace,
    task: 'greet',
    lane: 'default',
    class: taskClass('greet', undefined, { namespace }),
    priority: 100,
    tags: [],
    retry: { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] },
    retentionMs: 1_000,
    ...more,
  }
}

test('each role runs exactly the operations that it includes, and engines and tools have none', async () => {
  const found = await start()
  const names = Object.keys(operationAccess) as OperationName[]
  for (const role of roles) {
    for (const token of [role, `${role}-acme`]) {
      // An empty input is refused after the role.
      const answers = await answersTo(
        found,
        token,
        names.map((operation) => ({ operation, input: {} })),
      )
      for (const [i, operation] of names.entries()) {
        const access = operationAccess[operation]
        const mayRun = access !== undefined && includes(role, access.role)
        const reaches = access?.scope === 'namespace' || token === role
        const { error } = answers[i] as { readonly error?: { readonly code: string } }
        expect([token, operation, error?.code === 'forbidden']).toEqual([token, operation, !(mayRun && reaches)])
      }
    }
  }
  expect(await outcomeOf(found, 'admin', { operation: 'toString', input: {} })).toBe('forbidden')
  expect(await outcomeOf(found, 'admin', { operation: 'dump', input: {} })).toBe('forbidden')
})

function includes(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least)
}

test('a caller of one namespace reaches nothing of another one', async () => {
  const found = await start()
  const acme = new Client(found.fabric.store, found.fabric.runtime, { namespace: 'acme' })
  const { id } = await acme.submit(greet, { name: 'ada' }, { id: 'secret' })
  const worker = 'worker-other'

  expect(await outcomeOf(found, worker, { operation: 'describeExecution', input: { executionId: id } })).toBe(
    'execution_not_found',
  )
  const within = { executionId: id, within: 'acme' }
  expect(await outcomeOf(found, worker, { operation: 'describeExecution', input: within })).toBe('execution_not_found')
  const list = { operation: 'listExecutions', input: { limit: 10 } }
  expect(await answersTo(found, worker, [list])).toMatchObject([{ result: { executions: [] } }])
  const asked = { ...list, input: { limit: 10, namespace: 'acme' } }
  expect(await outcomeOf(found, worker, asked)).toBe('forbidden')
  expect(await outcomeOf(found, worker, { operation: 'createExecution', input: newExecution('acme') })).toBe(
    'forbidden',
  )
  const inTheirQueue = newExecution('other', { class: taskClass('greet', undefined, { namespace: 'acme' }) })
  expect(await outcomeOf(found, worker, { operation: 'createExecution', input: inTheirQueue })).toBe('forbidden')
  const schedule = { operation: 'describeSchedule', input: { scheduleId: scheduleId('acme', 'nightly') } }
  expect(await outcomeOf(found, worker, schedule)).toBe('forbidden')

  const claim = {
    requestId: 'r1',
    workerId: 'w',
    workerInstanceId: 'w',
    queues: [{ lane: 'default', class: taskClass('greet', undefined, { namespace: 'acme' }) }],
    count: 10,
    leaseTtlMs: 30_000,
    seed: 1,
  }
  expect(await outcomeOf(found, worker, { operation: 'claimForWorker', input: claim })).toBe('forbidden')
  const own = { ...claim, queues: [{ lane: 'default', class: taskClass('greet', undefined, { namespace: 'other' }) }] }
  expect(await answersTo(found, worker, [{ operation: 'claimForWorker', input: own }])).toMatchObject([
    { result: { executions: [] } },
  ])
  const [events] = await answersTo(found, worker, [{ operation: 'readEvents', input: { after: 0, limit: 10 } }])
  expect(events).toMatchObject({
    result: { lastSequence: 1, events: [{ sequence: 1, executionId: '', namespace: '' }] },
  })
  expect((await acme.describe('secret')).state).toBe('waiting')
})

test('a caller of one namespace cannot look for texts in the events of another one', async () => {
  const found = await start()
  const tags = [{ name: 'plan', value: 'secret', indexed: false }]
  const create = async (namespace: string, number: number, more: object) => {
    const executionId = `0-01a1f44b-6b98-7070-8de3-2fa98479399${number}`
    const call = { operation: 'createExecution', input: newExecution(namespace, { executionId, ...more }) }
    expect(await outcomeOf(found, `worker-${namespace}`, call)).toBe('created')
  }
  await create('acme', 1, {})
  await create('acme', 2, { tags })
  await create('other', 3, { tags })
  await create('other', 4, { tags })
  await create('acme', 5, {})
  const read = async (texts: string[], limit = 10) => {
    const call = { operation: 'readEvents', input: { after: 0, limit, hint: { texts } } }
    const [answer] = await answersTo(found, 'worker-other', [call])
    return (answer as { result: { events: { sequence: number }[] } }).result.events.map(({ sequence }) => sequence)
  }
  expect(await read(['secret'])).toEqual([1, 3, 4, 5])
  expect(await read(['nothing'])).toEqual([1, 5])
  expect(await read(['secret'], 2)).toEqual([1, 3])
})

test('a caller cannot occupy an id that follows from a name of another namespace', async () => {
  const found = await start()
  const theirs = executionIdFromKey('acme', 'order:1', 1)
  const own = executionIdFromKey('other', 'order:1', 1)
  const create = (more: object) => ({ operation: 'createExecution', input: newExecution('other', more) })

  expect(await outcomeOf(found, 'worker-other', create({ executionId: theirs }))).toBe('invalid_input')
  expect(await outcomeOf(found, 'worker-other', create({ executionId: theirs, key: 'order:1' }))).toBe('invalid_input')
  expect(await outcomeOf(found, 'worker-other', create({ executionId: own, key: 'order:1' }))).toBe('created')
})

test('a forged fence changes nothing', async () => {
  const found = await start()
  const execution = await found.fabric.submit(greet, { name: 'ada' })
  const fence = { leaseId: 'guessed', epoch: 1, attempt: 1 }
  const { id: executionId } = execution

  for (const [operation, more] of [
    ['completeExecution', {}],
    ['renewLease', { leaseTtlMs: 30_000 }],
    ['failExecution', { failure: { category: 'error', message: 'no' }, seed: 1 }],
    ['cancelExecution', { reason: 'no', by: 'x', force: true, graceMs: 0 }],
  ] as const) {
    const call = { operation, input: { executionId, fence, ...more } }
    expect([operation, await outcomeOf(found, 'worker', call)]).toEqual([operation, 'execution_not_active'])
  }
  const unfenced = { executionId, reason: 'no', by: 'x', force: true, graceMs: 0 }
  expect(await outcomeOf(found, 'worker', { operation: 'cancelExecution', input: unfenced })).toBe('forbidden')
  expect((await execution.describe()).state).toBe('waiting')
})

test('inputs of another form are refused before they reach the kernel', async () => {
  const found = await start()
  const refused: readonly (readonly [string, object])[] = [
    ['another type', { priority: 'high' }],
    ['not whole', { retentionMs: 0.5 }],
    ['too large', { priority: 1_000_000 }],
    ['an unknown field', { isAdmin: true }],
    ['a name with a separator', { task: 'greet\u001f@acme' }],
    ['an id of another partition', { executionId: '7-01a1f44b-6b98-7070-8de3-2fa984793998' }],
    ['a blob that did not come', { payload: { blob: 0, size: 3, encoding: 'json' } }],
    ['an unknown word', { ifExists: 'destroy' }],
    ['the name of a schedule', { schedule: { id: 'x', at: 1, cause: 'trigger' } }],
    ['a missing field', { lane: undefined }],
  ]
  for (const [what, more] of refused) {
    const input = newExecution('default', more)
    expect([what, await outcomeOf(found, 'admin', { operation: 'createExecution', input })]).toEqual([
      what,
      'invalid_input',
    ])
  }
  const polluting = JSON.parse('{"__proto__":{"isAdmin":true}}') as object
  expect(await outcomeOf(found, 'admin', { operation: 'createExecution', input: polluting })).toBe('invalid_input')
  const elsewhere = { partition: 'fp:9', operation: 'listExecutions', input: { limit: 1 } }
  expect(await outcomeOf(found, 'admin', elsewhere)).toBe('invalid_input')
  expect((await found.fabric.list()).items).toEqual([])
})

test('malformed batches are refused as a whole', async () => {
  const found = await start()
  const statusOf = async (body: Uint8Array | string, type?: string) => (await post(found, 'admin', body, type)).status
  const call = { partition: 'fp:0', operation: 'listExecutions', input: { limit: 1 }, blobs: 0 }
  const good = pack({ version: 1, calls: [call] }, [])

  expect(await statusOf(good)).toBe(200)
  expect(await statusOf(good, 'application/json')).toBe(415)
  expect(await statusOf('')).toBe(400)
  expect(await statusOf('abc')).toBe(400)
  expect(await statusOf(good.subarray(0, good.byteLength - 2))).toBe(400)
  expect(await statusOf(Buffer.concat([good, Buffer.from('more')]))).toBe(400)
  expect(await statusOf(pack({ version: 2, calls: [call] }, []))).toBe(400)
  expect(await statusOf(pack({ version: 1, calls: [] }, []))).toBe(400)
  expect(await statusOf(pack({ version: 1, calls: Array.from({ length: 1_001 }, () => call) }, []))).toBe(400)
  expect(await statusOf(pack({ version: 1, calls: [{ ...call, blobs: 1 }] }, []))).toBe(400)
  expect(await statusOf(pack({ version: 1, calls: [call] }, [new Uint8Array(3)]))).toBe(400)
  expect(await statusOf(new Uint8Array(17_000_000))).toBe(413)
  expect((await post(found, 'nobody', good)).status).toBe(401)
})

test('a server that withholds values serves no operations to viewers', async () => {
  const found = await served({ authenticate: byRole, redact: true, fabric: { allNamespaces: true } })
  const call = { partition: 'fp:0', operation: 'listExecutions', input: { limit: 1 }, blobs: 0 }

  expect((await post(found, 'viewer', pack({ version: 1, calls: [call] }, []))).status).toBe(403)
  expect((await post(found, 'worker', pack({ version: 1, calls: [call] }, []))).status).toBe(200)
})

test('what operators do is recorded with their credential, and what workers do is not', async () => {
  const entries: AuditEntry[] = []
  const audit = (entry: AuditEntry) => void entries.push(entry)
  const found = await served({ authenticate: byRole, audit, fabric: { allNamespaces: true } })
  await using fabric = await createFabric(found.url, { token: 'operator-acme', log: 'silent' })
  const { id } = await fabric.submit(greet, { name: 'ada' })

  await fabric.cancel(id, 'not wanted', { by: 'grace' })
  await expect(fabric.replay('unknown')).rejects.toMatchObject({ code: 'execution_not_found' })
  await found.ok('pauseLane', { params: { lane: 'slow' }, headers: bearer('admin') })

  const listed = [
    { action: 'replayExecution', status: 404 },
    { action: 'cancelExecution', by: 'grace' },
  ]
  expect(await fabric.audit()).toMatchObject({ items: listed, cursor: undefined })
  await using worker = await createFabric(found.url, { token: 'worker-acme', log: 'silent' })
  await expect(worker.audit()).rejects.toMatchObject({ code: 'forbidden' })
  expect(entries).toMatchObject([
    {
      action: 'cancelExecution',
      credential: 'operator',
      by: 'grace',
      namespace: 'acme',
      target: { executionId: id },
      reason: 'not wanted',
      status: 200,
    },
    { action: 'replayExecution', status: 404, code: 'execution_not_found' },
    { action: 'pauseLane', namespace: undefined, status: 200 },
  ])
})

test('the explanation of an execution that a limit blocks leaves out what all namespaces share', async () => {
  const found = await start()
  found.fabric.engine()
  const slow = task<undefined, string>('slow', { limits: [limit('one', { concurrency: 1 })] })
  await using fabric = await createFabric(found.url, { token: 'worker-acme', log: 'silent' })
  const gate = Promise.withResolvers<string>()
  await fabric.work([slow.handle(() => gate.promise)], { concurrency: 2 })
  await fabric.submit(slow, undefined, { id: 'first' })
  await fabric.submit(slow, undefined, { id: 'second' })

  const isBlocked = async () => {
    const why = await Promise.all(['first', 'second'].map((id) => fabric.why(id)))
    return why.find(({ explanation }) => explanation.why === 'blocked')
  }
  const { text } = await until('one is blocked', 60_000, isBlocked)
  gate.resolve('done')

  expect(text).toContain('one')
})

function definition(namespace: string, filter: object, url = 'https://crm.example.com/hooks?secret=1'): Sent {
  const positions = [{ position: 0 }]
  const create = { namespace, name: 'crm', positions, secret: { sealed: 'sealed', keyId: 'k1' } }
  const change = { kind: 'define', url, filter, disableAfterMs: 1_000, create }
  return { partition: 'm:0', operation: 'changeWebhook', input: { consumerId: webhookId(namespace, 'crm'), change } }
}

test('a webhook of an admin of one namespace gets only the events of that namespace', async () => {
  const found = await start()
  const filterOf = async (token: string, filter: object) => {
    const [answer] = await answersTo(found, token, [definition('acme', filter)])
    return (answer as { readonly result: { readonly consumer: { readonly filter: object } } }).result.consumer.filter
  }

  expect(await filterOf('admin-acme', {})).toEqual({ namespace: 'acme' })
  expect(await filterOf('admin-acme', { storeWide: true, task: 'greet' })).toEqual({ namespace: 'acme', task: 'greet' })
  expect(await filterOf('admin', { task: 'greet' })).toEqual({ task: 'greet' })
  expect(await outcomeOf(found, 'admin-acme', definition('acme', {}, 'no url'))).toBe('unsafe_target')
})

test('only admins see the whole URL of a webhook and its sealed secrets', async () => {
  const found = await start()
  await answersTo(found, 'admin', [definition('acme', {})])
  const describe = { partition: 'm:0', operation: 'describeConsumer', input: { consumerId: webhookId('acme', 'crm') } }
  const list = { partition: 'm:0', operation: 'listConsumers', input: { webhooks: true } }
  const seenBy = async (token: string) => JSON.stringify(await answersTo(found, token, [describe, list]))

  for (const token of ['viewer-acme', 'worker', 'operator']) {
    const seen = await seenBy(token)
    expect(seen).not.toMatch(/secret=1|"sealed":"sealed"/)
    expect(seen).toMatch(/"url":"https:\/\/crm.example.com"/)
  }
  expect(await seenBy('admin-acme')).toContain('secret=1')
})

test('a caller of one namespace reads no charges of another one', async () => {
  const found = await start()
  const acme = new Client(found.fabric.store, found.fabric.runtime, { namespace: 'acme' })
  const tokens = budget('tokens', { hard: { tokens: 10 }, onBreach: 'warn' })
  const { id } = await acme.submit(greet, { name: 'ada' }, { id: 'secret', budgets: [tokens] })
  const spend = {
    ...{ root: 'tokens', key: `${id}-1.0:call`, accounts: [{ name: 'tokens', key: '' }] },
    amounts: [{ dimension: 'tokens', value: 1 }],
    spender: { executionId: id, namespace: 'acme', task: 'greet', epoch: 1, attempt: 1 },
  }
  const partition = 'q:0'
  expect(await outcomeOf(found, 'worker-acme', { partition, operation: 'spendBudget', input: spend })).toBe('spent')

  const read = { partition, operation: 'readCharges', input: { spentBy: id, limit: 10 } }
  expect(await answersTo(found, 'viewer-acme', [read])).toMatchObject([{ result: { charges: [{ key: spend.key }] } }])
  expect(await answersTo(found, 'viewer-other', [read])).toMatchObject([{ result: { charges: [] } }])
})

test('a caller of one namespace uses the keys of limits of that namespace, not those of the default one', async () => {
  const found = await start()
  const hold = (key: string): Sent => {
    const input = { limit: 'mail', key, retryAfterMs: 1_000 }
    return { partition: 'q:0', operation: 'holdLimit', input }
  }
  const take = (limit: string, key: string): Sent => {
    const requests = [{ limit, key, weight: 1, needed: 1, spare: 0 }]
    const input = { requestId: 'r1', workerInstanceId: 'w', ttlMs: 1_000, requests }
    return { partition: 'q:0', operation: 'takePermits', input }
  }
  const limits = [{ limit: 'mail', key: 'ada', weight: 1 }]
  const create = { operation: 'createExecution', input: newExecution('acme', { limits }) }

  for (const call of [hold('ada'), hold(''), take('mail', 'ada'), take('mail', ''), create]) {
    expect([call, await outcomeOf(found, 'worker-acme', call)]).toEqual([call, 'forbidden'])
  }
  expect(await outcomeOf(found, 'worker-acme', hold('acme\u001eada'))).toBe('limit_not_found')
  expect(await outcomeOf(found, 'worker-default', hold('ada'))).toBe('limit_not_found')
  // The limit of a lane is that of a namespace, too. Budgets are shared.
  for (const lane of ['lane\u00b7default', 'lane\u00b7other\u00b7default']) {
    expect(await outcomeOf(found, 'worker-acme', take(lane, ''))).toBe('forbidden')
  }
  for (const limit of ['lane\u00b7acme\u00b7default', 'tokens\u001ftokens']) {
    expect(await outcomeOf(found, 'worker-acme', take(limit, ''))).not.toBe('forbidden')
  }
})

test('a new member of a flow cannot take the place of an execution of another namespace', async () => {
  const found = await start()
  const acme = new Client(found.fabric.store, found.fabric.runtime, { namespace: 'acme' })
  const { id } = await acme.submit(greet, { name: 'ada' })
  await using other = await createFabric(found.url, { token: 'worker-other', log: 'silent' })
  const flow = await other.createFlow('night')
  const executionId = memberIdOf(flow.id, 'first')
  const create = newExecution('other', { executionId: id })
  const input = { flowId: flow.id, executionId, name: 'first', create, after: [] }

  expect(await outcomeOf(found, 'worker-other', { operation: 'addExecutionToFlow', input })).toBe('invalid_input')
  expect(await acme.describe(id)).toMatchObject({ namespace: 'acme', state: 'waiting' })
})
