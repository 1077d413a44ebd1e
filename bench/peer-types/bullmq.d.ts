/** The part of BullMQ that the benchmarks use, so that they are type-checked without its package. */
declare module 'bullmq' {
  interface ConnectionOptions {
    readonly host: string
    readonly port: number
    readonly maxRetriesPerRequest: null
  }

  export interface JobsOptions {
    readonly delay?: number
    readonly attempts?: number
    readonly backoff?: { readonly type: 'fixed'; readonly delay: number }
    readonly removeOnComplete?: boolean
  }

  interface WorkerOptions {
    readonly connection: ConnectionOptions
    readonly concurrency?: number
    readonly autorun?: boolean
    readonly lockDuration?: number
  }

  export interface Job<Data = unknown, Result = unknown> {
    readonly data: Data
    readonly attemptsMade: number
    readonly opts: JobsOptions
    readonly token?: string
    getChildrenValues<Value>(): Promise<Record<string, Value>>
    moveToCompleted(result: Result, token: string, fetchNext: boolean): Promise<unknown>
  }

  export interface FlowJob {
    readonly name: string
    readonly queueName: string
    readonly data: unknown
    readonly children?: readonly FlowJob[]
  }

  class Connected {
    waitUntilReady(): Promise<unknown>
    close(): Promise<void>
    on(event: 'error', listener: (error: Error) => void): this
  }

  export class Queue<Data = unknown, Result = unknown> extends Connected {
    constructor(
      name: string,
      options: { readonly connection: ConnectionOptions; readonly defaultJobOptions?: JobsOptions },
    )
    add(name: string, data: Data, options?: JobsOptions): Promise<Job<Data, Result>>
    getCompletedCount(): Promise<number>
  }

  export class Worker<Data = unknown, Result = unknown> extends Connected {
    constructor(name: string, handler: ((job: Job<Data, Result>) => Promise<Result>) | null, options: WorkerOptions)
    readonly id: string
    run(): Promise<void>
    getNextJob(token: string, options: { readonly block: boolean }): Promise<Job<Data, Result>>
    override on(event: 'error', listener: (error: Error) => void): this
    override on(event: 'completed', listener: (job: Job<Data, Result>, result: Result) => void): this
    override on(event: 'failed', listener: (job: Job<Data, Result> | undefined, error: Error) => void): this
  }

  export class FlowProducer extends Connected {
    constructor(options: { readonly connection: ConnectionOptions })
    add(job: FlowJob): Promise<unknown>
  }
}
