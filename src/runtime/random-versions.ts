/**
 * Versions of stored records: 8 random bytes as Latin-1 text. Not part of `Runtime`: two processes that drew the same version
 * would overwrite each other's records, so versions must not repeat even where a test repeats everything else.
 */
import { randomFillSync } from 'node:crypto'

const VERSION_BYTES = 8
const POOL_BYTES = 512 * VERSION_BYTES

export function versionGenerator(): () => string {
  const pool = Buffer.alloc(POOL_BYTES)
  let used = POOL_BYTES
  return () => {
    if (used === POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    used += VERSION_BYTES
    return pool.toString('latin1', used - VERSION_BYTES, used)
  }
}
