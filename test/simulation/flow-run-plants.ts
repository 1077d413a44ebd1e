/** Mistakes with the runs of flows: follow-ups that are lost or run again. */
import { puttingFlows, readingFlows } from './flow-plants.ts'
import { change } from './kernel-plants.ts'
import type { Plant } from './plant.ts'

export const flowRunPlants: readonly Plant[] = [
  {
    name: 'flow_follow_up_lost',
    mistake: 'a flow that ends forgets the follow-up that waits for it',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          puttingFlows(tx, (flow) => (flow.state.phase === 'ended' ? { ...flow, followUp: undefined } : flow)),
          input,
        ),
      ),
  },
  {
    name: 'flow_follow_up_run_twice',
    mistake: 'a submit of a flow that is repeated after its run has begun runs once more',
    plant: () =>
      change('submitFlow', (right, tx, input) => {
        if (input.ifExists !== 'after') return right(tx, input)
        const known = tx.get('flow', input.flowId)
        if (known?.requestId !== input.requestId) return right(tx, input)
        return right(
          readingFlows(tx, (flow) => {
            flow.requestId = 'another request'
          }),
          input,
        )
      }),
  },
]
