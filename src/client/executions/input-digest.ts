/** Digests of inputs, by which submits with the same id are compared. */
import { createHash } from 'node:crypto'
import type { CallCodec } from '../../stores/call-codec.ts'
import type { EncodedValue } from '../checks/payload.ts'

/** A codec with keys: the digest of a guessed input must not confirm the guess. */
export type InputDigests = Pick<CallCodec, 'digest'>

const NO_BYTES = new Uint8Array()

/**
 * Hashes an input as it is stored: its encoding and its bytes, or that there is none. So two inputs are the same only if
 * they are stored as the same bytes; objects whose properties have another order are not.
 */
export function digestOfInput(payload: EncodedValue | undefined, codec?: InputDigests): string {
  const keyed = codec?.digest(payload === undefined ? NO_BYTES : bytesToDigest(payload))
  if (keyed !== undefined) return keyed
  const hash = createHash('sha256')
  if (payload !== undefined) hash.update(`${payload.input.encoding}\n`).update(payload.bytes)
  return hash.digest('base64url')
}

function bytesToDigest({ input, bytes }: EncodedValue): Uint8Array {
  return Buffer.concat([Buffer.from(`${input.encoding}\n`), bytes])
}

/** Hashes bytes alone. */
export function digestOfBytes(bytes: Uint8Array, codec?: InputDigests): string {
  return codec?.digest(bytes) ?? createHash('sha256').update(bytes).digest('base64url')
}
