import type { Runtime } from '../../runtime/index.ts'

const FIRST_MS = 50
const MAX_MS = 2_000

/** How long to wait before a server is tried again: doubles up to a bound, and is spread so that clients do not come back together. */
export function backoffMs(runtime: Runtime, tries: number): number {
  const waitMs = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(tries - 1, 10))
  return Math.ceil(waitMs * (0.5 + runtime.random() / 2))
}
