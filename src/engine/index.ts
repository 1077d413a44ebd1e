export * from './engine.ts'
export * from './metrics.ts'
