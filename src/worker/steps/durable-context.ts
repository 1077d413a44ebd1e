/** The durable calls of a handler context. Created on first use. */
import { createHash } from 'node:crypto'
import type { TaskContext } from '../../client/define/context.ts'
import type { SleepArguments } from '../../client/define/sleep-arguments.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { Compensations } from './compensations.ts'
import { beginCall } from './durable-call.ts'
import { StepJournal } from './step-journal.ts'
import { checkStepName } from '../../client/checks/step-names.ts'
import { StepNames } from './step-names.ts'
import type { StepStreams } from './step-try.ts'
import { StepRunner } from './step-runner.ts'
import type { HandlerRun } from './handler-run.ts'
import { WaitRunner } from './wait-runner.ts'
import type { WaitArguments, WaitServices } from './wait-runner.ts'

type Durable = Pick<
  TaskContext,
  'step' | 'sleep' | 'sleepUntil' | 'waitFor' | 'waitpoint' | 'now' | 'random' | 'compensate'
>

/** Bits of the hash that form the fraction: the precision of a double. */
const FRACTION_BITS = 53

export class DurableContext implements Durable {
  readonly #leased: LeasedExecution
  readonly #run: HandlerRun
  readonly names = new StepNames()
  readonly journal: StepJournal
  readonly #steps: StepRunner
  readonly #waits: WaitRunner
  readonly compensations: Compensations

  constructor(leased: LeasedExecution, services: WaitServices, run: HandlerRun, streams: () => StepStreams) {
    this.#leased = leased
    this.#run = run
    this.journal = new StepJournal(leased, services, run)
    this.#steps = new StepRunner(leased, services, run, this.journal, this.names, streams)
    this.#waits = new WaitRunner(leased, services, run, this.journal, this.names)
    this.compensations = new Compensations(leased, services, run, this.journal, this.names, streams)
  }

  readAhead(): void {
    this.journal.readAhead()
  }

  /** Bound functions, so that handlers can destructure the context. */
  readonly step: Durable['step'] = <Value>(name: string, optionsOrRun: unknown, run?: unknown) =>
    this.#begin('step', () => this.#steps.step(name, optionsOrRun, run)) as Promise<Value>

  readonly sleep: Durable['sleep'] = (name, duration) => this.#begin('sleep', () => this.#waits.sleep(name, duration))

  readonly sleepUntil: Durable['sleepUntil'] = (...given: SleepArguments) =>
    this.#begin('sleepUntil', () => this.#waits.sleepUntil(...given))

  readonly waitFor: Durable['waitFor'] = <Answer>(...given: WaitArguments<Answer>) =>
    this.#begin('waitFor', () => this.#waits.waitFor(...given))

  readonly waitpoint: Durable['waitpoint'] = (key, options) =>
    this.#begin('waitpoint', () => this.#waits.waitpoint(key, options))

  readonly compensate: Durable['compensate'] = (name: string, optionsOrRun: unknown, run?: unknown) =>
    this.#begin('compensate', () => this.compensations.register(name, optionsOrRun, run))

  readonly now: Durable['now'] = (name = 'now') => this.#begin('now', () => this.#steps.now(name))

  /** The same in every replay: steps that a replay keeps may depend on it. */
  readonly random: Durable['random'] = (name = 'random') => {
    this.#run.throwInsideStep('ctx.random')
    const numbered = this.names.next('random', checkStepName(name))
    const hash = createHash('sha256').update(`${this.#leased.idempotencyKey}:random:${numbered}`).digest()
    return Number(hash.readBigUInt64BE() >> BigInt(64 - FRACTION_BITS)) / 2 ** FRACTION_BITS
  }

  #begin<T>(what: string, call: () => Promise<T>): Promise<T> {
    return beginCall(this.#run, what, call)
  }
}
