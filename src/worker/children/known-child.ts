/** A child as the current run of its parent's handler knows it: how it was started, and its last known record. */
import type { AnyTask } from '../../client/define/task.ts'
import type { ExecutionId, Step } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

export interface ChildPlan {
  /** The name that the handler passed. */
  readonly givenName: string
  /** The recorded name, which is numbered if the handler uses it again. */
  readonly name: string
  readonly task: AnyTask
  readonly isDetached: boolean
}

/** What the journal holds about a child. */
export interface ChildRecord {
  readonly id: ExecutionId
  /** The position of its step. */
  readonly position: number
}

export class KnownChild {
  readonly plan: ChildPlan
  /** Resolves once the journal has its step. */
  readonly recorded: Promise<ChildRecord>
  readonly #recorded = Promise.withResolvers<ChildRecord>()
  /** Its step once the child has ended, with the bytes of its result. */
  ended: { readonly step: Step; readonly value: Uint8Array | undefined } | undefined

  /** Whether its start has failed. */
  hasFailed = false

  constructor(plan: ChildPlan) {
    this.plan = plan
    this.recorded = this.#recorded.promise
    // The handler may not wait for it.
    this.recorded.catch(() => undefined)
  }

  record(record: ChildRecord): void {
    this.#recorded.resolve(record)
  }

  fail(error: unknown): void {
    this.hasFailed = true
    this.#recorded.reject(error)
  }

  /** Takes over a step as read from the journal. */
  read(step: Step, value: Uint8Array | undefined): void {
    if (step.child === undefined) {
      throw new EngineError('corruption', { step: step.name, message: `The record of child '${step.name}' has no id.` })
    }
    if (step.state.phase !== 'open') this.ended = { step, value }
    this.record({ id: step.child.executionId, position: step.position })
  }
}
