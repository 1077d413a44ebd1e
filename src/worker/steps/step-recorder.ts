/** Records the outcome of a step. Fenced and idempotent, so it is retried until the lease is lost. */
import { StepRefusedError } from '../../client/define/errors.ts'
import type { EncodedValue } from '../../client/checks/payload.ts'
import type { Instant, RecordStepInput, StepOutcome, StepState } from '../../kernel/index.ts'
import type { Reply } from '../../stores/batcher.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { JournalServices } from './step-journal.ts'
import type { HandlerRun, ParkResult } from './handler-run.ts'

/** `known`: an outcome was recorded before, and takes precedence. */
export type Recorded =
  | { readonly kind: 'recorded'; readonly at: Instant }
  | { readonly kind: 'known'; readonly state: StepState; readonly value: Uint8Array | undefined }

export type StepReport = Pick<RecordStepInput, 'stepKind' | 'name' | 'attemptCount' | 'isCompensation'>

export class StepRecorder {
  readonly #leased: LeasedExecution
  readonly #services: JournalServices
  readonly #run: HandlerRun

  constructor(leased: LeasedExecution, services: JournalServices, run: HandlerRun) {
    this.#leased = leased
    this.#services = services
    this.#run = run
  }

  async record(report: StepReport, outcome: StepOutcome, encoded?: EncodedValue): Promise<Recorded> {
    const call = () => this.#send(report, outcome, encoded)
    const parked = this.#read(report, await retryUntilAnswered(this.#services, this.#leased, call))
    if (parked.earlyExit === undefined) return parked.answer
    // The execution was parked under this lease by another call, so this run is over.
    throw this.#run.exitEarly(parked.earlyExit)
  }

  /** Records a failure and parks the execution until the next try. Resolves only if the execution is not parked. */
  park(report: StepReport, outcome: Extract<StepOutcome, { kind: 'retry' }>): Promise<Recorded> {
    return this.#run.park(
      () => this.#send(report, { ...outcome, park: true }),
      (reply) => this.#read(report, reply),
    )
  }

  #send(report: StepReport, outcome: StepOutcome, encoded?: EncodedValue): Promise<Reply<'recordStep'>> {
    const { id: executionId, partition, claimed } = this.#leased
    const input = { executionId, fence: claimed.fence, ...report, outcome }
    const blobs = encoded === undefined ? [] : [encoded.bytes]
    return this.#services.batcher.run(partition, 'recordStep', input, blobs)
  }

  #read({ name }: StepReport, { result, blobs }: Reply<'recordStep'>): ParkResult<Recorded> {
    switch (result.kind) {
      case 'recorded':
        return { answer: { kind: 'recorded', at: result.at } }
      case 'already_recorded':
        return { answer: { kind: 'known', state: result.state, value: blobs[result.valueBlob ?? -1] } }
      case 'suspended':
      case 'already_suspended':
        return { earlyExit: 'parked' }
      case 'cancelled':
      case 'already_cancelled':
        return { earlyExit: 'cancelled' }
      case 'refused': {
        const refusal = this.#run.refusalOf(result)
        if (this.#leased.refusal !== undefined) throw refusal
        const message = `The outcome of step '${name}' is not recorded.`
        throw new StepRefusedError(refusal.code, { ...refusal.detail, step: name, message })
      }
    }
  }
}
