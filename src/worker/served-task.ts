/** A task as one worker serves it: its handler, and how many of its executions run, wait and are on their way. */
import type { Handler } from '../client/define/task.ts'

export class ServedTask {
  readonly name: string
  readonly handler: Handler
  /** The handler inside its middleware. */
  readonly run: Handler['run']
  /** How many may run at once, if less than the worker allows anyway. */
  readonly limit: number | undefined
  runningCount = 0
  /** Claimed and not started. */
  waitingCount = 0
  /** Executions that claims under way may bring; kept only for tasks with a limit of their own. */
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
