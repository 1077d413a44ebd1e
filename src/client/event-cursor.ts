/** Where a reader of events stands in every partition. Opaque to users: they keep it and hand it back. */
import { EngineError } from '../stores/engine-error.ts'

const VERSION = 'e1'

export function encodeCursor(positions: readonly number[]): string {
  return [VERSION, ...positions.map((position) => position.toString(36))].join('.')
}

export function decodeCursor(cursor: string, partitionCount: number): number[] {
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
