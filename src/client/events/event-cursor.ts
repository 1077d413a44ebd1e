/** The position of a subscription in every partition, as an opaque text. */
import { EngineError } from '../../kernel/engine-error.ts'

const VERSION = 'e1'

export function encodeCursor(positions: readonly number[]): string {
  return [VERSION, ...positions.map((position) => position.toString(36))].join('.')
}

/** Parses a cursor. Refuses other texts, since cursors come from outside. */
export function decodeCursor(cursor: unknown, partitionCount: number): number[] {
  if (typeof cursor !== 'string') throw new EngineError('invalid_cursor', { field: 'cursor' })
  const [version, ...parts] = cursor.split('.')
  const positions = parts.map((part) => (/^[0-9a-z]{1,11}$/.test(part) ? parseInt(part, 36) : Number.NaN))
  if (
    version !== VERSION ||
    positions.length !== partitionCount ||
    positions.some((position) => !Number.isSafeInteger(position))
  ) {
    throw new EngineError('invalid_cursor', { field: 'cursor' })
  }
  return positions
}
