/** One story that calls every route with success. It runs on every store. */
import { expect } from 'vitest'
import { createFabric } from '../../src/fabric/fabric.ts'
import { until } from '../servers/until.ts'
import type { Asked, Message, RouteName, Served } from './served.ts'
import { messages, read } from './served.ts'
import { graphs, keys, remoteMembers, remoteSpending, remoteUndo, remoteWaits } from './remote-routes.ts'
import { addition, work } from './story.ts'

const LIMIT_MS = 60_000

type Body = Readonly<Record<string, unknown>>

function itemsOf(body: Body): readonly Body[] {
  return body['items'] as readonly Body[]
}

/** Waits until an execution or a flow is in a state. */
async function untilState(served: Served, name: RouteName, id: string, state: string): Promise<Body> {
  return await until(`${id} is ${state}`, LIMIT_MS, async () => {
    const body = await served.ok(name, { params: { id } })
    return body['state'] === state ? body : undefined
  })
}

async function executions(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const body = { task: 'greet', input: { name: 'Ada' }, id: 'greet:ada', tags: { plan: 'pro' }, delay: '0ms' }
  const first = await served.call('submitExecution', { body })
  const again = await served.call('submitExecution', { body })
  expect([first.status, again.status, again.body['id']]).toEqual([201, 200, first.body['id']])

  const result = await ok('getResult', { params: { id: 'greet:ada' }, query: { wait: '20s' } })
  expect(result).toMatchObject({ outcome: 'completed', result: { greeted: { name: 'Ada' } } })
  expect(await ok('describeExecution', { params: { id: 'greet:ada' } })).toMatchObject({
    key: 'greet:ada',
    input: { name: 'Ada' },
    result: { greeted: { name: 'Ada' } },
  })
  expect(itemsOf(await ok('listExecutions', { query: { tag: 'plan:pro', state: 'completed' } }))).toHaveLength(1)
  expect(await ok('explainExecution', { params: { id: 'greet:ada' } })).toMatchObject({ explanation: { why: 'ended' } })
  await ok('setTags', { params: { id: 'greet:ada' }, body: { tags: { plan: null, team: 'bees' } } })
  expect((await ok('describeExecution', { params: { id: 'greet:ada' } }))['tags']).toEqual({ team: 'bees' })

  const { items } = (await ok('submitExecutions', {
    body: {
      items: [{ task: 'bytes', inputBytes: 'AQID', id: 'bytes:1' }, { task: 'bytes', lane: '' }, { task: 'bytes' }],
    },
  })) as { items: { ok: boolean; error?: Body }[] }
  expect(items.map((item) => item.ok)).toEqual([true, false, true])
  expect(items[1]?.error).toMatchObject({ code: 'invalid_input', field: 'items[1].lane' })
  const bytes = await ok('getResult', { params: { id: 'bytes:1' }, query: { wait: '20s' } })
  expect(bytes).toMatchObject({ outcome: 'completed', resultBytes: 'AQID' })

  await ok('submitExecution', { body: { task: 'refuse', input: 1, id: 'refuse:1' } })
  const failed = await ok('getResult', { params: { id: 'refuse:1' }, query: { wait: '20s' } })
  expect(failed).toMatchObject({ outcome: 'failed', failure: { message: 'refused 1' } })
  expect(itemsOf(await ok('listAttempts', { params: { id: 'refuse:1' } }))).toHaveLength(1)
  await ok('replayExecution', { params: { id: 'refuse:1' }, body: { reason: 'try again', from: 'start' } })

  const order = { key: 'account:17', onFailure: 'block' }
  const blocking = await ok('submitExecution', { body: { task: 'refuse', input: 2, order } })
  const waiting = await ok('submitExecution', { body: { task: 'greet', input: { name: 'Ben' }, order } })
  const params = { id: String(blocking['id']) }
  await untilState(served, 'describeExecution', params.id, 'failed')
  expect(await ok('describeExecution', { params })).toMatchObject({ shaping: { key: order.key, holdsBack: true } })
  expect(await ok('continueOrder', { params, body: { by: 'ada' } })).toEqual({ kind: 'order_continued' })
  expect(await ok('continueOrder', { params })).toEqual({ kind: 'order_not_held' })
  await untilState(served, 'describeExecution', String(waiting['id']), 'completed')
}

async function bulk(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  await ok('submitExecution', { body: { task: 'greet', input: 1, delay: '1h', tags: { batch: '7' } } })
  await ok('submitExecution', { body: { task: 'greet', input: 2, delay: '1h', tags: { batch: '7' } } })
  const filter = { tags: { batch: '7' } }
  const activity = await ok('getActivity', { query: { window: '1h', buckets: 6, examine: 500 } })
  expect(activity).toMatchObject({ start: { p50: expect.any(Number) as number } })
  expect(activity['buckets']).toHaveLength(6)
  expect(await ok('previewBulk', { body: { filter } })).toMatchObject({ count: 2, isMore: false })
  const changes = [{ kind: 'priority', priority: 7 }, { kind: 'cancel', reason: 'outdated' }, { kind: 'delete' }]
  for (const action of changes) {
    const { id } = await ok('startBulk', { body: { filter, action, perSecond: 1_000 } })
    const done = await untilState(served, 'describeBulk', String(id), 'completed')
    expect(done).toMatchObject({ outcome: { examined: 2, changed: 2, refused: {}, isCut: false } })
  }
  expect(await ok('previewBulk', { body: { filter } })).toMatchObject({ count: 0 })
}

async function acts(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  await ok('submitExecution', { body: { task: 'endless', id: 'endless:1' } })
  await untilState(served, 'describeExecution', 'endless:1', 'active')
  await ok('revokeLease', { params: { id: 'endless:1' }, body: { reason: 'moved' } })
  await ok('changePriority', { params: { id: 'endless:1' }, body: { priority: 9 } })
  const cancel = { reason: 'enough', force: true, by: 'ada' }
  expect(await ok('cancelExecution', { params: { id: 'endless:1' }, body: cancel })).toEqual({ kind: 'cancelled' })
  const ended = await ok('describeExecution', { params: { id: 'endless:1' } })
  expect(ended).toMatchObject({ outcome: 'cancelled', by: 'ada', priority: 9 })
}

async function waits(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const id = 'review:1'
  await ok('submitExecution', { body: { task: 'review', id } })
  await untilState(served, 'describeExecution', id, 'suspended')
  expect(await ok('listForms', { query: { task: 'review' } })).toEqual({ items: [] })
  expect(itemsOf(await ok('listWaitpoints'))).toContainEqual(expect.objectContaining({ key: 'review' }))
  expect(itemsOf(await ok('listExecutionWaitpoints', { params: { id } }))).toHaveLength(1)
  const steps = await ok('listSteps', { params: { id }, query: { values: true, limit: 2 } })
  const more = await ok('listSteps', { params: { id }, query: { cursor: String(steps['cursor']) } })
  const names = [...itemsOf(steps), ...itemsOf(more)].map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['prepare', 'links', 'decision']))
  expect(itemsOf(steps)[0]).toMatchObject({ name: 'prepare', value: { page: 1 } })

  const { token } = await ok('reissueWaitpoint', { params: { id, waitpoint: 'review' }, body: { for: 'bob' } })
  const page = await served.call('showAnswerPage', { query: { token: String(token) } })
  expect(page.text).toContain('<button name="name" value="approve">')
  expect(page.text).toContain('bob')
  const sent = await ok('answerWaitpoint', { body: { token, name: 'approve', value: { note: 'fine' } } })
  expect(sent).toMatchObject({ kind: 'delivered', effect: 'resumed' })
  const result = await ok('getResult', { params: { id }, query: { wait: '20s' } })
  expect(result).toMatchObject({ result: { ok: true } })
  const signals = itemsOf(await ok('listSignals', { params: { id }, query: { values: true } }))
  expect(signals).toMatchObject([{ name: 'approve', by: { type: 'token', identity: 'bob' }, value: { note: 'fine' } }])

  await ok('submitExecution', { body: { task: 'mailbox', id: 'mailbox:1' } })
  await ok('sendSignal', { params: { id: 'mailbox:1' }, body: { name: 'paid', value: 12, key: 'event:1' } })
  expect((await ok('getResult', { params: { id: 'mailbox:1' }, query: { wait: '20s' } }))['outcome']).toBe('completed')

  await ok('submitExecution', { body: { task: 'review', id: 'review:2' } })
  await untilState(served, 'describeExecution', 'review:2', 'suspended')
  const reissued = await ok('reissueWaitpoint', { params: { id: 'review:2', waitpoint: 'review' } })
  await form(served, String(reissued['token']))
  await ok('submitExecution', { body: { task: 'review', id: 'review:3' } })
  await untilState(served, 'describeExecution', 'review:3', 'suspended')
  const close = { params: { id: 'review:3', waitpoint: 'review' }, body: { force: true } }
  expect(await ok('closeWaitpoint', close)).toEqual({ kind: 'closed' })
  expect(await ok('resumeExecution', { params: { id: 'review:3' }, body: { reason: 'by phone' } })).toEqual({
    kind: 'resumed',
  })
}

/** Sends the form of an answer page, as a browser does. */
async function form(served: Served, token: string): Promise<void> {
  const { text } = await served.call('showAnswerPage', { query: { token } })
  const key = /name="key" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const response = await fetch(served.urlOf('sendAnswerPage'), {
    method: 'POST',
    headers: { origin: served.url },
    body: new URLSearchParams({ token, key, name: 'reject', note: 'not on a Friday' }),
  })
  const answered = await read(response)
  expect([answered.status, answered.text]).toEqual([200, expect.stringContaining('reject')])
  served.succeeded.add('sendAnswerPage')
}

async function flows(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  await served.fabric.submit(addition, { left: 1, right: 2 }, { id: 'sum:1' })
  const result = await ok('getFlowResult', { params: { id: 'sum:1' }, query: { wait: '20s' } })
  expect(result).toMatchObject({ outcome: 'completed', results: { sum: 3 } })
  expect(await ok('describeFlow', { params: { id: 'sum:1' } })).toMatchObject({ key: 'sum:1', memberCount: 3 })
  expect(itemsOf(await ok('listFlows', { query: { name: 'addition' } }))).toHaveLength(1)
  const members = itemsOf(await ok('listFlowMembers', { params: { id: 'sum:1' }, query: { edges: true } }))
  expect(members.map(({ node }) => node)).toEqual(['left', 'right', 'sum'])
  const upstreams = members[2]?.['upstreams'] as readonly Body[]
  expect(upstreams.map(({ node }) => node).sort()).toEqual(['left', 'right'])
  await ok('setFlowTags', { params: { id: 'sum:1' }, body: { tags: { plan: 'pro' } } })

  await served.fabric.submit(addition, { left: -1, right: 2 }, { id: 'sum:2' })
  await untilState(served, 'describeFlow', 'sum:2', 'failed')
  await ok('replayFlowMember', { params: { id: 'sum:2', node: 'left' }, body: { subtree: true } })
  await served.fabric.createFlow('open', { id: 'open:1' })
  await ok('sealFlow', { params: { id: 'open:1' } })
  await served.fabric.createFlow('open', { id: 'open:2' })
  const cancelled = await ok('cancelFlow', { params: { id: 'open:2' }, body: { reason: 'not needed', wait: '10s' } })
  expect(cancelled).toMatchObject({ kind: 'cancelled', isSettled: true, liveCount: 0 })
}

async function narrated(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const params = { id: 'narrate:1' }
  await ok('submitExecution', { body: { task: 'narrate', id: params.id } })
  await untilState(served, 'describeExecution', params.id, 'suspended')
  const page = await ok('listFrames', { params, query: { limit: 2, name: 'token' } })
  expect(itemsOf(page)).toMatchObject([{ kind: 'attempt' }, { kind: 'frame', value: 'one', sequence: 1 }])
  const rest = itemsOf(await ok('listFrames', { params, query: { cursor: String(page['cursor']) } }))
  expect(rest.map(({ value }) => value)).toEqual(['two', 'three'])
  expect(await ok('getSummary', { params })).toMatchObject({ summary: { document: { stage: 'writing' } } })

  const drafted = { level: 'warn', message: 'drafted', step: 'draft', fields: { words: 3 }, sequence: 1 }
  expect(itemsOf(await ok('listLogs', { params, query: { limit: 1 } }))).toMatchObject([drafted])
  const [frames, summaries, logs] = await Promise.all([
    fetch(served.urlOf('followFrames', { params, query: { cursor: String(rest.at(-1)?.['cursor']) } })),
    fetch(served.urlOf('followSummary', { params })),
    fetch(served.urlOf('followLogs', { params, query: { level: 'info' } })),
  ])
  await ok('sendSignal', { params, body: { name: 'more' } })
  const collected = async (response: Response) => {
    const found: Message[] = []
    for await (const message of messages(response)) if (message.id !== undefined) found.push(message)
    return found
  }
  const [written, documents, lines] = await Promise.all([collected(frames), collected(summaries), collected(logs)])
  expect(written.map(({ event }) => event)).toEqual(['frame'])
  expect(written[0]?.data).toMatchObject({ value: { word: 'four' }, sequence: 4 })
  expect(lines.map(({ event, data }) => [event, (data as { message?: string }).message])).toEqual([
    ['line', 'drafted'],
    ['line', 'finished'],
  ])
  expect(documents.at(-1)?.data).toMatchObject({ document: { stage: 'done' } })
  const { token } = await ok('issueReadToken', { params, body: { expires: '5m' } })
  expect(await ok('getResult', { params, headers: { authorization: `Bearer ${String(token)}` } })).toMatchObject({
    outcome: 'completed',
  })
  for (const [name, seen] of [
    ['followFrames', written],
    ['followSummary', documents],
    ['followLogs', lines],
  ] as const) {
    const headers = { 'last-event-id': seen.at(-1)?.id ?? '' }
    expect((await fetch(served.urlOf(name, { params }), { headers })).status).toBe(204)
    served.succeeded.add(name)
  }
}

async function limits(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const params = { limit: 'provider' }
  const terms = { perMinute: 100, concurrency: 1, reason: 'a larger plan', by: 'ada' }
  expect(await ok('defineLimit', { params, body: terms })).toEqual({ kind: 'defined' })
  expect(await ok('defineLimit', { params, body: terms })).toEqual({ kind: 'unchanged' })
  expect(itemsOf(await ok('listLimits'))).toMatchObject([{ name: 'provider', concurrency: 1, changedBy: 'ada' }])

  const key = 'acme'
  expect(await ok('holdLimit', { params, body: { key, for: '1h', reason: 'it is down' } })).toMatchObject({
    kind: 'held',
  })
  const body = { task: 'greet', id: 'limited:1', limits: [{ limit: 'provider', key, weight: 2, previous: 'cancel' }] }
  await ok('submitExecution', { body })
  await untilState(served, 'describeExecution', body.id, 'rate_limited')
  expect(await ok('describeLimit', { params, query: { key } })).toMatchObject({
    keys: [{ key, hold: { by: 'http', reason: 'it is down' }, waitingPartitions: 1 }],
  })
  expect(await ok('unholdLimit', { params, body: { key } })).toEqual({ kind: 'lifted' })
  const result = await ok('getResult', { params: { id: body.id }, query: { wait: '20s' } })
  expect(result['outcome']).toBe('completed')
  expect(await ok('deleteLimit', { params, body: { reason: 'not needed' } })).toEqual({ kind: 'deleted' })
}

async function budgets(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const [company, tenants] = [{ budget: 'company' }, { budget: 'tenants' }]
  const terms = { hard: { tokens: 100 }, reason: 'a larger plan', by: 'ada' }
  expect(await ok('defineBudget', { params: company, body: terms })).toEqual({ kind: 'defined' })
  expect(await ok('defineBudget', { params: company, body: terms })).toEqual({ kind: 'unchanged' })
  const below = { parent: 'company', hard: { tokens: 50 }, every: { cron: '0 0 1 1 *' }, timeZone: 'Europe/Berlin' }
  expect(await ok('defineBudget', { params: tenants, body: below })).toEqual({ kind: 'defined' })
  expect(itemsOf(await ok('listBudgets'))).toMatchObject([
    { name: 'company', changedBy: 'ada', reason: 'a larger plan' },
    { name: 'tenants', parent: 'company', root: 'company', every: '0 0 1 1 *', changedBy: 'http' },
  ])
  const apart = await served.refusal('defineBudget', { params: tenants, body: { hard: { tokens: 1 } } })
  const unknown = await served.refusal('submitExecution', { body: { task: 'buy', budgets: [{ budget: 'other' }] } })
  const torn = await served.refusal('describeBudget', { params: company, query: { cursor: 'b1.AA' } })
  expect([apart, unknown, torn]).toEqual([
    [400, 'invalid_input'],
    [404, 'budget_not_found'],
    [400, 'invalid_cursor'],
  ])

  const why = { by: 'ada', reason: 'an incident' }
  expect(await ok('freezeBudget', { params: company, body: why })).toEqual({ kind: 'frozen' })
  const params = { id: 'bought:1' }
  await ok('submitExecution', { body: { task: 'buy', budgets: [{ budget: 'tenants', key: 'acme' }], ...params } })
  await untilState(served, 'describeExecution', params.id, 'rate_limited')
  expect(itemsOf(await ok('listBudgets'))[0]).toMatchObject({ frozen: why })
  expect(await ok('openBudget', { params: company })).toEqual({ kind: 'opened' })
  expect((await ok('getResult', { params, query: { wait: '20s' } }))['outcome']).toBe('completed')

  const spent = { spent: { tokens: 60 }, task: 'buy', budgets: { length: 2 } }
  expect(itemsOf(await ok('listSpending', { params }))).toMatchObject([spent])
  await ok('defineBudget', { params: { budget: 'unused' }, body: { parent: 'company' } })
  expect(await ok('deleteBudget', { params: { budget: 'unused' } })).toEqual({ kind: 'deleted' })
  const query = { key: 'acme' }
  const costs = await ok('sumCosts', { params: company, query: { from: 0, examine: 100 } })
  expect(costs).toMatchObject({ total: { count: 1, spent: { tokens: 60 } }, tasks: [{ task: 'buy' }], examined: 1 })
  expect(await ok('listCharges', { params: tenants, query })).toMatchObject({ items: [spent], periods: [] })
  const useOf = async (named: { readonly budget: string }, key: string) =>
    (await ok('describeBudget', { params: named, query: { key } }))['keys']
  expect(await useOf(company, '')).toMatchObject([{ dimensions: [{ dimension: 'tokens', spent: 60, left: 40 }] }])
  expect(await useOf(tenants, 'acme')).toMatchObject([{ dimensions: [{ spent: 60, reserved: 0, hard: 50, left: 0 }] }])

  const raise = { params: tenants, headers: { 'idempotency-key': 'r1' }, body: { ...query, amounts: { tokens: 100 } } }
  expect(await ok('raiseBudget', raise)).toEqual({ kind: 'raised' })
  expect(await ok('raiseBudget', raise)).toEqual({ kind: 'already_raised' })
  expect(await useOf(tenants, 'acme')).toMatchObject([{ dimensions: [{ hard: 150, left: 90 }] }])
  expect(await ok('resetBudget', { params: tenants, body: { ...query, id: 'r2' } })).toEqual({ kind: 'reset' })
  expect(await useOf(tenants, 'acme')).toMatchObject([{ dimensions: [{ spent: 0, hard: 50, total: 60 }] }])
}

/** The deliverer of the test reaches no receiver: a reserved name never resolves. */
async function subscribers(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  await using consumer = await served.fabric.consume('billing', { families: ['executions'] }, () => undefined)
  expect(itemsOf(await ok('listConsumers'))).toMatchObject([{ name: 'billing', memberCount: 1, skippedCount: 0 }])
  const params = { consumer: consumer.name }
  expect(await ok('describeConsumer', { params })).toMatchObject({ partitions: expect.any(Array) as unknown })
  expect(await ok('seekConsumer', { params, body: { toEnd: true } })).toEqual({ kind: 'moved' })
  expect(await ok('deleteConsumer', { params })).toEqual({ kind: 'deleted' })

  const webhook = { params: { webhook: 'crm' } }
  const body = { url: 'https://hooks.invalid/crm', types: ['execution_created'], task: 'greet', disableAfter: '1d' }
  const defined = await ok('defineWebhook', { ...webhook, body })
  expect(defined).toMatchObject({ state: 'active', url: body.url, filter: { task: 'greet' } })
  const rotated = await ok('rotateWebhook', { ...webhook, body: { grace: '1h' } })
  expect([defined['secret'], rotated['secret']]).toEqual([expect.stringMatching(/^whsec_/), expect.any(String)])
  const listed = itemsOf(await ok('listWebhooks'))
  expect(listed).toMatchObject([{ name: 'crm', secrets: { length: 2 } }])
  expect(JSON.stringify(listed)).not.toContain('whsec_')

  await using _deliverer = served.fabric.deliverWebhooks()
  await ok('submitExecution', { body: { task: 'greet', id: 'hooked:1' } })
  const [delivery] = await until('a delivery was tried', LIMIT_MS, async () => {
    const items = itemsOf(await ok('listDeliveries', { ...webhook, query: { limit: 5 } }))
    return items[0]?.['error'] === undefined ? undefined : items
  })
  expect(delivery).toMatchObject({
    eventType: 'execution_created',
    state: 'delayed',
    error: expect.any(String) as string,
  })
  expect(await ok('describeWebhook', webhook)).toMatchObject({ state: 'failing' })
  const id = String(delivery?.['id'])
  await ok('cancelExecution', { params: { id }, body: { reason: 'by hand' } })
  const again = { params: { webhook: 'crm', id }, body: { by: 'ada' } }
  expect(await ok('redeliver', again)).toEqual({ kind: 'redelivered' })
  expect(await ok('disableWebhook', { ...webhook, body: { reason: 'it is down' } })).toMatchObject({
    state: 'disabled',
  })
  expect(await ok('enableWebhook', webhook)).toMatchObject({ state: 'active' })
  expect(await ok('deleteWebhook', webhook)).toEqual({ kind: 'deleted' })
}

async function schedules(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const params = { schedule: 'nightly' }
  const body = {
    task: 'greet',
    input: { all: true },
    cron: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    tags: { plan: 'pro' },
  }
  expect(await ok('configureSchedule', { params, body })).toMatchObject({
    kind: 'created',
    schedule: { state: 'active' },
  })
  expect(await ok('configureSchedule', { params, body })).toMatchObject({ kind: 'unchanged' })
  const nodes = [
    { name: 'build', task: 'greet', input: { all: true } },
    { name: 'ship', task: 'greet', after: { nodes: ['build'] } },
  ]
  const weekly = { flow: { name: 'release', nodes, outcome: 'sinks' }, cron: '0 6 * * 1', retention: '7d' }
  expect(await ok('configureSchedule', { params: { schedule: 'weekly' }, body: weekly })).toMatchObject({
    kind: 'created',
    schedule: { starts: 'flow', task: 'release' },
  })
  await ok('deleteSchedule', { params: { schedule: 'weekly' } })
  expect(itemsOf(await ok('listSchedules', { query: { limit: 10 } }))).toMatchObject([
    { name: 'nightly', lane: 'default' },
  ])
  expect(await ok('pauseSchedule', { params, body: { reason: 'maintenance', by: 'ada' } })).toMatchObject({
    state: 'paused',
    pause: { by: 'ada', reason: 'maintenance' },
  })

  const again = { params, headers: { 'idempotency-key': 'by-hand' } }
  const [first, second] = [await ok('triggerSchedule', again), await ok('triggerSchedule', again)]
  expect(second).toEqual(first)
  const result = await ok('getResult', { params: { id: String(first['id']) }, query: { wait: '20s' } })
  expect(result).toMatchObject({ outcome: 'completed', result: { greeted: { all: true } } })
  expect(await ok('resumeSchedule', { params })).toMatchObject({ state: 'active' })
  const preview = await ok('previewTimes', { query: { cron: '0 4 * * *', timeZone: 'Europe/Berlin', next: 2 } })
  expect(preview['items']).toHaveLength(2)
  expect(await ok('retimeSchedule', { params, body: { cron: '0 4 * * *', reason: 'later' } })).toMatchObject({
    cron: '0 4 * * *',
    timeZone: 'UTC',
    task: 'greet',
    nextAt: expect.any(Number) as number,
  })
  const days = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 3) }
  const filled = await ok('backfillSchedule', { params, body: days })
  expect([filled['boundaryCount'], (filled['created'] as unknown[]).length]).toEqual([2, 2])
  const described = await ok('describeSchedule', { params, query: { next: 3 } })
  expect(described).toMatchObject({ firedCount: 3, text: expect.stringContaining('fires next') as string })
  expect(described['next']).toHaveLength(3)
  expect(await ok('deleteSchedule', { params })).toEqual({ kind: 'deleted' })
}

/** A worker over HTTP: each of its calls, with success. */
async function remote(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const retry = { attempts: 2, backoff: { kind: 'fixed', delay: 0 } }
  await ok('submitExecution', { body: { task: 'remote', id: 'remote:1', input: { n: 1 }, lane: 'elsewhere', retry } })
  const tasks = [{ name: 'remote' }]
  const claim = async () => {
    const body = { tasks, lanes: ['elsewhere'], instance: 'remote-1', wait: '20s', count: 2 }
    const [item] = itemsOf(await ok('claimExecutions', { body }))
    return { id: String(item?.['id']), lease: String(item?.['lease']), item }
  }
  const first = await claim()
  expect(first.item).toMatchObject({ key: 'remote:1', input: { n: 1 }, attempt: 1 })
  const { id, lease } = first
  const params = { id }
  expect((await ok('renewLeases', { body: { items: [{ id, lease }], leaseTtl: '1m' } }))['items']).toMatchObject([
    { ok: true },
  ])
  expect(await ok('recordStep', { params, body: { lease, name: 'charge', value: 7 } })).toEqual({
    kind: 'recorded',
    value: 7,
  })
  const frames = [{ name: 'token', value: 'x' }]
  expect(await ok('appendFrames', { params, body: { lease, append: 1, frames } })).toEqual({ kind: 'appended' })
  const lines = [{ level: 'info', message: 'charged', step: 'charge', fields: { amount: 7 }, ageMs: 20 }]
  expect(await ok('appendLogLines', { params, body: { lease, append: 1, lines } })).toEqual({ kind: 'appended' })
  expect(itemsOf(await ok('listLogs', { params }))).toMatchObject([
    { level: 'info', message: 'charged', step: 'charge', fields: { amount: 7 }, attempt: 1 },
  ])
  expect(await ok('failExecution', { params, body: { lease, message: 'it broke' } })).toMatchObject({
    kind: 'retry_scheduled',
  })

  const second = await claim()
  expect(second.item).toMatchObject({ attempt: 2, stepCount: 1 })
  expect(await served.refusal('completeExecution', { params, body: { lease, result: 1 } })).toEqual([
    409,
    'stale_lease',
  ])
  expect(await ok('releaseExecution', { params, body: { lease: second.lease, reason: 'stopping' } })).toEqual({
    kind: 'released',
  })
  const third = await claim()
  expect(await ok('postponeExecution', { params, body: { lease: third.lease, delay: '10ms' } })).toEqual({
    kind: 'delayed',
  })
  const last = await claim()
  const report = { params, body: { lease: last.lease, result: { n: 2 } } }
  expect(await ok('completeExecution', report)).toEqual({ kind: 'completed' })
  expect(await ok('completeExecution', report)).toEqual({ kind: 'already_completed' })
  expect(await ok('getResult', { params })).toMatchObject({ outcome: 'completed', result: { n: 2 } })
}

async function fleet(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  const params = { lane: 'slow' }
  expect(await ok('pauseLane', { params, body: { reason: 'the provider is down' } })).toMatchObject({ state: 'paused' })
  expect(await ok('drainLane', { params })).toMatchObject({ state: 'draining' })
  expect(await ok('disableLane', { params })).toMatchObject({ state: 'disabled' })
  expect(await ok('resumeLane', { params })).toMatchObject({ state: 'active' })
  expect(await ok('setLaneWeight', { params, body: { weight: 3 } })).toMatchObject({ weight: 3 })
  const limited = { concurrency: 2, perMinute: 60, reason: 'a smaller plan' }
  expect(await ok('limitLane', { params, body: limited })).toMatchObject({
    limit: { concurrency: 2, rate: { count: 60, windowMs: 60_000 } },
  })
  expect(await ok('unlimitLane', { params, query: { namespace: 'default' } })).not.toHaveProperty('limit')
  expect(itemsOf(await ok('listLanes', { query: { rates: true } })).map(({ lane }) => lane)).toContain('slow')

  const known = { params: { id: 'remote-3' } }
  const registration = { tasks: [{ name: 'remote' }], slots: 4, running: 1, host: 'elsewhere', pid: 12 }
  expect(await ok('registerWorker', { ...known, body: registration })).toMatchObject({ kind: 'registered' })
  const all = itemsOf(await ok('listWorkers'))
  expect(all.find(({ instanceId }) => instanceId === 'remote-3')).toMatchObject({ slots: 4, running: 1 })
  expect(await ok('unregisterWorker', known)).toEqual({ kind: 'unregistered' })

  const [worker] = itemsOf(await ok('listWorkers'))
  const id = String(worker?.['instanceId'])
  await ok('drainWorker', { params: { id }, body: { reason: 'deploy' } })
  await ok('markWorkerDead', { params: { id }, body: { reason: 'its host burnt down' } })
}

async function system(served: Served): Promise<void> {
  const ok = (name: RouteName, asked?: Asked) => served.ok(name, asked)
  expect(await ok('getHealth')).toEqual({ status: 'ok' })
  expect(await ok('getReadiness')).toEqual({ status: 'ready' })
  expect(await ok('signIn', { body: { token: 'any' } })).toMatchObject({ role: 'admin', canSignOut: true })
  expect(await ok('getSession')).toMatchObject({ name: 'http', canSignOut: false })
  await ok('signOut')
  expect(await ok('getVersion')).toMatchObject({ store: { level: 2 } })
  expect(itemsOf(await ok('listScanners')).length).toBeGreaterThan(5)
  expect(itemsOf(await ok('listAudit', { query: { action: 'pauseSchedule', limit: 5 } }))).not.toEqual([])
  expect(await ok('getOpenApi')).toMatchObject({ openapi: '3.1.0' })
  await served.fabric.limits.define('measured', { concurrency: 4 })
  await using _consumer = await served.fabric.consume('measured', { families: ['executions'] }, () => undefined)
  const metrics = (await served.call('getMetrics')).text
  expect(metrics).toMatch(/^ff_executions_submitted_total\{task="greet",lane="[^"]+"\} [1-9]/m)
  expect(metrics).toMatch(/^ff_attempts_ended_total\{task="greet",lane="[^"]+",outcome="completed"\} [1-9]/m)
  expect(metrics).toMatch(/^ff_lane_executions\{lane="[^"]+",state="completed"\} [1-9]/m)
  expect(metrics).toContain('ff_workers{state="running"} 1\n')
  expect(metrics).toContain('ff_store_up 1\n')
  expect(metrics).toContain('ff_budget_spent{budget="company",dimension="tokens"} 60\n')
  expect(metrics).not.toContain('budget="tenants"')
  expect(metrics).toMatch(/^ff_consumer_lag_events\{kind="consumer",namespace="default",consumer="measured"\} \d+$/m)
  expect(metrics).toContain('ff_consumer_members{kind="consumer",namespace="default",consumer="measured"} 1\n')
  expect(metrics).toContain('ff_limit_room{limit="measured"} 4\n')
  expect(metrics).toContain('ff_http_requests_total{method="POST",path="/v1/executions",status="201"} ')
  expect((await served.call('getDocs')).text).toContain('<code>POST /v1/executions</code>')
}

async function streams(served: Served): Promise<void> {
  const abort = new AbortController()
  const { signal } = abort
  const start = async (name: RouteName, asked: Asked) => {
    const response = await fetch(served.urlOf(name, asked), { signal })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    served.succeeded.add(name)
    return messages(response)
  }
  const types: unknown[] = []
  for await (const { event } of await start('followExecution', {
    params: { id: 'greet:ada' },
    query: { fromStart: true },
  })) {
    if (event !== undefined) types.push(event)
  }
  expect(types).toEqual(expect.arrayContaining(['execution_created', 'attempt_started', 'execution_ended']))
  expect(types.at(-1)).toBe('end')
  for await (const { event } of await start('followFlow', { params: { id: 'sum:1' }, query: { fromStart: true } })) {
    if (event === 'flow_ended') break
  }
  const query = { fromStart: true, types: 'signal_received,execution_ended' }
  for await (const { event } of await start('followEvents', { query })) {
    if (event === 'signal_received') break
  }
  abort.abort()
}

async function operationPort(served: Served): Promise<void> {
  expect(await served.ok('describePort')).toMatchObject({ versions: [1], settings: { indexedTags: ['plan'] } })
  await using fabric = await createFabric(served.url, { log: 'silent' })
  const handle = await fabric.submit(addition, { left: 20, right: 3 })
  await handle.result()
  expect((await fabric.flow(handle.id).describe()).state).toBe('completed')
  for (const name of ['runOperations', 'followWakes']) served.succeeded.add(name)
}

/** Calls every route of the API with success. */
export async function callEveryRoute(served: Served): Promise<void> {
  await work(served.fabric)
  await executions(served)
  await acts(served)
  await waits(served)
  await flows(served)
  await narrated(served)
  await limits(served)
  await budgets(served)
  await schedules(served)
  await remote(served)
  await remoteWaits(served)
  await remoteSpending(served)
  await remoteMembers(served)
  await remoteUndo(served)
  await graphs(served)
  await keys(served)
  await subscribers(served)
  await streams(served)
  await operationPort(served)
  await system(served)
  await fleet(served)
  // Its worker would count among the others.
  await bulk(served)
}
