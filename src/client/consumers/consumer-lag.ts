/** The lag of consumers and webhooks, for metrics. What is read has a bound, however many there are. */
import type { Consumer, Instant } from '../../kernel/index.ts'
import { ADMISSION_LEVEL } from '../../stores/level/store-level.ts'
import { logPartitions } from '../../stores/partitions.ts'
import type { EventPage, Partition, Store } from '../../stores/store.ts'
import type { Session } from '../session.ts'
import { readConsumers, resumeAfter } from './consumer-listing.ts'

export interface ConsumerLag {
  readonly consumer: Consumer
  /** Events in the log that it has not examined. */
  readonly lagCount: number
  /** When the oldest of them happened. Absent if none waits, or if that would take too many reads. */
  readonly waitingSince: Instant | undefined
}

/** Pages that are read of consumers, and of webhooks, of 20 each. */
const PAGES_MAX = 5
/** Reads of events by which the oldest waiting ones are found. The consumers with the largest lag are first. */
const READS_MAX = 400

/** Events of a log that a consumer has not examined. */
interface Gap {
  readonly log: Partition
  readonly after: number
  readonly count: number
}

/** Reads each log once, and then the oldest waiting events. Returns none on a store of a lower level. */
export async function readLags(session: Session): Promise<ConsumerLag[]> {
  const { store } = session.batcher
  if (store.level < ADMISSION_LEVEL) return []
  const kinds = [false, true].map((webhooks) =>
    readConsumers(session, { namespace: session.within, webhooks, pagesMax: PAGES_MAX }),
  )
  const consumers = (await Promise.all(kinds)).flat()
  if (consumers.length === 0) return []
  const logs = logPartitions(store.settings)
  const pages = await Promise.all(logs.map((log) => store.readEvents(log, Number.MAX_SAFE_INTEGER, 1)))
  const behind = consumers.map((consumer) => {
    const gaps = gapsOf(consumer, logs, pages)
    return { consumer, gaps, lagCount: gaps.reduce((sum, { count }) => sum + count, 0) }
  })
  const known = new Map<string, Instant | undefined>()
  const lags: ConsumerLag[] = []
  for (const { consumer, gaps, lagCount } of behind.toSorted((a, b) => b.lagCount - a.lagCount)) {
    lags.push({ consumer, lagCount, waitingSince: await oldestIn(store, gaps, known) })
  }
  return lags
}

function gapsOf({ shares }: Consumer, logs: readonly Partition[], pages: readonly EventPage[]): Gap[] {
  return shares.flatMap(({ position }, number) => {
    const [log, page] = [logs[number], pages[number]]
    if (log === undefined || page === undefined) return []
    const after = resumeAfter(position, page)
    const count = page.lastSequence - after
    return count > 0 ? [{ log, after, count }] : []
  })
}

/** `known` has the times that were read for other consumers. */
async function oldestIn(
  store: Store,
  gaps: readonly Gap[],
  known: Map<string, Instant | undefined>,
): Promise<Instant | undefined> {
  const missing = gaps.filter((gap) => !known.has(placeOf(gap)))
  if (known.size + missing.length > READS_MAX) return undefined
  await Promise.all(
    missing.map(async (gap) => {
      const { events } = await store.readEvents(gap.log, gap.after, 1)
      known.set(placeOf(gap), events[0]?.at)
    }),
  )
  const times = gaps.flatMap((gap) => known.get(placeOf(gap)) ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}

function placeOf({ log, after }: Gap): string {
  return `${log} ${after}`
}
