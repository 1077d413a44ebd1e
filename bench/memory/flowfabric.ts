/** Executions of FlowFabric in each state. They are claimed directly, so that any number can be active at once. */
import { task } from '../../src/client/index.ts'
import type { Client } from '../../src/client/index.ts'
import { CLAIM_COUNT_MAX } from '../../src/kernel/index.ts'
import type { Claimed } from '../../src/kernel/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { claimByHand, completeByHand } from '../by-hand.ts'
import { withInFlight } from '../load.ts'
import { LANE, TASK_NAME, loadOf } from '../workload.ts'
import type { Load } from '../workload.ts'
import { GROWING_IN_FLIGHT, HOLD_MS, RESULT } from './population.ts'
import type { Populator } from './population.ts'

const noop = task<Load>(TASK_NAME, { lane: LANE })

export const flowfabricPopulator: Populator = {
  name: 'flowfabric',
  open: async (server) => {
    const fabric = await createFabric(server.location)
    const held: Claimed[] = []
    return {
      create: (count) => withInFlight(count, GROWING_IN_FLIGHT, (number) => fabric.submit(noop, loadOf(number))),
      claim: async (count) => {
        const goal = held.length + count
        for (let turn = 0; held.length < goal; turn++) {
          held.push(...(await claim(fabric, turn, goal - held.length)))
        }
      },
      complete: (count) => withInFlight(count, GROWING_IN_FLIGHT, () => complete(fabric, held.pop())),
      [Symbol.asyncDispose]: () => fabric.close(),
    }
  },
}

/** Asks one partition after the other, since new executions are spread over all of them. */
function claim(client: Client, turn: number, count: number): Promise<Claimed[]> {
  const partition = executionPartition(turn % client.batcher.store.settings.executionPartitions)
  const order = { task: TASK_NAME, count: Math.min(count, CLAIM_COUNT_MAX), leaseTtlMs: HOLD_MS }
  return claimByHand(client, partition, order)
}

async function complete(client: Client, claimed: Claimed | undefined): Promise<void> {
  if (claimed === undefined) throw new Error('There is nothing to complete.')
  await completeByHand(client, claimed, RESULT)
}
