/**
 * Compensations of executions that a worker runs without a connection to the store, and members that it skips. The functions stay in
 * the worker, which registers them again in every run. The store keeps their number, the record of each that has run, and the decision
 * that the execution does not complete.
 */
import { FAILURE_MESSAGE_BYTES } from '../../kernel/limits.ts'
import type { FailureInput, Instant, StepOutcome } from '../../kernel/index.ts'
import { invalidInput } from '../checks/names.ts'
import { UNDO_SUFFIX, checkStepName } from '../checks/step-names.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { endingLease } from './ending-lease.ts'
import { fenced } from './fenced.ts'

/** Why an execution undoes its steps, and how it ends. */
export interface LeaseUnwinding {
  readonly outcome: string
  readonly reason: string
  readonly by: string | undefined
  readonly at: Instant
}

/** Who has stopped an execution that is past its deadline, or has failed. */
const BY_ENGINE = 'engine'

export class LeaseUndo {
  readonly #session: () => Session

  constructor(session: () => Session) {
    this.#session = session
  }

  /** Stores how many compensations this run of the handler has registered. A number that was stored before changes nothing. */
  async register(id: string, lease: string, count: number): Promise<'registered' | 'already_registered'> {
    const session = this.#session()
    const holder = fenced(session, id, lease)
    return unwrap((await session.run(holder.executionId, 'registerCompensation', { ...holder, count })).result).kind
  }

  /** Records that a compensation has run, or has failed for good. A second record changes nothing. */
  async record(id: string, lease: string, name: string, failure?: string): Promise<string> {
    const session = this.#session()
    const outcome: StepOutcome =
      failure === undefined ? { kind: 'completed' } : failedOutcome(failureOf('error', failure))
    const holder = fenced(session, id, lease)
    const input = {
      ...holder,
      stepKind: 'call',
      name: checkStepName(name) + UNDO_SUFFIX,
      attemptCount: 1,
      isCompensation: true,
      outcome,
    } as const
    return unwrap((await session.run(holder.executionId, 'recordStep', input)).result).kind
  }

  /**
   * Ends an execution whose compensations have run, with the outcome that was decided before. Refuses one that nothing stops. A failure
   * says what went wrong while they ran.
   */
  async end(id: string, lease: string, failure?: string): Promise<'ended' | 'already_ended'> {
    const session = this.#session()
    const failed = failure === undefined ? undefined : failureOf('compensation_failed', failure)
    const ended = await endingLease(session, id, lease, async (holder) => {
      const { executionId } = holder
      const { execution } = unwrap((await session.run(executionId, 'describeExecution', { executionId })).result)
      const { state, unwinding } = execution
      const stop = unwinding ?? (state.phase === 'active' ? state.cancel : undefined)
      if (stop === undefined && state.phase === 'active') {
        throw invalidInput('id', 'Nothing has stopped the execution: report its result, or a failure.')
      }
      const { reason = '', by = BY_ENGINE } = stop ?? {}
      const input = { ...holder, reason, by, force: false, graceMs: 0, failure: failed }
      return unwrap((await session.run(executionId, 'cancelExecution', input)).result)
    })
    return ended.kind === 'already_cancelled' ? 'already_ended' : 'ended'
  }

  /** Skips a member of a flow whose condition is not met. One that is to undo its steps is left to a worker that does so. */
  async skip(id: string, lease: string): Promise<string> {
    const session = this.#session()
    const skipped = await endingLease(session, id, lease, async (holder) => {
      const { result } = await session.run(holder.executionId, 'skipExecution', holder)
      const answer = unwrap(result)
      if (answer.kind !== 'unwinding') return answer
      const reason = 'its steps are to be undone'
      return unwrap((await session.run(holder.executionId, 'releaseExecution', { ...holder, reason })).result)
    })
    return skipped.kind
  }
}

function failedOutcome(failure: FailureInput): StepOutcome {
  const { category, message } = failure
  return { kind: 'failed', failure, size: Buffer.byteLength(category) + Buffer.byteLength(message) }
}

function failureOf(category: string, message: string): FailureInput {
  if (Buffer.byteLength(message) <= FAILURE_MESSAGE_BYTES) return { category, message, stack: undefined }
  throw invalidInput('failure', `failure has more than ${FAILURE_MESSAGE_BYTES} bytes: shorten it.`)
}
