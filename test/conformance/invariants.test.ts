/** The invariants are only worth something if they notice: each kind of damage to a healthy partition is found. */
import { describe, expect, test } from 'vitest'
import type { AnyRecord, Attempt, Execution } from '../../src/kernel/index.ts'
import type { PartitionDump, StoredEvent } from '../../src/stores/store.ts'
import { Clock } from './clock.ts'
import { TestFabric } from './fabric.ts'
import { Given, fixedRetry, transientFailure } from './given.ts'
import { problemsOf } from './invariants.ts'
import { memory } from './targets.ts'

/** A running execution on its second attempt, a delayed one and a completed one. */
async function healthyPartition(): Promise<PartitionDump> {
  const fabric = new TestFabric(memory)
  await fabric.open()
  try {
    const given = new Given(fabric, new Clock(fabric))
    const bytes = new Uint8Array([1])
    const running = await given.activeExecution({ retry: fixedRetry(3, 0), bytes })
    await fabric.run('failExecution', { ...running, ...transientFailure })
    await given.claimOf(running)
    await given.delayedExecution({ lane: 'later', totalTimeoutMs: 90_000 })
    await given.endedExecution('completed', { lane: 'done' })
    return await fabric.dump()
  } finally {
    await fabric.close()
  }
}

const records = (dump: PartitionDump, change: (record: AnyRecord) => AnyRecord | undefined): PartitionDump => ({
  ...dump,
  records: dump.records.map(change).filter((record) => record !== undefined),
})
const executions = (dump: PartitionDump, change: (execution: Execution) => Execution): PartitionDump =>
  records(dump, (record) => (record.type === 'execution' ? change(record) : record))
const attempts = (dump: PartitionDump, change: (attempt: Attempt) => Attempt | undefined): PartitionDump =>
  records(dump, (record) => (record.type === 'attempt' ? change(record) : record))
const events = (dump: PartitionDump, change: (event: StoredEvent) => StoredEvent | undefined): PartitionDump => ({
  ...dump,
  events: dump.events.map(change).filter((event) => event !== undefined),
})

const damages: Record<string, (dump: PartitionDump) => PartitionDump> = {
  'an entry is missing': (dump) => ({ ...dump, entries: dump.entries.slice(1) }),
  'an entry is there twice': (dump) => ({ ...dump, entries: [...dump.entries, dump.entries[0]!] }),
  'an entry belongs to nothing': (dump) => ({
    ...dump,
    entries: [...dump.entries, { index: 'due', score: 1, id: 'unknown' }],
  }),
  'an entry has another score': (dump) => ({
    ...dump,
    entries: dump.entries.map((entry) => (entry.index === 'due' ? { ...entry, score: entry.score + 1 } : entry)),
  }),
  'a queue is not registered': (dump) => ({
    ...dump,
    records: dump.records.filter((record) => record.type !== 'queue'),
    entries: dump.entries.filter((entry) => entry.index !== 'queues'),
  }),
  'bytes are missing': (dump) => ({ ...dump, blobKeys: [] }),
  'bytes belong to nothing': (dump) => ({ ...dump, blobKeys: [...dump.blobKeys, 'p\u001fnobody'] }),
  'an epoch lags behind the attempts': (dump) => executions(dump, (execution) => ({ ...execution, epoch: 0 })),
  'an active execution has no attempt': (dump) =>
    executions(dump, (execution) => ({ ...execution, attempt: undefined })),
  'a lease is remembered while another is held': (dump) =>
    executions(dump, (execution) => ({
      ...execution,
      lastLease: { id: 'x', epoch: execution.epoch, how: 'failed', until: undefined },
    })),
  'more failures than the policy allows': (dump) =>
    executions(dump, (execution) => ({ ...execution, failureCount: 9 })),
  'a running execution has a result': (dump) =>
    executions(dump, (execution) => ({ ...execution, result: { size: 1, encoding: 'json' } })),
  'tags are out of order': (dump) =>
    executions(dump, (execution) => ({
      ...execution,
      tags: ['b', 'a'].map((name) => ({ name, value: 'x', indexed: false })),
    })),
  'an attempt is missing in history': (dump) => attempts(dump, () => undefined),
  'an attempt is of another number': (dump) => attempts(dump, (attempt) => ({ ...attempt, number: 7 })),
  'an attempt is of the future': (dump) => attempts(dump, (attempt) => ({ ...attempt, epoch: 7 })),
  'an attempt ended before it began': (dump) => attempts(dump, (attempt) => ({ ...attempt, endedAt: 0 })),
  'an execution has vanished': (dump) => ({
    ...dump,
    records: dump.records.filter((record) => record.type === 'queue'),
    entries: dump.entries.filter((entry) => entry.index === 'queues'),
    blobKeys: [],
  }),
  'a log has a gap': (dump) => events(dump, (event) => (event.sequence === 3 ? undefined : event)),
  'a log has lost its end': (dump) =>
    events(dump, (event) => (event.sequence === dump.events.length ? undefined : event)),
  'an execution ends twice': (dump) =>
    events(dump, (event) => (event.type === 'execution_created' ? { ...event, type: 'execution_ended' } : event)),
  'an epoch is given out twice': (dump) =>
    events(dump, (event) => (event.type === 'attempt_started' ? { ...event, epoch: 1 } : event)),
  'a log goes back in time': (dump) =>
    events(dump, (event) => (event.sequence === 1 ? { ...event, at: event.at + 1 } : event)),
}

describe('the invariants', () => {
  test('hold for a healthy partition', async () => {
    expect(problemsOf(await healthyPartition())).toEqual([])
  })

  test.each(Object.keys(damages))('notice that %s', async (damage) => {
    expect(problemsOf(damages[damage]!(await healthyPartition()))).not.toEqual([])
  })
})
