/**
 * `ctx.compensate`: the undo functions that a run of a handler has registered. They run after the handler, the last registered
 * first, each as a step of its own, so that a crash repeats none that is recorded. Only their number is stored: every run
 * of the handler registers its functions again.
 */
import { StepRefusedError } from '../../client/define/errors.ts'
import type { StepFunction, StepOptions } from '../../client/define/context.ts'
import { invalidInput, show } from '../../client/checks/names.ts'
import { COMPENSATION_MAX, INCOMPLETE_RUN_MAX } from '../../kernel/index.ts'
import type { EngineError } from '../../kernel/engine-error.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import { HandlerRun } from './handler-run.ts'
import type { JournalServices, StepJournal } from './step-journal.ts'
import { UNDO_SUFFIX, checkStepName } from '../../client/checks/step-names.ts'
import type { StepNames } from './step-names.ts'
import { parseStepOptions } from './step-policy.ts'
import type { StepPolicy } from './step-policy.ts'
import { StepRunner } from './step-runner.ts'
import type { StepStreams } from './step-try.ts'

interface Compensation {
  readonly name: string
  readonly policy: StepPolicy
  readonly run: StepFunction<unknown>
}

/** A compensation that has failed for good. */
export interface FailedUndo {
  readonly name: string
  readonly error: Error
}

export class Compensations {
  readonly #leased: LeasedExecution
  readonly #services: JournalServices
  readonly #run: HandlerRun
  readonly #journal: StepJournal
  readonly #names: StepNames
  readonly #streams: () => StepStreams
  readonly #registered: Compensation[] = []
  #storedCount: number
  #isRunning = false

  constructor(
    leased: LeasedExecution,
    services: JournalServices,
    run: HandlerRun,
    journal: StepJournal,
    names: StepNames,
    streams: () => StepStreams,
  ) {
    this.#leased = leased
    this.#services = services
    this.#run = run
    this.#journal = journal
    this.#names = names
    this.#streams = streams
    this.#storedCount = leased.claimed.journal?.compensationCount ?? 0
  }

  /** How many this run has registered. */
  get count(): number {
    return this.#registered.length
  }

  /**
   * Registers synchronously, also after a cancel: the step that the function undoes may be done. Resolves once the number is
   * stored.
   */
  async register(givenName: string, optionsOrRun: unknown, given: unknown): Promise<void> {
    const [options, run] = given === undefined ? [undefined, optionsOrRun] : [optionsOrRun, given]
    const name = this.#names.next('undo', checkStepName(givenName))
    if (typeof run !== 'function') {
      throw invalidInput('run', `The work of compensation '${name}' is ${show(run)}, but must be a function.`)
    }
    const policy = parseStepOptions(options as StepOptions | undefined)
    // A branch of the handler that is still running must not add to compensations that run already.
    if (this.#isRunning) await new Promise(() => undefined)
    if (this.count >= COMPENSATION_MAX) throw tooMany(this.#leased, name)
    this.#registered.push({ name, policy, run: run as StepFunction<unknown> })
    if (this.count > this.#storedCount) await this.#run.call(() => this.storeCount())
  }

  /** Stores how many are registered, unless it is stored already. */
  async storeCount(): Promise<void> {
    const { count } = this
    if (count <= this.#storedCount) return
    const { id: executionId, partition, claimed } = this.#leased
    const input = { executionId, fence: claimed.fence, count }
    const call = () => this.#services.batcher.run(partition, 'registerCompensation', input)
    const { result } = await retryUntilAnswered(this.#services, this.#leased, call)
    if (result.kind === 'refused') throw this.#run.refusalOf(result)
    this.#storedCount = Math.max(this.#storedCount, count)
  }

  /** Runs all of them, the last registered first. Returns those that have failed for good; the others run nevertheless. */
  async run(): Promise<FailedUndo[]> {
    this.#isRunning = true
    // The run of the handler is closed, so that its branches start nothing more.
    const run = new HandlerRun(this.#leased, this.#services, {
      flushProgress: () => undefined,
      storeFrames: () => this.#run.storeFrames(),
    })
    const steps = new StepRunner(this.#leased, this.#services, run, this.#journal, this.#names, this.#streams)
    const failed: FailedUndo[] = []
    for (const { name, policy, run: work } of this.#registered.toReversed()) {
      const error = await this.#undo(() => steps.compensate(name + UNDO_SUFFIX, policy, work))
      if (error !== undefined) failed.push({ name, error })
    }
    return failed
  }

  /** A compensation that cannot be recorded has failed, too. */
  async #undo(compensate: () => Promise<Error | undefined>): Promise<Error | undefined> {
    try {
      return await compensate()
    } catch (error) {
      if (error instanceof StepRefusedError && this.#leased.refusal === undefined) return error
      throw error
    }
  }
}

/** Whether enough runs have registered too few compensations, so that this one runs those that it has registered. */
export function mayRunIncomplete({ unwinding }: LeasedExecution): boolean {
  return (unwinding?.incompleteRuns ?? 0) >= INCOMPLETE_RUN_MAX
}

function tooMany(leased: LeasedExecution, step: string): EngineError {
  return new StepRefusedError('step_limit_exceeded', {
    executionId: leased.id,
    step,
    limit: COMPENSATION_MAX,
    message: `An execution has at most ${COMPENSATION_MAX} compensations.`,
  })
}
