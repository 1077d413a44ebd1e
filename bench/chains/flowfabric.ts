/** A chain of FlowFabric as a program writes it: a flow in which every node comes after the one before it. */
import { allOf, flow, task } from '../../src/client/index.ts'
import type { FlowNode } from '../../src/client/index.ts'
import { BATCH_BYTES, BATCH_OPERATION_LIMIT } from '../../src/kernel/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { LANE } from '../workload.ts'
import type { ChainPeer } from './chain-peer.ts'

interface ChainInput {
  readonly number: number
  readonly length: number
}

const link = task<{ readonly number: number }, number>('bench.link', { lane: LANE })

/** A link is given what the one before it answered; the first has none before it and begins with the chain's number. */
export const linkHandler = link.handle(({ number }, { inputs }) => {
  const [given = number] = Object.values(inputs) as number[]
  return given + 1
})

export const chainFlow = flow('bench.chain', (f, { number, length }: ChainInput) => {
  let last: FlowNode<number> = f.node(nodeName(0), link, { input: { number } })
  for (let place = 1; place < length; place++) {
    last = f.node(nodeName(place), link, { after: allOf(last), input: { number } })
  }
  return last
})

export const flowfabricChains: ChainPeer = {
  name: 'flowfabric',
  settings: { batchOperations: BATCH_OPERATION_LIMIT, batchBytes: BATCH_BYTES },
  open: async (place, { length, concurrency, prefetch }) => {
    const fabric = await createFabric(place.url)
    await fabric.work([linkHandler], { concurrency, prefetch })
    return {
      run: async (number) => {
        const handle = await fabric.submit(chainFlow, { number, length })
        return await handle.result()
      },
      completedLinkCount: async () => (await fabric.lanes(LANE))[0]?.counts.completed ?? 0,
      [Symbol.asyncDispose]: () => fabric.close(),
    }
  },
}

function nodeName(place: number): string {
  return `link${place}`
}
