export * from './log.ts'
export * from './runtime.ts'
export * from './secret-bytes.ts'
export * from './virtual.ts'
