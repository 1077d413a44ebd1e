/** Log lines about attempts that time out, lose their lease or cannot be reported. */
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
      'attempt timed out; its slot stays occupied until the handler reacts to ctx.signal',
    )
  }

  lost(leased: LeasedExecution): void {
    const { executionId, task, fence, flowId } = leased.claimed
    const fields = { executionId, task, attempt: fence.attempt, code: leased.refusal?.code }
    // A flow ends members that it no longer needs, such as the losers of a race.
    if (flowId !== undefined && leased.refusal?.code === 'execution_not_active') {
      this.#log.info({ ...fields, flowId }, 'execution was ended elsewhere; discarding the result of its handler')
      return
    }
    this.#log.warn(fields, 'lease lost; discarding the result of the handler, which another worker may run again')
  }

  /** The execution is offered to other workers after a delay, and fails after enough refusals. */
  unfit(leased: LeasedExecution, reason: string): void {
    const { executionId, task } = leased.claimed
    this.#log.warn(
      { executionId, task, reason },
      'input does not fit the schema of this worker; releasing the execution',
    )
  }

  unclassified(leased: LeasedExecution, error: unknown): void {
    this.#log.error(
      { executionId: leased.id, task: leased.task.name, ...errorFields(error) },
      'could not classify the outcome of an attempt; recording it as failed',
    )
  }

  unreported(leased: LeasedExecution, outcome: HandlerOutcome, error: unknown): void {
    this.#log.error(
      { executionId: leased.id, task: leased.task.name, outcome: outcome.kind, ...errorFields(error) },
      'could not report the outcome of an attempt; the execution is claimable again when its lease expires',
    )
  }

  unknownTask(executionId: string, task: string): void {
    this.#log.error({ executionId, task }, 'claimed an execution of a task that has no handler here; releasing it')
  }

  notReleased(executionId: string, error: unknown): void {
    this.#log.warn(
      { executionId, ...errorFields(error) },
      'could not release an execution; it is claimable again when its lease expires',
    )
  }
}
