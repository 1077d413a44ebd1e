export * from './engine.ts'
export * from './runner/metrics.ts'
