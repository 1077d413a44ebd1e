/** The part of pg-boss that the benchmarks use, so that they are type-checked without its package. */
declare module 'pg-boss' {
  export interface Job<Data> {
    readonly data: Data
  }

  interface WorkOptions {
    readonly localConcurrency: number
    readonly batchSize: number
    readonly burstWhenBatchFull: boolean
    readonly pollingIntervalSeconds: number
  }

  export class PgBoss {
    constructor(options: { readonly connectionString: string; readonly max: number; readonly useListenNotify: boolean })
    on(event: 'error', listener: (error: Error) => void): this
    start(): Promise<unknown>
    stop(options: { readonly graceful: boolean }): Promise<void>
    createQueue(name: string, options: { readonly notify: boolean }): Promise<void>
    isInstalled(): Promise<boolean>
    send(name: string, data: object): Promise<string | null>
    work<Data>(
      name: string,
      options: WorkOptions,
      handler: (jobs: readonly Job<Data>[]) => Promise<void>,
    ): Promise<string>
    getWipData(): readonly { readonly name: string; readonly count: number }[]
  }
}
