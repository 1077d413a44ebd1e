/** Which stores are compared, and how the calls of a sequence reach them. */
import { memory, storeTargets } from '../conformance/targets.ts'
import type { Send, Side } from './side-by-side.ts'

/** Memory, with which all others are compared, and every other store: all sent to in the same way. */
export function everyStore(send: Send): [Side, ...Side[]] {
  const others = storeTargets.filter((target) => target !== memory)
  return [{ target: memory, send }, ...others.map((target) => ({ target, send }))]
}

/** Within the time that a test of this suite has: every sequence waits for the slowest of all stores. */
export const TIME_LIMIT_MS = 160_000

/** For the names of tests. */
export const storeNames = storeTargets.map(({ name }) => name).join(', ')
