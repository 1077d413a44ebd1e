export * from './log.ts'
export * from './runtime.ts'
export * from './virtual.ts'
