/** The systems that FlowFabric is measured beside, by the store that they share with it. */
import type { BenchStore } from '../bench-store.ts'
import { bullmq } from './bullmq.ts'
import type { Peer } from './peer.ts'

export const peersOn: Readonly<Partial<Record<BenchStore, readonly Peer[]>>> = {
  valkey: [bullmq],
}
