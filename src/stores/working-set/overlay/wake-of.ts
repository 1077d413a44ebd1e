/** Derives the wake-up of a batch from what it wrote. */
import { DUE_INDEX, isEndEvent, isReadyIndex, isTimersIndex } from '../../../kernel/index.ts'
import type { AnyRecord, ExecutionId, Instant } from '../../../kernel/index.ts'
import type { LogGrowth, Partition, Wake } from '../../store.ts'
import type { Writes } from './stored-data.ts'

/**
 * Returns what listeners are notified of once the writes are applied; undefined if nothing was written. The growth of the
 * log is known only with `lastSequence`, the number of its newest event before these writes; `at` is given where the store
 * has stamped the events itself.
 */
export function wakeOf(
  partition: Partition,
  { records, entries, events }: Pick<Writes, 'entries' | 'events'> & GrownRecords,
  lastSequence?: number,
  at?: Instant,
): Wake | undefined {
  const ready = new Set<string>()
  let dueAt: Instant | undefined
  // Entries of one index stand together.
  let last: string | undefined
  let isTimers = false
  let isReady = false
  for (const { index, before, after } of entries) {
    if (after === undefined || before === after) continue
    if (index !== last) {
      last = index
      isTimers = isTimersIndex(index)
      isReady = !isTimers && isReadyIndex(index)
    }
    if (isTimers) {
      // An engine that knows the earlier time of another timer looks again then, so a later time is no news.
      if (index === DUE_INDEX || after <= (before ?? Infinity)) dueAt = Math.min(dueAt ?? after, after)
    } else if (isReady && before === undefined) ready.add(index)
  }
  const hasEvents = events.length > 0
  const grown = grownIn(records)
  if (!hasEvents && ready.size === 0 && dueAt === undefined && grown === undefined) return undefined
  const growth = lastSequence === undefined ? undefined : growthOf(events, lastSequence, at)
  const holdersOf = holdersIn(events)
  const wake = { partition, ready: [...ready], dueAt, hasEvents, growth, holdersOf }
  return grown === undefined ? wake : { ...wake, grown }
}

interface GrownRecords {
  readonly records: readonly { readonly record: AnyRecord | undefined }[]
}

/** Returns the executions that have new frames or signals, if there are any. */
export function grownIn(records: GrownRecords['records']): string[] | undefined {
  let grown: Set<string> | undefined
  for (const { record } of records) {
    if (record?.type !== 'stream' && record?.type !== 'signal') continue
    grown ??= new Set()
    grown.add(record.executionId)
  }
  return grown === undefined ? undefined : [...grown]
}

/** Returns the executions with news for the holders of their leases. */
export function holdersIn(events: Writes['events']): ExecutionId[] {
  const holders: ExecutionId[] = []
  for (const { event, isForHolder } of events) if (isForHolder) holders.push(event.executionId)
  return holders
}

function growthOf(events: Writes['events'], lastSequence: number, at: Instant | undefined): LogGrowth | undefined {
  const [first] = events
  if (first === undefined) return undefined
  const ended: ExecutionId[] = []
  for (const { event } of events) if (isEndEvent(event.type)) ended.push(event.executionId)
  return { first: lastSequence + 1, last: lastSequence + events.length, at: at ?? first.event.at, ended }
}
