/** Where a reader of the event log begins: now, at the oldest event kept, or after the event of a cursor. */
import { executionPartition } from '../../stores/store.ts'
import type { Store } from '../../stores/store.ts'
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

/** Returns the start in each execution partition. */
export async function logStarts(store: Store, { cursor, fromStart = false }: StartOptions): Promise<LogStart[]> {
  const count = store.settings.executionPartitions
  const given = cursor === undefined ? undefined : decodeCursor(cursor, count)
  return await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const position = given?.[number]
      if (position !== undefined) return await resumeAt(store, number, position)
      const { firstSequence, lastSequence } = await store.readEvents(executionPartition(number), 0, 1)
      return { position: { sequence: fromStart ? firstSequence - 1 : lastSequence }, isReplaced: false }
    }),
  )
}

/**
 * Checks that the log still has the event of a position. After its server was restored, or lost its last events, the log ends
 * before the position, or has another event there.
 */
export async function resumeAt(store: Store, number: number, position: LogPosition): Promise<LogStart> {
  const { sequence, mark } = position
  const page = await store.readEvents(executionPartition(number), Math.max(0, sequence - 1), 1)
  const [found] = page.events
  const isOther = mark !== undefined && found?.sequence === sequence && markOf(found) !== mark
  const isReplaced = page.lastSequence < sequence || isOther
  return { position: isReplaced ? { sequence: page.firstSequence - 1 } : position, isReplaced }
}

/** Returns the cursor after the last event that is written now. */
export async function endOfLog(store: Store): Promise<string> {
  return encodeCursor((await logStarts(store, {})).map(({ position }) => position))
}
