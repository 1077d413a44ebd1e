/** The systems whose chains FlowFabric's are measured beside, by the store that they share with it. */
import type { BenchStore } from '../bench-store.ts'
import { bullmqChains } from './bullmq.ts'
import type { ChainPeer } from './chain-peer.ts'
import { dbosChains } from './dbos.ts'

export const chainPeersOn: Readonly<Partial<Record<BenchStore, readonly ChainPeer[]>>> = {
  valkey: [bullmqChains],
  postgres: [dbosChains],
}
