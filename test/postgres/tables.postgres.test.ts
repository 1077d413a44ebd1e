/** The tables as a person sees them: what is in them, and what they refuse to hold. */
import { describe, expect, test } from 'vitest'
import {
  eventTypes,
  flowSubject,
  laneSubject,
  recordTypes,
  unpackRecord,
  workerSubject,
} from '../../src/kernel/index.ts'
import type { Claimed, EventType, FlowId } from '../../src/kernel/index.ts'
import { virtualRuntime } from '../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../src/runtime/index.ts'
import { eventColumns, recordColumns } from '../../src/stores/sql/columns.ts'
import { PARTITION, claim, creation, run, signalTo, stepOf, submit, waitAt } from '../../src/stores/store.fixture.ts'
import type { Store } from '../../src/stores/store.ts'
import { writeInProcess } from '../conformance/write-in-process.ts'
import { versions } from './places.ts'
import { newStore } from './store-place.ts'
import type { StorePlace } from './store-place.ts'

const sqlTypes: Readonly<Record<string, string>> = { text: 'text', integer: 'integer', bigint: 'integer' }

async function columnsOf({ schema, query }: StorePlace, table: string): Promise<string[]> {
  const rows = await query(
    `select column_name, data_type from information_schema.columns where table_schema = $1 and table_name = $2`,
    [schema, table],
  )
  return rows.map((row) => `${String(row['column_name'])} ${sqlTypes[String(row['data_type'])] ?? '?'}`).sort()
}

/** The columns of the view of events besides those of all SQL stores. */
const OWN_COLUMNS = ['worker_id', 'reason', 'step', 'waitpoint', 'signal', 'effect']
const MINUTE_MS = 60_000
const RETRIED = {
  attempts: 3,
  backoff: { kind: 'fixed' as const, delayMs: 1_000 },
  jitter: false,
  onlyCategories: [],
}

/** Events of flows and of their members. */
const FLOW_EVENTS: readonly EventType[] = [
  'execution_blocked',
  'execution_unblocked',
  'flow_created',
  'flow_sealed',
  'flow_ended',
  'flow_cancelled',
  'flow_reopened',
  'flow_purged',
]

async function everyFlowEvent(store: Store): Promise<void> {
  const flow = { ...unpackRecord('flow', []), id: 'f0-1' as FlowId, namespace: 'default', name: 'brief', tags: [] }
  await writeInProcess(store, PARTITION, (tx) => {
    for (const type of FLOW_EVENTS) tx.emit(type, flowSubject(flow), { reason: 'test' })
  })
}

const WORKER_EVENTS: readonly EventType[] = [
  'worker_registered',
  'worker_unregistered',
  'worker_draining',
  'worker_lost',
  'worker_dead',
]

/** They are written in another partition; the view shows the events of all. */
async function everyWorkerEvent(store: Store): Promise<void> {
  const worker = { ...unpackRecord('worker', []), id: 'instance', namespace: 'default' }
  await writeInProcess(store, PARTITION, (tx) => {
    for (const type of WORKER_EVENTS) tx.emit(type, workerSubject(worker), { workerId: 'pool', reason: 'test' })
    tx.emit('lane_changed', laneSubject({ ...unpackRecord('lane', []), id: 'main' }), { by: 'ops' })
    const nightly = workerSubject({ ...worker, id: 'nightly' })
    tx.emit('schedule_changed', nightly, { effect: 'created', by: 'ops' })
    tx.emit('schedule_skipped', nightly, { until: 1, reason: 'overlap' })
    tx.emit('budget_changed', nightly, { effect: 'raised', by: 'ops' })
    tx.emit('budget_warned', nightly, { category: 'tokens' })
    tx.emit('budget_breached', nightly, { category: 'tokens' })
    tx.emit('order_continued', nightly, { by: 'ops' })
  })
}

/** Events of steps, waits, waitpoints and signals. */
async function everyJournalEvent(store: Store, runtime: VirtualRuntime): Promise<void> {
  const take = async () => {
    const { executions } = await run(store, 'claimForWorker', claim({ requestId: runtime.uuid(), count: 1 }))
    return executions[0]!
  }
  const executionId = await submit(store)
  const first = await take()
  await run(store, 'recordStep', stepOf(first, 'fetch'))
  await run(store, 'createWaitpoint', { executionId, fence: first.fence, target: 'unused' })
  await run(store, 'closeWaitpoint', { executionId, target: 'unused', reason: 'not needed', by: 'me' })
  const wish = { timeoutMs: 2_000, onTimeout: 'escalate', remindEveryMs: 1_000 } as const
  await run(store, 'suspendExecution', waitAt(first, 'answer', wish))
  for (let i = 0; i < 3; i++) {
    runtime.jump(1_000)
    await run(store, 'runDue', { limit: 100, seed: 1 })
  }
  await run(store, 'deliverSignal', signalTo(executionId, 'answer'))
  // It has completed steps, so its handler may undo them before it ends.
  await run(store, 'cancelExecution', { executionId, reason: 'enough', by: 'me', force: false, graceMs: 0 })
  await run(store, 'completeExecution', await take())
}

/** Executions that together emit every event. */
async function everyEvent(store: Store, runtime: VirtualRuntime): Promise<void> {
  const take = async () => {
    const { executions } = await run(store, 'claimForWorker', claim({ requestId: runtime.uuid(), count: 1 }))
    return executions[0]!
  }
  const due = async () => {
    runtime.jump(MINUTE_MS)
    await run(store, 'runDue', { limit: 100, seed: 1 })
  }
  const byHand = { reason: 'enough', by: 'me' }
  const executionId = await submit(store, { retry: RETRIED, retentionMs: MINUTE_MS })
  await run(store, 'changePriority', { executionId, priority: 3 })
  await run(store, 'setTags', { executionId, set: [{ name: 'team', value: 'red', indexed: false }], remove: [] })
  await run(store, 'updateProgress', { ...(await take()), percent: 50 })
  await due()
  await run(store, 'releaseExecution', { ...(await take()), reason: 'shutdown' })
  await run(store, 'delayExecution', { ...(await take()), delayMs: 1_000 })
  await due()
  const failure = { category: 'network', message: 'no route', stack: undefined }
  await run(store, 'failExecution', { ...(await take()), failure, seed: 1 })
  await due()
  await take()
  await run(store, 'revokeLease', { executionId, ...byHand })
  await take()
  await run(store, 'cancelExecution', { executionId, ...byHand, force: false, graceMs: 1_000 })
  await due()
  await run(store, 'replayExecution', { executionId, requestId: runtime.uuid(), ...byHand })
  await run(store, 'completeExecution', await take())
  await run(
    store,
    'createExecution',
    creation({ executionId, ifExists: 'replace', retentionMs: 0, totalTimeoutMs: 1_000 }),
  )
  await due()
  await run(store, 'purgeExecutions', {})
  await everyFollowUpEvent(store, take)
}

async function everyFollowUpEvent(store: Store, take: () => Promise<Claimed>): Promise<void> {
  const executionId = await submit(store)
  const after = () => run(store, 'createExecution', creation({ executionId, ifExists: 'after' }))
  await after()
  await run(store, 'completeExecution', await take())
  await take()
  await after()
  await run(store, 'cancelExecution', { executionId, reason: 'enough', by: 'me', force: true, graceMs: 0 })
}

function described(columns: readonly { readonly name: string; readonly type: string }[], ...own: string[]): string[] {
  return [...columns.map(({ name, type }) => `${name} ${type}`), ...own].sort()
}

describe.each(versions)('the tables of a store on %s', (version) => {
  test('have the columns that the records are described with', async () => {
    const place = await newStore(version)

    for (const type of recordTypes) {
      const own = ['id text', 'partition integer', 'record text']
      expect(await columnsOf(place, type)).toEqual(described(recordColumns[type], ...own))
    }
    const own = [...OWN_COLUMNS.map((name) => `${name} text`), 'partition integer', 'sequence integer']
    expect(await columnsOf(place, 'event')).toEqual(described(eventColumns, ...own))
  })

  test('show what executions do', async () => {
    const { store, query } = await newStore(version)
    await submit(store, { key: 'one', priority: 7 })
    await submit(store, { key: 'two', delayMs: 60_000 })
    const { executions } = await run(store, 'claimForWorker', claim())
    const failure = { category: 'network', message: 'no route', stack: undefined }
    await run(store, 'failExecution', { ...executions[0]!, failure, seed: 1 })

    const rows = await query('select key, state, priority, worker_id, failure_message from execution order by key')

    expect(rows).toEqual([
      { key: 'one', state: 'failed', priority: 7, worker_id: 'worker', failure_message: 'no route' },
      { key: 'two', state: 'delayed', priority: 0, worker_id: null, failure_message: null },
    ])
    expect(await query('select lane, class from queue')).toEqual([{ lane: 'main', class: 'greet' }])
  })

  test.each([
    [`state = 'active'`, 'execution_state_is_whole'],
    [`state = 'completed'`, 'execution_state_is_whole'],
    [`state = 'delayed'`, 'execution_state_is_whole'],
    [`state = 'gone'`, 'execution_state_is_whole'],
    ['ended_at = 1', 'execution_state_is_whole'],
    [`worker_id = 'worker'`, 'execution_attempt_has_worker'],
    ['priority = -1', 'execution_priority_check'],
    ['failure_count = -1', 'execution_failure_count_check'],
  ])('refuse a waiting execution with %s', async (change, constraint) => {
    const { store, query } = await newStore(version)
    await submit(store)

    await expect(query(`update execution set ${change}`)).rejects.toMatchObject({ code: '23514', constraint })
  })

  test('take an execution that has ended and is due, because cancels of its children are pending', async () => {
    const { store, query } = await newStore(version)
    await submit(store)

    await query(`update execution set state = 'cancelled', ended_at = 1, due_at = 1`)

    expect(await query('select state, due_at from execution')).toEqual([{ state: 'cancelled', due_at: 1 }])
  })

  test.each([
    ['flow', 'ended_at = 1', 'flow_state_is_whole'],
    ['flow', `phase = 'ended'`, 'flow_state_is_whole'],
    ['flow', `phase = 'ended', state = 'running', ended_at = 1`, 'flow_state_is_whole'],
    ['flow', `state = 'cancelled'`, 'flow_state_is_whole'],
    ['flow', `phase = 'odd'`, 'flow_state_is_whole'],
    ['flow', `state = 'odd'`, 'flow_state_is_known'],
    ['flow', 'member_count = -1', 'flow_member_count_check'],
    ['edge', 'resolved_at = 1', 'edge_state_is_whole'],
    ['edge', `state = 'satisfied'`, 'edge_state_is_whole'],
    ['edge', `state = 'odd', resolved_at = 1`, 'edge_state_is_known'],
    ['edge', 'downstream_id = upstream_id', 'edge_joins_two'],
  ])('refuse an open %s with %s', async (table, change, constraint) => {
    const { query } = await newStore(version)
    await query(`insert into flow (id, partition, namespace, name, state, phase, member_count, edge_count, created_at,
      changed_at, record) values ('f0-1', 0, 'default', 'brief', 'open', 'open', 2, 1, 1, 1, '[]')`)
    await query(`insert into edge (id, partition, flow_id, upstream_id, downstream_id, state, created_at, record)
      values ('a-b', 0, 'f0-1', 'a', 'b', 'open', 1, '[]')`)

    await expect(query(`update ${table} set ${change}`)).rejects.toMatchObject({ code: '23514', constraint })
  })

  test('show steps, waits and signals', async () => {
    const { store, query } = await newStore(version)
    const executionId = await submit(store)
    const { executions } = await run(store, 'claimForWorker', claim())
    const held = executions[0]!
    const failure = { category: 'network', message: 'no route', stack: undefined }
    await run(store, 'recordStep', stepOf(held, 'fetch'))
    await run(store, 'recordStep', stepOf(held, 'send', { outcome: { kind: 'failed', failure, size: 15 } }))
    await run(store, 'deliverSignal', signalTo(executionId, '@go'))
    await run(store, 'suspendExecution', waitAt(held, 'answer'))

    expect(await query('select name, kind, phase, ended_at is null as is_open from step order by position')).toEqual([
      { name: 'fetch', kind: 'call', phase: 'completed', is_open: false },
      { name: 'send', kind: 'call', phase: 'failed', is_open: false },
      { name: 'wait for answer', kind: 'wait', phase: 'open', is_open: true },
    ])
    expect(await query('select target, signal_count, closed_at from waitpoint order by target')).toEqual([
      { target: '@go', signal_count: 1, closed_at: null },
      { target: 'answer', signal_count: 0, closed_at: null },
    ])
    expect(await query('select target, sequence, name, source_type, source_identity, effect from signal')).toEqual([
      { target: '@go', sequence: 1, name: 'go', source_type: 'caller', source_identity: 'ada', effect: 'buffered' },
    ])
  })

  test.each([
    ['step', `kind = 'odd'`, 'step_kind_is_known'],
    ['step', `phase = 'odd', ended_at = 1`, 'step_phase_is_known'],
    ['step', 'ended_at = 1', 'step_phase_is_whole'],
    ['step', `phase = 'closed'`, 'step_phase_is_whole'],
    ['step', `phase = 'completed', ended_at = 1`, 'step_phase_is_of_its_kind'],
    ['step', `kind = 'call'`, 'step_phase_is_of_its_kind'],
    ['step', 'position = -1', 'step_position_check'],
    ['step', 'attempt_count = -1', 'step_attempt_count_check'],
    ['waitpoint', 'closed_at = 1', 'waitpoint_is_whole'],
    ['waitpoint', `close_reason = 'expired'`, 'waitpoint_is_whole'],
    ['waitpoint', 'signal_count = -1', 'waitpoint_signal_count_check'],
    ['signal', 'sequence = 0', 'signal_sequence_check'],
    ['signal', `source_type = 'odd'`, 'signal_source_is_known'],
    ['signal', `effect = 'odd'`, 'signal_effect_is_known'],
  ])('refuse an open wait, its waitpoint or a signal: %s with %s', async (table, change, constraint) => {
    const { store, query } = await newStore(version)
    const executionId = await submit(store)
    const { executions } = await run(store, 'claimForWorker', claim())
    await run(store, 'suspendExecution', waitAt(executions[0]!, 'answer'))
    await run(store, 'deliverSignal', signalTo(executionId, '@go'))

    await expect(query(`update ${table} set ${change}`)).rejects.toMatchObject({ code: '23514', constraint })
  })

  test.each([
    `insert into event_batch values (0, 0, 1, 1, '[]')`,
    `insert into event_batch values (0, 3, 2, 1, '[]')`,
    `update partition set last_sequence = -1`,
    `insert into attempt select id || ':0', partition, id, 0, 'first', 'failed', 1, 1, 'w', null, null, '[]' from execution`,
  ])('refuse %s', async (statement) => {
    const { store, query } = await newStore(version)
    await submit(store)

    await expect(query(statement)).rejects.toMatchObject({ code: '23514' })
  })
})

describe.each(versions)('the events of a store on %s', (version) => {
  test('are shown one by one as they are read, whatever their type', async () => {
    const runtime = virtualRuntime()
    const { store, query } = await newStore(version, 'partitions=1', { runtime, clock: 'runtime' })
    const seen = new Set<string>()
    await everyEvent(store, runtime)
    await everyFlowEvent(store)
    await everyWorkerEvent(store)
    await everyJournalEvent(store, runtime)

    const { events } = await store.readEvents(PARTITION, 0, 1_000)
    const rows = await query('select * from event order by sequence')

    for (const [i, row] of rows.entries()) {
      const event = events[i]!
      const shown = Object.fromEntries(eventColumns.map(({ name, value }) => [name, value(event) ?? null]))
      const { sequence, workerId, reason, step, waitpoint, signal, effect } = event
      const own = [workerId, reason, step, waitpoint, signal, effect]
      const ownShown = Object.fromEntries(OWN_COLUMNS.map((name, place) => [name, own[place] ?? null]))
      expect(row).toEqual({ partition: 0, sequence, ...ownShown, ...shown })
      seen.add(event.type)
    }
    expect(rows).toHaveLength(events.length)
    expect([...seen].sort()).toEqual([...eventTypes].sort())
  })

  test('can be queried whatever text a reason holds', async () => {
    const { store, query } = await newStore(version)
    const reasons = ['false', '', 'zero \u0000 byte', 'half a pair \ud83d', 'back\\slash \\u0000', 'whole 🐝 "quoted"']
    for (const reason of reasons) {
      const executionId = await submit(store)
      await run(store, 'cancelExecution', { executionId, reason, by: 'me', force: true, graceMs: 0 })
    }

    const rows = await query(`select reason from event where type = 'execution_ended' order by sequence`)

    expect(rows.map(({ reason }) => reason)).toEqual([
      'false',
      '',
      'zero \ufffd byte',
      'half a pair \ufffd',
      expect.stringContaining('back\\slash'),
      'whole 🐝 "quoted"',
    ])
  })
})
