/** A task that a worker serves: its handler, and the counts of its running, waiting and requested executions. */
import type { Handler } from '../client/define/task.ts'

export class ServedTask {
  readonly name: string
  readonly handler: Handler
  /** The handler wrapped in its middleware. */
  readonly run: Handler['run']
  /** The concurrency limit of the task, if it is lower than that of the worker. */
  readonly limit: number | undefined
  runningCount = 0
  /** Claimed but not started. */
  waitingCount = 0
  /** Executions that pending claims may return; counted only for tasks with a limit. */
  requestedCount = 0

  constructor(handler: Handler, run: Handler['run'], limit: number | undefined) {
    this.name = handler.task.name
    this.handler = handler
    this.run = run
    this.limit = limit
  }

  get isSaturated(): boolean {
    return this.limit !== undefined && this.runningCount >= this.limit
  }
}
