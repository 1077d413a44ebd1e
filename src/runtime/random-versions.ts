/**
 * Versions of stored records: 8 random bytes as Latin-1 text. Not part of `Runtime`: two processes with the same version would
 * overwrite each other's records, so versions must be unique even where a test is deterministic.
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
