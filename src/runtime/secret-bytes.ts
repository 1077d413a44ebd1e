/**
 * Chance that nobody may guess. It is no part of `Runtime`: a test that could repeat it would prove nothing about secrets,
 * and a fabric that was handed a repeatable runtime must still not sign with a secret that can be known.
 */
import { randomBytes } from 'node:crypto'

export function secretBytes(count: number): Buffer {
  return randomBytes(count)
}
