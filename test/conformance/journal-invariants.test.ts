/** The invariants of what executions remember are only worth something if they notice: each kind of damage is found. */
import { describe, expect, test } from 'vitest'
import type { AnyRecord, Execution, Journal, Signal, Step, Wait, Waitpoint } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { Clock } from './clock.ts'
import { count, one } from './condition-nodes.ts'
import { TestFabric } from './fabric.ts'
import { GivenJournal, stepFailure } from './given-journal.ts'
import { Given } from './given.ts'
import { problemsOf } from './invariants.ts'
import { journalProblems } from './journal-invariants.ts'
import { memory } from './targets.ts'

/** An execution that has recorded, was answered once and waits again, with signals that no wait has consumed. */
async function healthyJournal(): Promise<PartitionDump> {
  const fabric = new TestFabric(memory)
  await fabric.open()
  try {
    const given = new Given(fabric, new Clock(fabric))
    const journal = new GivenJournal(fabric, given)
    const held = await given.activeExecution()
    await journal.recordValue(held, 'fetch', Uint8Array.of(1, 2))
    await journal.record(held, 'broken', { outcome: stepFailure })
    await journal.wait(held, { name: 'first', for: one('@go') })
    await journal.signal(held, '@go')
    await journal.signal(held, '@go')
    const next = await given.claimOf(held)
    await journal.open(next, 'spare')
    await journal.wait(next, { for: count(2, ['reply']) })
    await journal.signal(next, 'reply')
    return await fabric.dump()
  } finally {
    await fabric.close()
  }
}

const records = (dump: PartitionDump, change: (record: AnyRecord) => AnyRecord | undefined): PartitionDump => ({
  ...dump,
  records: dump.records.map(change).filter((record) => record !== undefined),
})
const execution = (dump: PartitionDump, change: (execution: Execution) => Partial<Execution>): PartitionDump =>
  records(dump, (record) => (record.type === 'execution' ? { ...record, ...change(record) } : record))
const journal = (dump: PartitionDump, change: (journal: Journal) => Partial<Journal>): PartitionDump =>
  execution(dump, ({ journal: old }) => ({ journal: { ...old!, ...change(old!) } }))
const step = (dump: PartitionDump, name: string, change: (step: Step) => Partial<Step>): PartitionDump =>
  records(dump, (record) =>
    record.type === 'step' && record.name === name ? { ...record, ...change(record) } : record,
  )
const wait = (dump: PartitionDump, name: string, change: Partial<Wait>): PartitionDump =>
  step(dump, name, (old) => ({ wait: { ...old.wait!, ...change } }))
const waitpoint = (dump: PartitionDump, target: string, change: Partial<Waitpoint>): PartitionDump =>
  records(dump, (record) =>
    record.type === 'waitpoint' && record.target === target ? { ...record, ...change } : record,
  )
const signal = (dump: PartitionDump, sequence: number, change: Partial<Signal>): PartitionDump =>
  records(dump, (record) =>
    record.type === 'signal' && record.sequence === sequence ? { ...record, ...change } : record,
  )

const damages: Record<string, (dump: PartitionDump) => PartitionDump> = {
  'a step has vanished': (dump) =>
    records(dump, (record) => (record.type === 'step' && record.name === 'fetch' ? undefined : record)),
  'the step that is waited in has vanished': (dump) =>
    records(dump, (record) => (record.type === 'step' && record.name === 'answer' ? undefined : record)),
  'a signal has vanished': (dump) => records(dump, (record) => (record.type === 'signal' ? undefined : record)),
  'a waitpoint has vanished': (dump) =>
    records(dump, (record) => (record.type === 'waitpoint' && record.target === 'spare' ? undefined : record)),
  'an execution has vanished': (dump) => records(dump, (record) => (record.type === 'execution' ? undefined : record)),
  'a journal has vanished': (dump) => execution(dump, () => ({ journal: undefined })),
  'a life is none of its own': (dump) => journal(dump, () => ({ life: 2, firstLife: 2 })),
  'steps are miscounted': (dump) => journal(dump, ({ stepCount }) => ({ stepCount: stepCount + 1 })),
  'bytes are miscounted': (dump) => step(dump, 'fetch', ({ size }) => ({ size: size + 1 })),
  'a position was given out twice': (dump) => step(dump, 'broken', () => ({ position: 0 })),
  'a position is of the future': (dump) => journal(dump, () => ({ nextPosition: 3 })),
  'signals are miscounted': (dump) => journal(dump, ({ signalCount }) => ({ signalCount: signalCount + 1 })),
  'a number is missing': (dump) => signal(dump, 2, { sequence: 9 }),
  'the buffered signals are miscounted': (dump) => journal(dump, () => ({ bufferedCount: 0 })),
  'the buffered signals at a place are miscounted': (dump) => waitpoint(dump, '@go', { bufferedCount: 2 }),
  'what was kept is lost': (dump) => signal(dump, 2, { isWaiting: false }),
  'what has counted is kept': (dump) => signal(dump, 1, { isWaiting: true }),
  'what was never early is kept': (dump) => signal(dump, 3, { isWaiting: true }),
  'a place was opened after it received a signal': (dump) => waitpoint(dump, '@go', { openedAfter: 2 }),
  'a sender is counted who has sent nothing': (dump) =>
    waitpoint(dump, 'reply', { senders: [{ identity: 'unknown', count: 1 }] }),
  'a sender is counted twice': (dump) =>
    waitpoint(dump, 'reply', {
      senders: [
        { identity: 'sender-1', count: 1 },
        { identity: 'sender-1', count: 1 },
      ],
    }),
  'signals to a place are miscounted': (dump) => waitpoint(dump, '@go', { signalCount: 7 }),
  'a signal is of an opening to come': (dump) => signal(dump, 3, { round: 4 }),
  'a mailbox is closed': (dump) => waitpoint(dump, '@go', { closedAt: 1, bufferedCount: 0 }),
  'what is open was closed': (dump) => waitpoint(dump, 'spare', { closedAt: 1 }),
  'what is not closed is not open': (dump) => journal(dump, ({ open }) => ({ open: open.slice(1) })),
  'a waitpoint is open twice': (dump) => journal(dump, ({ open }) => ({ open: [...open, open[0]!] })),
  'no execution waits in an open wait': (dump) => execution(dump, () => ({ state: { phase: 'eligible' } })),
  'a wait is answered while its execution waits': (dump) =>
    step(dump, 'answer', () => ({
      state: { phase: 'closed', at: 1, how: 'operator', by: undefined, reason: undefined },
    })),
  'a wait ends at another time than its step': (dump) => wait(dump, 'answer', { until: 77 }),
  'a wait has forgotten what it waits for': (dump) => step(dump, 'answer', () => ({ wait: undefined })),
  'who waits does not know how its lease ended': (dump) => execution(dump, () => ({ lastLease: undefined })),
  'who waits would begin anew': (dump) => execution(dump, () => ({ next: 'retry' })),
  'a step failed in a round to come': (dump) =>
    step(dump, 'broken', ({ state }) => (state.phase === 'failed' ? { state: { ...state, round: 5 } } : {})),
  'a wait was satisfied by nothing': (dump) => wait(dump, 'first', { satisfiers: [] }),
  'a satisfier does not exist': (dump) => wait(dump, 'first', { satisfiers: [1, 40], closer: 40 }),
  'a satisfier was sent elsewhere': (dump) => wait(dump, 'first', { satisfiers: [1, 3], closer: 3 }),
  'a wait does not know what closed it': (dump) => wait(dump, 'first', { closer: undefined }),
  'a wait that was met stays open': (dump) =>
    step(dump, 'answer', ({ wait: old }) => ({ wait: { ...old!, nodes: [{ ...old!.nodes[0]!, need: 1 }] } })),
}

describe('the invariants of what an execution remembers', () => {
  test('hold for a healthy one', async () => {
    expect(problemsOf(await healthyJournal())).toEqual([])
  })

  test.each(Object.keys(damages))('notice that %s', async (damage) => {
    expect(journalProblems(damages[damage]!(await healthyJournal()))).not.toEqual([])
  })
})
