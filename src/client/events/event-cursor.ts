/** Where a reader of events stands in every partition. Opaque to users: they keep it and hand it back. */
import { EngineError } from '../../kernel/engine-error.ts'

const VERSION = 'e1'

export function encodeCursor(positions: readonly number[]): string {
  return [VERSION, ...positions.map((position) => position.toString(36))].join('.')
}

/** A cursor comes from outside: whoever hands back something else is told so. */
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
