/**
 * Cryptographically secure random bytes. Not part of `Runtime`: a fabric with a deterministic runtime must still sign with an
 * unpredictable secret.
 */
import { randomBytes } from 'node:crypto'

export function secretBytes(count: number): Buffer {
  return randomBytes(count)
}
