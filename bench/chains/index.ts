/** The systems whose chains FlowFabric's are measured beside, by the store that they share with it. */
import type { BenchStore } from '../bench-store.ts'
import type { ChainPeer } from './chain-peer.ts'

/** Loads the packages of the peers only where the store has any. */
export async function chainPeersOn(store: BenchStore): Promise<readonly ChainPeer[]> {
  if (store === 'valkey') return [(await import('./bullmq.ts')).bullmqChains]
  if (store === 'postgres') return [(await import('./dbos.ts')).dbosChains]
  return []
}
