/** Submits to lanes that an operator has stopped. */
import { submitHoldOf } from '../rules/lane-state.ts'
import { refused } from '../results.ts'
import type { Refused } from '../results.ts'
import type { Tx } from '../tx.ts'

export type HoldRefusal = Refused<'lane_draining' | 'lane_disabled'>

interface Submitted {
  readonly lane: string
  readonly task: string
}

/** Refuses a submit if its lane, or its task in the lane, is drained or disabled. */
export function refuseHeld(tx: Tx, { lane: name, task }: Submitted): HoldRefusal | undefined {
  const hold = submitHoldOf(tx.get('lane', name), task)
  if (hold === undefined) return undefined
  return refused(hold.state === 'disabled' ? 'lane_disabled' : 'lane_draining', {})
}

/** Refuses a graph if the lane, or the task in the lane, of one of its nodes is drained or disabled. */
export function refuseHeldNodes(tx: Tx, nodes: readonly { readonly create: Submitted }[]): HoldRefusal | undefined {
  for (const { create } of nodes) {
    const held = refuseHeld(tx, create)
    if (held !== undefined) return held
  }
  return undefined
}
