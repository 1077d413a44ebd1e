export { Fabric, createFabric } from './fabric.ts'
export type { EngineSettings, FabricOptions, FabricWorkerOptions } from './fabric.ts'
