/** Which stores are compared, and how the calls of a sequence reach them. */
import { memory, storeTargets } from '../conformance/targets.ts'
import type { Send, Side } from './side-by-side.ts'

/** Memory, with which all others are compared, and every other store: all sent to in the same way. */
export function everyStore(send: Send): [Side, ...Side[]] {
  // After a conflict, independent operations of a batch may run in another order, and so may their events.
  const others = storeTargets.filter((target) => target !== memory).map((target) => target.steady ?? target)
  return [{ target: memory, send }, ...others.map((target) => ({ target, send }))]
}

/** For the names of tests. */
export const storeNames = storeTargets.map(({ name }) => name).join(', ')
