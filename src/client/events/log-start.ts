/** Where a reader of the event log begins: now, at the oldest event kept, or after the event of a cursor. */
import { logPartitions } from '../../stores/partitions.ts'
import type { Partition, Store } from '../../stores/store.ts'
import { decodeCursor, encodeCursor, markOf } from './event-cursor.ts'
import type { LogPosition } from './event-cursor.ts'

export interface LogStart {
  readonly position: LogPosition
  /** Whether the log is not the one of the cursor any more. Then the position is before the first event kept. */
  readonly isReplaced: boolean
}

export interface StartOptions {
  readonly cursor?: string | undefined
  readonly fromStart?: boolean | undefined
}

/** Parses a cursor of a store. One from before the logs of budgets, lanes and workers were read has none of their positions. */
export function cursorOf(store: Store, cursor: unknown): LogPosition[] {
  const { settings } = store
  return decodeCursor(cursor, logPartitions(settings).length, settings.executionPartitions)
}

/** Returns the start in each log. Those that are not wanted are not checked. */
export async function logStarts(
  store: Store,
  { cursor, fromStart = false }: StartOptions,
  isWanted: (partition: Partition) => boolean = () => true,
): Promise<LogStart[]> {
  const given = cursor === undefined ? undefined : cursorOf(store, cursor)
  return await Promise.all(
    logPartitions(store.settings).map(async (partition, number) => {
      const position = given?.[number]
      if (position !== undefined && !isWanted(partition)) return { position, isReplaced: false }
      if (position !== undefined) return await resumeAt(store, partition, position)
      const { firstSequence, lastSequence } = await store.readEvents(partition, Number.MAX_SAFE_INTEGER, 1)
      if (fromStart) return { position: { sequence: firstSequence - 1 }, isReplaced: false }
      const mark = isWanted(partition) ? await markAt(store, partition, lastSequence) : undefined
      return { position: { sequence: lastSequence, mark }, isReplaced: false }
    }),
  )
}

/** Returns the mark of an event; undefined if the log does not keep it. */
async function markAt(store: Store, partition: Partition, sequence: number): Promise<number | undefined> {
  if (sequence === 0) return undefined
  const [found] = (await store.readEvents(partition, sequence - 1, 1)).events
  return found?.sequence === sequence ? markOf(found) : undefined
}

/**
 * Checks that the log still has the event of a position. After its server was restored, or lost its last events, the log ends
 * before the position, or has another event there.
 */
export async function resumeAt(store: Store, partition: Partition, position: LogPosition): Promise<LogStart> {
  const { sequence, mark } = position
  const page = await store.readEvents(partition, Math.max(0, sequence - 1), 1)
  const [found] = page.events
  const isOther = mark !== undefined && found?.sequence === sequence && markOf(found) !== mark
  const isReplaced = page.lastSequence < sequence || isOther
  return { position: isReplaced ? { sequence: page.firstSequence - 1 } : position, isReplaced }
}

/** Returns the cursor after the last event that is written now. */
export async function endOfLog(store: Store): Promise<string> {
  return encodeCursor((await logStarts(store, {})).map(({ position }) => position))
}
