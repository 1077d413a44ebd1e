/** What a handler is given. Everything that most handlers never ask for is made when it is asked for. */
import type { ProgressReport, TaskContext } from '../client/context.ts'
import { tagsToObject } from '../client/names.ts'
import type { Tags } from '../client/names.ts'
import type { AttemptKind, ExecutionId } from '../kernel/index.ts'
import { errorFields } from '../runtime/index.ts'
import type { Log, LogFields, Runtime } from '../runtime/index.ts'
import type { HeldExecution } from './held-execution.ts'
import { ProgressReporter, parseProgress } from './progress.ts'

export interface ContextServices {
  readonly runtime: Runtime
  readonly log: Log
  /** Stores progress. Rejects when nothing more may be recorded of the execution. */
  readonly sendProgress: (held: HeldExecution, report: ProgressReport) => Promise<void>
}

export class HandlerContext implements TaskContext {
  /** A function of its own, so that a handler may take it out of its context. */
  readonly progress = (report: number | ProgressReport, message?: string): Promise<void> => {
    const stored = this.#report(report, message)
    // A handler that does not wait for its report must not bring the process down when that report fails.
    stored.catch((error: unknown) => this.log.warn(errorFields(error), 'progress was not stored'))
    return stored
  }
  readonly #held: HeldExecution
  readonly #services: ContextServices
  #tags: Tags | undefined
  #deadlineAt: number | undefined
  #log: Log | undefined
  #progress: ProgressReporter | undefined

  constructor(held: HeldExecution, services: ContextServices) {
    this.#held = held
    this.#services = services
  }

  get executionId(): ExecutionId {
    return this.#held.id
  }

  get key(): string | undefined {
    return this.#held.claimed.key
  }

  get task(): string {
    return this.#held.claimed.task
  }

  get lane(): string {
    return this.#held.claimed.lane
  }

  get namespace(): string {
    return this.#held.claimed.namespace
  }

  get tags(): Tags {
    return (this.#tags ??= tagsToObject(this.#held.claimed.tags))
  }

  get attempt(): number {
    return this.#held.claimed.fence.attempt
  }

  get attemptKind(): AttemptKind {
    return this.#held.claimed.attemptKind
  }

  get failureCount(): number {
    return this.#held.claimed.failureCount
  }

  /** An execution that was replaced after its end has the same id and is other work: its creation tells them apart. */
  get idempotencyKey(): string {
    const { executionId, createdAt } = this.#held.claimed
    return `${executionId}-${createdAt.toString(36)}`
  }

  get signal(): AbortSignal {
    return this.#held.signal
  }

  get deadlineAt(): number | undefined {
    if (this.#held.endsAt === Infinity) return undefined
    const { runtime } = this.#services
    return (this.#deadlineAt ??= Math.round(runtime.now() + this.#held.endsAt - runtime.monotonic()))
  }

  get log(): Log {
    return (this.#log ??= logOf(this.#held, this.#services.log))
  }

  /** Undefined if there is nothing to wait for. */
  settleProgress(): Promise<void> | undefined {
    return this.#progress?.settle()
  }

  async #report(report: number | ProgressReport, message: string | undefined): Promise<void> {
    const parsed = parseProgress(report, message)
    this.#progress ??= new ProgressReporter((merged) => this.#services.sendProgress(this.#held, merged))
    await this.#progress.report(parsed)
  }
}

function logOf(held: HeldExecution, log: Log): Log {
  const { executionId, task, fence } = held.claimed
  const known: LogFields = { executionId, task, attempt: fence.attempt }
  return {
    debug: (fields, message) => log.debug({ ...known, ...fields }, message),
    info: (fields, message) => log.info({ ...known, ...fields }, message),
    warn: (fields, message) => log.warn({ ...known, ...fields }, message),
    error: (fields, message) => log.error({ ...known, ...fields }, message),
  }
}
