/** What a program imports from `flowfabric/worker`. */
export { Fabric, createFabric } from './fabric/index.ts'
export type { EngineSettings, FabricOptions, FabricWorkerOptions } from './fabric/index.ts'
export { Worker, startWorker } from './worker/index.ts'
export type {
  Middleware,
  Settled,
  WorkerCloseOptions,
  WorkerOptions,
  WorkerState,
  WorkerStats,
  WorkerSummary,
} from './worker/index.ts'
