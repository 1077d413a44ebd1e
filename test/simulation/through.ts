/** When a world has nothing left to do. */
import type { Execution, Flow } from '../../src/kernel/index.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { flowsOf } from './dumped-flows.ts'
import { isKeptLong } from './flow-kinds.ts'
import { SHORT_RETENTION_MS } from './kind.ts'
import { isAllowedToWait } from './kinds.ts'
import type { World } from './world.ts'

/** Every client is through, every execution is at rest, nothing is in hand or on its way. */
export function isThrough({ plan, network, fleet }: World): boolean {
  if (network.onTheirWay > 0 || plan.some(({ isDone }) => !isDone) || !fleet.isIdle) return false
  return network.dumps.every((dump) => executionsOf(dump).every(isAtRest) && flowsOf(dump).every(isFlowAtRest))
}

/** What keeps a world from being through, in words. */
export function unfinishedProblems({ plan, network, fleet }: World): string[] {
  const stuck = network.dumps
    .flatMap((dump) => executionsOf(dump))
    .filter((execution) => !isAtRest(execution))
    .map(({ id, task, state }) =>
      state.phase === 'ended' ? `${id} outlives its retention` : `${id} (${task}) is still ${state.phase}`,
    )
  const flows = network.dumps
    .flatMap((dump) => flowsOf(dump))
    .filter((flow) => !isFlowAtRest(flow))
    .map(({ id, name, state }) => `${id} (${name}) is still ${state.phase}, or outlives its retention`)
  const unfinished = plan
    .filter(({ isDone }) => !isDone)
    .map(({ label }) => `${label} could not be finished with its client`)
  return [...stuck, ...flows, ...unfinished, ...(fleet.isIdle ? [] : ['a worker still has something in hand'])]
}

/** Ended, or left to wait for ever; what is kept for a moment only has to be gone. */
function isAtRest({ state, task, retentionMs, member }: Execution): boolean {
  if (state.phase !== 'ended') return isAllowedToWait(state, task)
  return member === undefined ? retentionMs > SHORT_RETENTION_MS : !member.owesEdges
}

/** Ended with all its members, or cancelled with them; members stay as long as their flow. */
function isFlowAtRest({ state, walk, retentionMs }: Flow): boolean {
  return (state.phase === 'ended' || state.phase === 'cancelled') && walk === undefined && isKeptLong(retentionMs)
}
