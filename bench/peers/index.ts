/** The systems that FlowFabric is measured beside, by the store that they share with it. */
import type { BenchStore } from '../bench-store.ts'
import { bullmq } from './bullmq.ts'
import { graphileLocal, graphileWorker } from './graphile-worker.ts'
import type { Peer } from './peer.ts'
import { pgBoss, pgBossNotify } from './pg-boss.ts'

export const peersOn: Readonly<Partial<Record<BenchStore, readonly Peer[]>>> = {
  valkey: [bullmq],
  postgres: [pgBoss, pgBossNotify, graphileWorker, graphileLocal],
}
