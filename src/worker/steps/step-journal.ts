/**
 * The steps and signals that an execution recorded before this run of its handler. Read lazily, one page ahead of the handler.
 * An execution without recorded steps reads nothing.
 */
import { decodeHeld } from '../lease/held-value.ts'
import { STEP_PAGE_MAX, isMailbox } from '../../kernel/index.ts'
import type { Instant, Step, StepKind, StepView } from '../../kernel/index.ts'
import type { ReceivedSignal } from '../../client/define/waitable.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { HandlerRun, RunServices } from './handler-run.ts'

/** Signals that are read ahead when a signal has resumed the execution. */
const READ_AHEAD_SIGNAL_COUNT = 16

export interface JournalServices extends RunServices {
  readonly batcher: Batcher
}

export interface RecordedStep {
  readonly step: Step
  /** Whether the step has a final result, as opposed to a pending retry or wait. */
  readonly isFinal: boolean
  readonly value: Uint8Array | undefined
}

export class StepJournal {
  readonly #leased: LeasedExecution
  readonly #services: JournalServices
  readonly #run: HandlerRun
  readonly #steps = new Map<string, RecordedStep>()
  readonly #signals = new Map<number, ReceivedSignal>()
  /** The page that is being read. Undefined before the first and after the last. */
  #page: Promise<void> | undefined
  #nextPosition: number | undefined
  #signalPage: Promise<unknown> | undefined
  /** The store's clock minus the local monotonic clock, as of the last page. */
  #clockAheadMs = 0

  constructor(leased: LeasedExecution, services: JournalServices, run: HandlerRun) {
    this.#leased = leased
    this.#services = services
    this.#run = run
    this.#nextPosition = (leased.claimed.journal?.stepCount ?? 0) > 0 ? 0 : undefined
  }

  /** Starts to read at once if the execution resumes after a wait, because the handler is certain to need its steps. */
  readAhead(): void {
    const { journal } = this.#leased.claimed
    if (journal?.resumed === undefined) return
    this.#readNextPage()
    if (journal.resumed.cause !== 'signal') return
    this.#signalPage = this.#readSignals(1, READ_AHEAD_SIGNAL_COUNT)
    this.#signalPage.catch(() => undefined)
  }

  /** Returns the recorded step of a name, and removes it: each step is requested once per run. */
  async find(kind: StepKind, name: string): Promise<RecordedStep | undefined> {
    const key = `${kind}:${name}`
    for (;;) {
      const found = this.#steps.get(key)
      this.#steps.delete(key)
      if (found !== undefined) return found
      this.#readNextPage()
      if (this.#page === undefined) return undefined
      await this.#page
    }
  }

  /** Reads the steps from one position to another as they are now. */
  async readAgain(from: number, to: number, take: (step: Step, value: Uint8Array | undefined) => void): Promise<void> {
    for (let position: number | undefined = from; position !== undefined && position <= to;) {
      const limit = Math.min(STEP_PAGE_MAX, to - position + 1)
      const { page, blobs } = await this.#read(position, limit)
      for (const { step, valueBlob } of page.steps) take(step, blobs[valueBlob ?? -1])
      position = page.next
    }
  }

  /** Converts an instant of the store's clock into the remaining time. Valid only after a page was read. */
  untilMs(moment: Instant): number {
    return moment - (this.#services.runtime.monotonic() + this.#clockAheadMs)
  }

  /** Returns signals by sequence, in the given order. Reads following signals along with a missing one. */
  async signals(sequences: readonly number[]): Promise<ReceivedSignal[]> {
    await this.#signalPage
    const found: ReceivedSignal[] = []
    for (const sequence of sequences) {
      if (!this.#signals.has(sequence)) await this.#readSignals(sequence, undefined)
      const signal = this.#signals.get(sequence)
      if (signal === undefined) throw new EngineError('corruption', { message: `Signal ${sequence} is missing.` })
      this.#signals.delete(sequence)
      found.push(signal)
    }
    return found
  }

  #readNextPage(): void {
    if (this.#page !== undefined || this.#nextPosition === undefined) return
    const page = this.#readSteps(this.#nextPosition)
    this.#page = page
    // A failure is thrown by the next `find`.
    page.catch(() => undefined)
  }

  async #readSteps(from: number): Promise<void> {
    try {
      const { page, blobs } = await this.#read(from, undefined)
      this.#clockAheadMs = page.at - this.#services.runtime.monotonic()
      for (const view of page.steps) this.#addStep(view, blobs)
      this.#nextPosition = page.next
    } finally {
      this.#page = undefined
    }
    this.#readNextPage()
  }

  async #read(from: number, limit: number | undefined) {
    const { batcher } = this.#services
    const { id, partition } = this.#leased
    const input = { executionId: id, from, limit, values: true }
    const call = () => batcher.run(partition, 'readSteps', input)
    const { result, blobs } = await retryUntilAnswered(this.#services, this.#leased, call)
    if (result.kind === 'refused') throw this.#run.refusalOf(result)
    return { page: result, blobs }
  }

  #addStep({ step, isFinal, valueBlob }: StepView, blobs: readonly Uint8Array[]): void {
    this.#steps.set(`${step.kind}:${step.name}`, { step, isFinal, value: blobs[valueBlob ?? -1] })
  }

  async #readSignals(from: number, limit: number | undefined): Promise<void> {
    const { batcher } = this.#services
    const { id, partition } = this.#leased
    const input = { executionId: id, from, limit, payloads: true }
    const call = () => batcher.run(partition, 'readSignals', input)
    const { result, blobs } = await retryUntilAnswered(this.#services, this.#leased, call)
    if (result.kind === 'refused') throw this.#run.refusalOf(result)
    for (const { signal, payloadBlob } of result.signals) {
      const { name, target, source, at, sequence } = signal
      this.#signals.set(sequence, {
        name,
        waitpoint: isMailbox(target) ? undefined : target,
        value: decodeHeld(this.#leased, signal.payload, blobs[payloadBlob ?? -1]),
        by: { type: source.type, identity: source.identity },
        at,
        sequence,
      })
    }
  }
}
