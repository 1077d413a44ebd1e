/** A task that a worker serves: its handler, and the counts of its running, waiting and requested executions. */
import { servedVersions } from '../client/define/task.ts'
import type { Handler } from '../client/define/task.ts'
import { taskClass } from '../kernel/index.ts'

export class ServedTask {
  readonly name: string
  /** One class for each version that the handler serves. */
  readonly classes: readonly string[]
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
    const { name } = handler.task
    this.name = name
    this.classes = servedVersions(handler).map((version) => taskClass(name, version))
    this.handler = handler
    this.run = run
    this.limit = limit
  }

  get isSaturated(): boolean {
    return this.limit !== undefined && this.runningCount >= this.limit
  }
}
