export { TestFabric, testFabric } from './test-fabric.ts'
export type { TestFabricOptions, UntilOptions } from './test-fabric.ts'
