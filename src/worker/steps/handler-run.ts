/**
 * Tracks the calls of one run of a handler. A call that may park the execution is sent alone, after all earlier calls have
 * completed. Once the execution is parked, no call of this run settles any more: the handler runs again from its first line.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { ExecutionCancelledError, StepRefusedError } from '../../client/define/errors.ts'
import type { Refused } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { EarlyExit, LeasedExecution } from '../lease/leased-execution.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'

export interface RunServices extends RetryServices {
  readonly keeper: LeaseKeeper
}

/** The step that the current async context runs in, and the execution that the step belongs to. */
const innermostStep = new AsyncLocalStorage<{ readonly leased: LeasedExecution; readonly step: string }>()

/** The result of a call that may park: an early exit of the run, or an answer. */
export type ParkResult<T> = { readonly earlyExit: EarlyExit } | { readonly earlyExit?: undefined; readonly answer: T }

/** Writes that are merged before they are sent, and so are not tracked as calls. Undefined if nothing is pending. */
export interface PendingWrites {
  readonly flushProgress: () => Promise<void> | undefined
  readonly storeFrames: () => Promise<void> | undefined
}

/** Calls that a parking call makes too, by their subjects: it does not wait for them. */
export interface CarriedCalls {
  readonly subjects: ReadonlySet<object>
  /** Makes them without the parking call: that one waits for another that parks, or the handler has returned. */
  readonly sendAlone: () => void
  /** Called once the parking call is over, or was not made. Ends the carried calls if they are still pending. */
  readonly end: () => void
}

export class HandlerRun {
  readonly #leased: LeasedExecution
  readonly #services: RunServices
  readonly #pending: PendingWrites
  /** Pending calls, with what they are about if that matters. */
  readonly #calls = new Map<Promise<unknown>, object | undefined>()
  /** The pending call that may park, and the last one in the queue. */
  #parking: Promise<unknown> | undefined
  #lastParking: Promise<unknown> | undefined
  #isClosed = false

  constructor(leased: LeasedExecution, services: RunServices, pending: PendingWrites) {
    this.#leased = leased
    this.#services = services
    this.#pending = pending
  }

  /**
   * Throws if the handler was aborted. A cancel request is delivered once, so that cleanup after it may use steps.
   */
  throwIfStopping(): void {
    const { refusal, earlyExit, abortReason, pendingCancel, isCancelDelivered } = this.#leased
    if (earlyExit !== undefined) return
    if (refusal !== undefined) throw refusal
    if (abortReason === undefined || (pendingCancel !== undefined && isCancelDelivered)) return
    this.#throwAbort()
  }

  /**
   * Whether work that starts now must not be done: the handler runs to undo its steps, and no call has thrown yet. Taken when
   * a call begins, so that of several concurrent calls none does its work.
   */
  get mustUnwind(): boolean {
    return this.#leased.unwinding !== undefined && !this.#leased.isCancelDelivered
  }

  /** Throws from the first call that has no recorded result in a run that undoes steps. */
  throwToUnwind(mustUnwind: boolean): void {
    if (mustUnwind) throw this.unwindingError()
  }

  /** Returns the error of a call that a run which undoes steps does not make. The handler counts as notified. */
  unwindingError(): ExecutionCancelledError {
    this.#leased.isCancelDelivered = true
    const { outcome, reason, by } = this.#leased.unwinding ?? {
      outcome: 'cancelled',
      reason: '',
      by: undefined,
    }
    return new ExecutionCancelledError(outcome, {
      executionId: this.#leased.id,
      message: by === undefined ? reason : `Requested by ${by}: ${reason}`,
    })
  }

  /** Throws the abort reason if the handler was aborted after `earlier`. */
  throwIfStoppedSince(earlier: EngineError | undefined): void {
    const { abortReason, earlyExit } = this.#leased
    this.#leased.throwIfRefused()
    if (earlyExit !== undefined || abortReason === undefined || abortReason === earlier) return
    this.#throwAbort()
  }

  /** Throws if the worker stops or the attempt timed out, but not after a cancel request. */
  throwIfInterrupted(): void {
    if (this.#leased.isInterrupted) this.throwIfStopping()
  }

  #throwAbort(): void {
    if (this.#leased.pendingCancel !== undefined) this.#leased.isCancelDelivered = true
    const reason = this.#leased.deliverAbort()
    if (reason !== undefined) throw reason
  }

  /**
   * Rejects durable calls inside a step. A replay skips the work of a recorded step, so names would be numbered differently; a
   * wait would deadlock with its own step.
   */
  throwInsideStep(what: string): void {
    const inside = innermostStep.getStore()
    if (inside?.leased !== this.#leased) return
    throw new StepRefusedError('invalid_input', {
      executionId: this.#leased.id,
      step: inside.step,
      message: `${what} was called inside step '${inside.step}': call it from the handler, after the step has returned.`,
    })
  }

  /** Returns the step of an execution that the current async context runs in. */
  static currentStep(leased: LeasedExecution): string | undefined {
    const inside = innermostStep.getStore()
    return inside?.leased === leased ? inside.step : undefined
  }

  /** Runs the work of a step in its async context. */
  inStep<T>(step: string, work: () => T): T {
    return innermostStep.run({ leased: this.#leased, step }, work)
  }

  /** Whether these are the only pending calls, so that a parking call made now may carry them. */
  hasOnly(subjects: ReadonlySet<object>): boolean {
    if (this.#isClosed || this.#lastParking !== undefined) return false
    return this.#callsBeside(subjects).length === 0
  }

  /** Makes a call that delays the end of the run until it completes. Never settles if the run has ended by then. */
  async call<T>(call: () => Promise<T>, subject?: object): Promise<T> {
    try {
      while (this.#parking !== undefined) await this.#parking
      if (this.#isClosed) return await never()
      this.#leased.throwIfRefused()
      const answer = await this.#track(call(), subject)
      if (this.#leased.earlyExit === undefined) return answer
    } catch (error) {
      if (this.#leased.earlyExit === undefined) throw this.#leased.refusal ?? error
    }
    return await never()
  }

  /** Makes a call that may park the execution. `read` interprets its reply. */
  async park<R, T>(call: () => Promise<R>, read: (result: R) => ParkResult<T>, carried?: CarriedCalls): Promise<T> {
    const before = this.#lastParking
    const parking = this.#parkAfter(before, call, read, carried)
    if (carried !== undefined) parking.then(carried.end, carried.end)
    const last = parking.catch(() => undefined)
    this.#lastParking = last
    try {
      const parked = await parking
      if (parked.earlyExit === undefined) return parked.answer
    } catch (error) {
      if (this.#leased.earlyExit === undefined) throw this.#leased.refusal ?? error
    } finally {
      if (this.#lastParking === last) this.#lastParking = undefined
    }
    return await never()
  }

  /** Resolves in the next iteration of the event loop, after everything that is ready to run. */
  yieldToEventLoop(): Promise<void> {
    return new Promise((resolve) => this.#services.runtime.soon(resolve))
  }

  /**
   * Ends the run: waits for pending calls, and sends no queued call that may park. Returns undefined if no call is
   * pending.
   */
  close(): Promise<void> | undefined {
    this.#isClosed = true
    return this.#calls.size === 0 && this.#parking === undefined ? this.#flush() : this.#finish([...this.#calls.keys()])
  }

  /** Converts a refusal into an error. A refusal of the lease marks the lease as lost. */
  refusalOf({ code, detail }: Refused): EngineError {
    switch (code) {
      case 'execution_not_active':
      case 'execution_not_found':
      case 'stale_lease':
      case 'lease_expired':
      case 'lease_revoked':
        this.#services.keeper.lose(this.#leased, code)
        return this.#leased.refusal ?? new EngineError(code, detail)
      default:
        return new EngineError(code, detail)
    }
  }

  /** Marks the run as ended by the store. Returns the error that refuses all later calls of this run. */
  exitEarly(earlyExit: EarlyExit): EngineError {
    this.#services.keeper.remove(this.#leased)
    return this.#leased.exitEarly(earlyExit)
  }

  async #parkAfter<R, T>(
    before: Promise<unknown> | undefined,
    call: () => Promise<R>,
    read: (result: R) => ParkResult<T>,
    carried: CarriedCalls | undefined,
  ): Promise<ParkResult<T>> {
    const leased = this.#leased
    if (before !== undefined) {
      // That call waits for all calls, those that this one would carry included.
      carried?.sendAlone()
      await before
    }
    // Completed calls let the handler continue, which may start more calls or end the run.
    await this.#flush()
    for (let calls; (calls = this.#callsBeside(carried?.subjects)).length > 0;) {
      await this.#finish(calls)
      await this.yieldToEventLoop()
    }
    await this.#flush()
    if (this.#isClosed) {
      carried?.sendAlone()
      return await never()
    }
    if (leased.earlyExit !== undefined) return { earlyExit: leased.earlyExit }
    leased.throwIfRefused()
    const parking = this.#parkNow(call, read)
    this.#parking = parking.catch(() => undefined)
    try {
      return await parking
    } finally {
      this.#parking = undefined
    }
  }

  async #parkNow<R, T>(call: () => Promise<R>, read: (result: R) => ParkResult<T>): Promise<ParkResult<T>> {
    const parked = read(await this.#callToPark(call))
    if (parked.earlyExit !== undefined) this.exitEarly(parked.earlyExit)
    return parked
  }

  /** While this call is pending, refusals of other calls are caused by it. */
  async #callToPark<R>(call: () => Promise<R>): Promise<R> {
    this.#leased.isParking = true
    // In the batch of the parking call.
    this.#leased.lines?.send()
    try {
      return await retryUntilAnswered(this.#services, this.#leased, call)
    } finally {
      this.#leased.isParking = false
    }
  }

  /** Resolves once the frames written so far are stored; undefined if there are none. Throws if they cannot be stored. */
  storeFrames(): Promise<void> | undefined {
    return this.#pending.storeFrames()
  }

  /** Returns undefined if nothing is pending. Ignores failures: those of frames are known to the context. */
  #flush(): Promise<void> | undefined {
    const progress = this.#pending.flushProgress()
    const frames = this.#pending.storeFrames()
    return frames === undefined ? progress : frames.catch(() => undefined).then(() => progress)
  }

  #callsBeside(subjects: ReadonlySet<object> | undefined): Promise<unknown>[] {
    const calls: Promise<unknown>[] = []
    for (const [call, subject] of this.#calls) {
      if (subject === undefined || subjects?.has(subject) !== true) calls.push(call)
    }
    return calls
  }

  async #finish(calls: readonly Promise<unknown>[]): Promise<void> {
    await Promise.allSettled([...calls, this.#parking])
    await this.#flush()
  }

  #track<T>(call: Promise<T>, subject: object | undefined): Promise<T> {
    const calls = this.#calls
    calls.set(call, subject)
    const forget = () => calls.delete(call)
    call.then(forget, forget)
    return call
  }
}

/** Creates a new promise for each call, so that abandoned handlers can be garbage collected. */
function never(): Promise<never> {
  return new Promise(() => undefined)
}
