'use client'
/** What a page imports from `flowfabric/react`: hooks that follow one execution over the HTTP API. They need React 18 or later. */
export { useExecution } from './react/use-execution.ts'
export type { ExecutionView } from './react/use-execution.ts'
export { useFrames } from './react/use-frames.ts'
export type { FramesView, FramesViewOptions, SeenFrame } from './react/use-frames.ts'
export { useSummary } from './react/use-summary.ts'
export type { SummaryView } from './react/use-summary.ts'
export type { Following, FollowStatus } from './react/followed.ts'
