/** Digests of inputs, by which submits with the same id are compared. */
import { createHash } from 'node:crypto'
import type { EncodedValue } from '../checks/payload.ts'

/**
 * Hashes an input as it is stored: its encoding and its bytes, or that there is none. So two inputs are the same only if
 * they are stored as the same bytes; objects whose properties have another order are not.
 */
export function digestOfInput(payload: EncodedValue | undefined): string {
  const hash = createHash('sha256')
  if (payload !== undefined) hash.update(`${payload.input.encoding}\n`).update(payload.bytes)
  return hash.digest('base64url')
}

/** Hashes bytes alone. */
export function digestOfBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url')
}
