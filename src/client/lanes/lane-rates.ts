/** How many executions came to each lane and ended in it lately, from the newest events of each partition. */
import type { Session } from '../session.ts'
import type { Partition, StoredEvent } from '../../stores/store.ts'
import { partitionsOf } from '../../stores/partitions.ts'

export interface LaneRates {
  readonly inPerMinute: number
  readonly outPerMinute: number
}

/** The time that rates look back, if the events that are read reach so far. */
const RATE_WINDOW_MS = 60_000
/** The newest events of a partition that are read. */
const RATE_EVENT_COUNT = 1_000

interface Sums {
  in: number
  out: number
}

export async function readRates(session: Session): Promise<Map<string, LaneRates>> {
  const sums = new Map<string, Sums>()
  await Promise.all(
    partitionsOf(session.settings, ['fp']).map(async (partition) => {
      const events = await newestEvents(session, partition)
      addRates(sums, events, session.runtime.now())
    }),
  )
  return new Map([...sums].map(([lane, sum]) => [lane, { inPerMinute: sum.in, outPerMinute: sum.out }]))
}

async function newestEvents({ batcher: { store } }: Session, partition: Partition): Promise<readonly StoredEvent[]> {
  const { lastSequence } = await store.readEvents(partition, Number.MAX_SAFE_INTEGER, 1)
  const { events } = await store.readEvents(partition, Math.max(0, lastSequence - RATE_EVENT_COUNT), RATE_EVENT_COUNT)
  return events
}

/** Adds the rates of one partition. If its events do not reach back a minute, the rate is that of the time they cover. */
function addRates(sums: Map<string, Sums>, events: readonly StoredEvent[], now: number): void {
  const isWhole = events.length < RATE_EVENT_COUNT
  const from = isWhole ? now - RATE_WINDOW_MS : Math.max(now - RATE_WINDOW_MS, events[0]?.at ?? 0)
  const minutes = Math.max(1, now - from) / 60_000
  for (const event of events) {
    const way = event.type === 'execution_created' ? 'in' : event.type === 'execution_ended' ? 'out' : undefined
    if (way === undefined || event.at < from) continue
    const sum = sums.get(event.lane) ?? { in: 0, out: 0 }
    sum[way] += 1 / minutes
    sums.set(event.lane, sum)
  }
}
