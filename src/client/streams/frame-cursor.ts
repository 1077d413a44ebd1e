/** The position of a reader in the stream of one execution, as an opaque text. */
import { EngineError } from '../../kernel/engine-error.ts'

const VERSION = 'f1'
const PART = /^[0-9a-z]{1,11}$/
const PARTS = 6

export interface FramePosition {
  /** Identifies one life of an execution: another one has other frames. */
  readonly createdAt: number
  readonly life: number
  /** The chunk to continue with. */
  readonly chunk: number
  /** The last durable frame that was passed, and the last live one. */
  readonly sequence: number
  readonly live: number
  /** The attempt of the last item. */
  readonly attempt: number
}

export function encodeFrameCursor({ createdAt, life, chunk, sequence, live, attempt }: FramePosition): string {
  const parts = [createdAt, life, chunk, sequence, live, attempt]
  return [VERSION, ...parts.map((part) => part.toString(36))].join('.')
}

/** Refuses other texts, since cursors come from outside. */
export function decodeFrameCursor(cursor: unknown): FramePosition {
  const [version, ...parts] = typeof cursor === 'string' ? cursor.split('.') : []
  const numbers = parts.map((part) => (PART.test(part) ? parseInt(part, 36) : Number.NaN))
  if (version !== VERSION || numbers.length !== PARTS || !numbers.every((number) => Number.isSafeInteger(number))) {
    throw new EngineError('invalid_cursor', { field: 'from' })
  }
  const [createdAt = 0, life = 0, chunk = 0, sequence = 0, live = 0, attempt = 0] = numbers
  return { createdAt, life, chunk, sequence, live, attempt }
}
