export { TestFabric, testFabric } from './test-fabric.ts'
export type { TestFabricOptions } from './test-fabric.ts'
