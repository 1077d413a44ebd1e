/**
 * `ctx.step` and `ctx.now`: work that is recorded once. The outcome is recorded under the fence of the lease before it is returned,
 * so later runs get the same value. Work that was not recorded, because its worker died or lost its lease, runs again with the
 * same idempotency key.
 */
import type { StepContext, StepFunction, StepOptions } from '../../client/define/context.ts'
import { PostponeError, StepFailedError, StepRefusedError } from '../../client/define/errors.ts'
import { invalidInput, show } from '../../client/checks/names.ts'
import { decodeValue, encodeValue } from '../../client/checks/payload.ts'
import type { EncodedValue } from '../../client/checks/payload.ts'
import { STEP_VALUE_BYTES } from '../../kernel/index.ts'
import type { Failure, FailureInput, Instant, StepState } from '../../kernel/index.ts'
import { sleep } from '../../runtime/index.ts'
import type { SpanSpec } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { decodeHeld } from '../lease/held-value.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { StepTry } from './step-try.ts'
import type { StepStreams } from './step-try.ts'
import type { JournalServices, StepJournal } from './step-journal.ts'
import { checkStepName } from '../../client/checks/step-names.ts'
import type { StepNames } from './step-names.ts'
import { failureBytes, parseStepOptions, stepFailureOf, stepRetryMs } from './step-policy.ts'
import type { StepPolicy } from './step-policy.ts'
import { StepQuestion } from './step-question.ts'
import { StepRecorder } from './step-recorder.ts'
import type { Recorded, StepReport } from './step-recorder.ts'
import type { HandlerRun } from './handler-run.ts'

/** A retry within this time keeps its worker; a later one parks the execution. */
const STEP_RETRY_HOLD_MS = 5_000

/** The progress of a step. `pause`: a try has failed, and the next one starts at `until` on the monotonic clock. */
type Progress =
  | { readonly kind: 'try'; readonly attempt: number }
  | Question
  | { readonly kind: 'pause'; readonly attempt: number; readonly until: number; readonly failure: FailureInput }
  | Ended

type Ended =
  { readonly kind: 'completed'; readonly value: unknown } | { readonly kind: 'failed'; readonly error: StepFailedError }

type Pause = Extract<Progress, { kind: 'pause' }>

/** The handler has to wait for something before the same try is made again. */
interface Question {
  readonly kind: 'question'
  readonly attempt: number
  readonly ask: () => Promise<void>
}

interface StepWork {
  readonly name: string
  readonly policy: StepPolicy
  readonly run: StepFunction<unknown>
  readonly isCompensation?: boolean
}

export class StepRunner {
  readonly #leased: LeasedExecution
  readonly #services: JournalServices
  readonly #run: HandlerRun
  readonly #journal: StepJournal
  readonly #names: StepNames
  readonly #streams: () => StepStreams
  readonly #recorder: StepRecorder

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
    this.#recorder = new StepRecorder(leased, services, run)
  }

  async step(name: string, optionsOrRun: unknown, run: unknown): Promise<unknown> {
    const work = this.#parse(name, optionsOrRun, run)
    const ended = await this.#runToEnd(work)
    if (ended.kind === 'failed') throw ended.error
    return ended.value
  }

  /** Runs a compensation. Its value is not stored. Returns its error if it has failed for good. */
  async compensate(name: string, policy: StepPolicy, run: StepFunction<unknown>): Promise<StepFailedError | undefined> {
    this.#run.throwIfStopping()
    const work = async (step: StepContext) => {
      await run(step)
    }
    const ended = await this.#runToEnd({ name, policy, run: work, isCompensation: true })
    return ended.kind === 'failed' ? ended.error : undefined
  }

  async now(givenName: string): Promise<Instant> {
    const name = this.#names.next('now', checkStepName(givenName))
    this.#run.throwIfStopping()
    const { mustUnwind } = this.#run
    return await this.#run.call(async () => {
      const found = await this.#journal.find('now', name)
      if (found !== undefined) return instantOf(name, found.step.state)
      this.#run.throwToUnwind(mustUnwind)
      const report = { stepKind: 'now', name, attemptCount: 1 } as const
      const recorded = await this.#recorder.record(report, { kind: 'completed' })
      return recorded.kind === 'recorded' ? recorded.at : instantOf(name, recorded.state)
    })
  }

  /** Numbers the name first, so that numbers follow the order of the calls. */
  #parse(givenName: string, optionsOrRun: unknown, run: unknown): StepWork {
    const [options, given] = run === undefined ? [undefined, optionsOrRun] : [optionsOrRun, run]
    const name = this.#names.next('call', checkStepName(givenName))
    if (typeof given !== 'function') {
      throw invalidInput('run', `The work of step '${name}' is ${show(given)}, but must be a function.`)
    }
    this.#run.throwIfStopping()
    return { name, policy: parseStepOptions(options as StepOptions | undefined), run: given as StepFunction<unknown> }
  }

  /** Runs a step until it has completed or failed for good. Parks the execution before a late retry. */
  async #runToEnd(work: StepWork): Promise<Ended> {
    const { mustUnwind } = this.#run
    let progress = await this.#run.call(async () => {
      const begun = await this.#begin(work.name)
      if (begun.kind !== 'completed' && begun.kind !== 'failed') this.#run.throwToUnwind(mustUnwind)
      return await this.#continue(work, begun)
    })
    while (progress.kind === 'pause' || progress.kind === 'question') {
      if (progress.kind === 'question') {
        const { attempt, ask } = progress
        await ask()
        progress = await this.#run.call(() => this.#continue(work, { kind: 'try', attempt }))
        continue
      }
      const paused = progress
      // Another step may have failed for good meanwhile, which ends the run without parking.
      await this.#run.yieldToEventLoop()
      const recorded = await this.#recorder.park(reportOf(work, paused.attempt), this.#retryOf(paused))
      progress = await this.#run.call(() => this.#continue(work, this.#progressAfter(work.name, recorded, paused)))
    }
    return progress
  }

  async #begin(name: string): Promise<Progress> {
    const found = await this.#journal.find('call', name)
    if (found === undefined) return { kind: 'try', attempt: 1 }
    const { state, attemptCount } = found.step
    // The execution has been retried since, so its failed steps start over.
    const isOver =
      state.phase === 'failed'
        ? !found.isFinal
        : state.phase === 'retrying' && state.round !== (this.#leased.claimed.journal?.round ?? 0)
    if (isOver) return { kind: 'try', attempt: 1 }
    return this.#progressOf(name, state, attemptCount, found.value)
  }

  #progressOf(name: string, state: StepState, attempt: number, value: Uint8Array | undefined): Progress {
    switch (state.phase) {
      case 'completed':
        return { kind: 'completed', value: decodeHeld(this.#leased, state.value, value) }
      case 'failed':
        return { kind: 'failed', error: new StepFailedError(name, failureInputOf(state.failure)) }
      case 'retrying': {
        const waitMs = this.#isRetryDue(name) ? 0 : this.#journal.untilMs(state.until)
        const until = this.#services.runtime.monotonic() + waitMs
        return { kind: 'pause', attempt, until, failure: failureInputOf(state.failure) }
      }
      case 'open':
      case 'closed':
        throw inconsistentStep(name)
    }
  }

  /** Whether the execution was resumed to retry this step, by its timer or by an operator. */
  #isRetryDue(name: string): boolean {
    const resumed = this.#leased.claimed.journal?.resumed
    return resumed?.cause === 'step_retry' && resumed.step === name
  }

  /** Runs a step as far as possible without parking. */
  async #continue(work: StepWork, from: Progress): Promise<Ended | Pause | Question> {
    let progress = from
    while (progress.kind === 'try' || progress.kind === 'pause') {
      if (progress.kind === 'try') {
        progress = await this.#try(work, progress.attempt)
        continue
      }
      const waitMs = progress.until - this.#services.runtime.monotonic()
      if (waitMs > STEP_RETRY_HOLD_MS) return progress
      if (waitMs > 0) await this.#pause(waitMs)
      progress = { kind: 'try', attempt: progress.attempt + 1 }
    }
    return progress
  }

  async #pause(waitMs: number): Promise<void> {
    const { abortReason } = this.#leased
    const signal = abortReason === undefined ? this.#leased.signal : undefined
    await sleep(this.#services.runtime, Math.ceil(waitMs), signal)
    this.#run.throwIfStoppedSince(abortReason)
  }

  async #try(work: StepWork, attempt: number): Promise<Progress> {
    const { name, policy } = work
    const { abortReason } = this.#leased
    const call = new StepTry(this.#leased, name, attempt, policy.timeoutMs, this.#streams)
    let value: unknown
    try {
      value = await this.#services.batcher.tracing.span(
        () => stepSpan(name, attempt),
        () => this.#run.inStep(name, () => call.run(work.run, this.#services.runtime)),
      )
    } catch (error) {
      // Aborted work has not failed: a later run continues it.
      this.#run.throwIfStoppedSince(abortReason)
      return await this.#recordFailure(work, attempt, error)
    }
    this.#leased.throwIfRefused()
    // Work that has an aborted signal may have returned a fallback.
    if (call.hasGivenSignal || this.#leased.hasGivenSignal) this.#run.throwIfInterrupted()
    const encoded = encodeStepValue(name, value, this.#services.batcher.valueLimit(STEP_VALUE_BYTES))
    // A recorded step is not run again, so its frames must be stored before.
    const frames = this.#run.storeFrames()
    if (frames !== undefined) await frames
    const outcome = { kind: 'completed', value: encoded?.input } as const
    const recorded = await this.#recorder.record(reportOf(work, attempt), outcome, encoded)
    if (recorded.kind === 'known') return this.#progressOf(name, recorded.state, attempt, recorded.value)
    return { kind: 'completed', value: asReplayed(encoded) }
  }

  async #recordFailure(work: StepWork, attempt: number, error: unknown): Promise<Progress> {
    const { name, policy } = work
    if (error instanceof StepQuestion) return { kind: 'question', attempt, ask: error.ask }
    if (error instanceof PostponeError || error instanceof StepRefusedError) throw error
    const failure = stepFailureOf(policy, error)
    const { runtime } = this.#services
    const delayMs = stepRetryMs(policy, attempt, error, failure.category, runtime.random())
    const report = reportOf(work, attempt)
    if (delayMs !== undefined) {
      const pause: Pause = { kind: 'pause', attempt, until: runtime.monotonic() + delayMs, failure }
      return this.#progressAfter(name, await this.#recorder.record(report, this.#retryOf(pause)), pause)
    }
    const recorded = await this.#recorder.record(report, { kind: 'failed', failure, size: failureBytes(failure) })
    // The original error is available only in this run.
    const failed: Progress = { kind: 'failed', error: new StepFailedError(name, failure, { cause: error }) }
    return recorded.kind === 'known' && recorded.state.phase !== 'failed'
      ? this.#progressOf(name, recorded.state, attempt, recorded.value)
      : failed
  }

  #progressAfter(name: string, recorded: Recorded, pause: Pause): Progress {
    return recorded.kind === 'recorded' ? pause : this.#progressOf(name, recorded.state, pause.attempt, recorded.value)
  }

  #retryOf({ failure, until }: Pause) {
    const delayMs = Math.max(0, Math.ceil(until - this.#services.runtime.monotonic()))
    return { kind: 'retry', failure, size: failureBytes(failure), delayMs, park: false } as const
  }
}

function stepSpan(name: string, attempt: number): SpanSpec {
  return { name: `step ${name}`, kind: 'internal', attributes: { 'flowfabric.step.attempt': attempt } }
}

function reportOf({ name, isCompensation }: StepWork, attemptCount: number): StepReport {
  return { stepKind: 'call', name, attemptCount, isCompensation }
}

/** A recorded failure without its timestamp. */
function failureInputOf({ category, message, stack }: Failure): FailureInput {
  return { category, message, stack }
}

function instantOf(name: string, state: StepState): Instant {
  if (state.phase === 'completed') return state.at
  throw inconsistentStep(name)
}

function inconsistentStep(step: string): EngineError {
  return new EngineError('corruption', { step, message: `The record of step '${step}' does not match its kind.` })
}

/** Decodes a value as later runs will. Copies bytes, so that the handler cannot change the stored ones. */
function asReplayed(encoded: EncodedValue | undefined): unknown {
  if (encoded?.input.encoding === 'bytes') return new Uint8Array(encoded.bytes)
  return decodeValue(encoded?.input, encoded?.bytes)
}

/** Throws if the value cannot be stored, because later runs could not return it. */
function encodeStepValue(name: string, value: unknown, limitBytes: number): EncodedValue | undefined {
  try {
    return encodeValue(value, `the value of step '${name}'`, limitBytes)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const code = error.code === 'invalid_input' ? 'invalid_output' : error.code
    throw new StepRefusedError(code, { ...error.detail, field: name, step: name }, { cause: error.cause })
  }
}
