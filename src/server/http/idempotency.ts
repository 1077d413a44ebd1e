/** The header `Idempotency-Key`: a request that is sent again with it has no further effect. */
import { hash } from 'node:crypto'
import { checkKey } from '../../client/index.ts'
import { KEY_BYTES } from '../../kernel/limits.ts'

export interface Repeatable {
  /** The id of an execution whose submit names none. */
  readonly key: string | undefined
  /** Recognises a repetition of a submit that has an id, or of another call. */
  readonly requestId: string | undefined
  /** The key of one item of a batch. */
  item(index: number): Repeatable
}

const NONE: Repeatable = { key: undefined, requestId: undefined, item: () => NONE }

/** Room for the number of an item. */
const KEY_MAX_BYTES = KEY_BYTES - 8

export function checkIdempotencyKey(value: string): string {
  const key = checkKey(value, 'Idempotency-Key')
  return Buffer.byteLength(key) <= KEY_MAX_BYTES ? key : checkKey('', 'Idempotency-Key')
}

export function repeatable(key: string | undefined): Repeatable {
  if (key === undefined) return NONE
  return { key, requestId: requestIdOf(key), item: (index) => repeatable(`${key}#${index}`) }
}

/** A UUID of version 8, as the ids that are derived from keys. */
function requestIdOf(key: string): string {
  const hex = hash('sha256', key)
  const variant = (8 + (parseInt(hex.charAt(16), 16) & 3)).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
