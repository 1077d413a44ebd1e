/**
 * The position of a subscription in every log, as an opaque text. Each position has a mark of its event, so that a cursor
 * of a log that was replaced since is recognised.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import type { StoredEvent } from '../../stores/store.ts'

const VERSION = 'e2'
/** Its positions have no marks. */
const UNMARKED_VERSION = 'e1'
const MARKED = /^([0-9a-z]{1,11})(?:-([0-9a-z]{1,7}))?$/
const UNMARKED = /^([0-9a-z]{1,11})$/

/** A place in the log of one partition. */
export interface LogPosition {
  /** The last event that was processed. 0: none. */
  readonly sequence: number
  /** Distinguishes that event from others with its number; absent if none was read there. */
  readonly mark?: number | undefined
}

export function encodeCursor(positions: readonly LogPosition[]): string {
  return [VERSION, ...positions.map(encodePosition)].join('.')
}

function encodePosition({ sequence, mark }: LogPosition): string {
  const place = sequence.toString(36)
  return mark === undefined ? place : `${place}-${mark.toString(36)}`
}

/**
 * Parses a cursor. Refuses other texts, since cursors come from outside. A cursor may have only the positions of the first logs:
 * then it is from a time when the others were not read.
 */
export function decodeCursor(cursor: unknown, logCount: number, logCountMin = logCount): LogPosition[] {
  if (typeof cursor !== 'string') throw new EngineError('invalid_cursor', { field: 'cursor' })
  const [version, ...parts] = cursor.split('.')
  const form = version === VERSION ? MARKED : version === UNMARKED_VERSION ? UNMARKED : undefined
  if (form === undefined || parts.length > logCount || parts.length < logCountMin)
    throw new EngineError('invalid_cursor', { field: 'cursor' })
  return parts.map((part) => {
    const [, place, mark] = form.exec(part) ?? []
    const sequence = parseInt(place ?? '', 36)
    if (!Number.isSafeInteger(sequence)) throw new EngineError('invalid_cursor', { field: 'cursor' })
    return { sequence, mark: mark === undefined ? undefined : parseInt(mark, 36) }
  })
}

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Returns a number of 32 bits that distinguishes an event from another one that got its number in a replaced log. */
export function markOf({ at, type, executionId }: StoredEvent): number {
  let hash = FNV_OFFSET
  for (const character of `${at} ${type} ${executionId}`) hash = Math.imul(hash ^ character.charCodeAt(0), FNV_PRIME)
  return hash >>> 0
}
