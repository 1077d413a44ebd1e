/** The log lines about attempts that did not end as their handlers intended. */
import { errorFields } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import type { HandlerOutcome } from '../attempt/handler-outcome.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'

export class AttemptLog {
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  timedOut(leased: LeasedExecution): void {
    const { executionId, task, fence } = leased.claimed
    this.#log.warn(
      { executionId, task, attempt: fence.attempt },
      'an attempt is out of time; its slot is free again once its handler obeys its signal',
    )
  }

  lost(leased: LeasedExecution): void {
    const { executionId, task, fence, flowId } = leased.claimed
    const fields = { executionId, task, attempt: fence.attempt, code: leased.refusal?.code }
    // A flow ends members that it no longer needs, such as the losers of a race.
    if (flowId !== undefined && leased.refusal?.code === 'execution_not_active') {
      this.#log.info({ ...fields, flowId }, 'an execution was ended elsewhere; what its handler did is not recorded')
      return
    }
    this.#log.warn(fields, 'a lease was lost; what its handler did is not recorded')
  }

  unclassified(leased: LeasedExecution, error: unknown): void {
    this.#log.error(
      { executionId: leased.id, task: leased.task.name, ...errorFields(error) },
      'an attempt could not be judged',
    )
  }

  unreported(leased: LeasedExecution, outcome: HandlerOutcome, error: unknown): void {
    this.#log.error(
      { executionId: leased.id, task: leased.task.name, outcome: outcome.kind, ...errorFields(error) },
      'the end of an attempt could not be stored; the execution is offered again when its lease expires',
    )
  }

  unknownTask(executionId: string, task: string): void {
    this.#log.error(
      { executionId, task },
      'a claim brought an execution of a task without a handler; it is handed back',
    )
  }

  notReleased(executionId: string, error: unknown): void {
    this.#log.warn({ executionId, ...errorFields(error) }, 'an execution could not be handed back; its lease expires')
  }
}
