/** The part of Graphile Worker that the benchmarks use, so that they are type-checked without its package. */
declare module 'graphile-worker' {
  import type { Pool } from 'pg'

  export class Logger {
    constructor(factory: () => () => void)
    info(message: string): void
  }

  interface WorkerUtils {
    migrate(): Promise<void>
    addJob(task: string, payload: unknown): Promise<unknown>
    release(): Promise<void>
  }

  export function makeWorkerUtils(options: { readonly pgPool: Pool; readonly logger: Logger }): Promise<WorkerUtils>

  export interface Runner {
    readonly events: {
      on(event: 'job:error' | 'pool:fatalError', listener: (event: { readonly error: unknown }) => void): unknown
    }
    stop(): Promise<void>
  }

  export interface RunnerOptions {
    readonly pgPool: Pool
    readonly logger: Logger
    readonly noHandleSignals: boolean
    readonly crontab: string
    readonly taskList: Record<string, (payload: unknown) => void>
    readonly preset?: {
      readonly worker?: {
        readonly concurrentJobs?: number
        readonly localQueue?: { readonly size: number }
        readonly completeJobBatchDelay?: number
        readonly failJobBatchDelay?: number
      }
    }
  }

  export function run(options: RunnerOptions): Promise<Runner>
}
