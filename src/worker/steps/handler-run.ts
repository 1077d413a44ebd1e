/**
 * One run of a handler as the store sees it: what it has said and not heard of yet, and how it lets go. One call at a time
 * may let go of the execution, and only once everything that was said before is answered. After that no call of this run
 * settles any more: the handler runs again from its top.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { StepRefusedError } from '../../client/define/errors.ts'
import type { Refused } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { EarlyExit, LeasedExecution } from '../lease/leased-execution.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'

export interface RunServices extends RetryServices {
  readonly keeper: LeaseKeeper
}

/** Whose step the present code belongs to, also if another execution began because of it. */
const innermostStep = new AsyncLocalStorage<{ readonly run: HandlerRun; readonly step: string }>()

/** What an answer to a call that may let go came to. */
export type ParkResult<T> = { readonly earlyExit: EarlyExit } | { readonly earlyExit?: undefined; readonly answer: T }

export class HandlerRun {
  readonly #leased: LeasedExecution
  readonly #services: RunServices
  /** Reports of progress are no calls of their own: they are merged. */
  readonly #flushProgress: () => Promise<void> | undefined
  readonly #calls = new Set<Promise<unknown>>()
  /** The call that may let go now, and the last of those that wait for their turn. */
  #parking: Promise<unknown> | undefined
  #lastParking: Promise<unknown> | undefined
  #isCancelDelivered = false
  #isClosed = false

  constructor(leased: LeasedExecution, services: RunServices, flushProgress: () => Promise<void> | undefined) {
    this.#leased = leased
    this.#services = services
    this.#flushProgress = flushProgress
  }

  /**
   * Refuses what must not begin any more. A wish to cancel is told once: what a handler does to clean up behind itself may
   * use steps.
   */
  throwIfStopping(): void {
    const { refusal, earlyExit, abortReason, pendingCancel } = this.#leased
    if (earlyExit !== undefined) return
    if (refusal !== undefined) throw refusal
    if (abortReason === undefined || (pendingCancel !== undefined && this.#isCancelDelivered)) return
    this.#isCancelDelivered = true
    throw abortReason
  }

  /** Throws what has told the handler to stop since something began. */
  throwIfStoppedSince(earlier: EngineError | undefined): void {
    const { abortReason, earlyExit } = this.#leased
    this.#leased.throwIfRefused()
    if (earlyExit !== undefined || abortReason === undefined || abortReason === earlier) return
    this.#isCancelDelivered = true
    throw abortReason
  }

  /**
   * What began inside a step would be left out when that step is answered from the store: names would be numbered
   * differently, and a wait would wait for the step that waits for it.
   */
  throwInsideStep(what: string): void {
    const inside = innermostStep.getStore()
    if (inside?.run !== this) return
    throw new StepRefusedError('invalid_input', {
      executionId: this.#leased.id,
      step: inside.step,
      message: `${what} was called inside of step '${inside.step}': return from the step first, and call it from the handler.`,
    })
  }

  /** Runs the work of a step. */
  inStep<T>(step: string, work: () => T): T {
    return innermostStep.run({ run: this, step }, work)
  }

  /** Makes a call that keeps the run from ending until it is answered. It does not settle if the run is over by then. */
  async call<T>(call: () => Promise<T>): Promise<T> {
    try {
      while (this.#parking !== undefined) await this.#parking
      if (this.#isClosed) return await never()
      this.#leased.throwIfRefused()
      const answer = await this.#track(call())
      if (this.#leased.earlyExit === undefined) return answer
    } catch (error) {
      if (this.#leased.earlyExit === undefined) throw this.#leased.refusal ?? error
    }
    return await never()
  }

  /** Makes a call that may let go of the execution. `read` says what its answer means. */
  async park<R, T>(call: () => Promise<R>, read: (result: R) => ParkResult<T>): Promise<T> {
    const before = this.#lastParking
    const parking = this.#parkAfter(before, call, read)
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

  /** Lets everything happen first that is ready to. */
  yieldToEventLoop(): Promise<void> {
    return new Promise((resolve) => this.#services.runtime.soon(resolve))
  }

  /**
   * The handler has come to its end. What it has said and not waited for is answered first; nothing else begins, and what
   * is still to let go of the execution does not. Undefined if there is nothing to wait for.
   */
  close(): Promise<void> | undefined {
    this.#isClosed = true
    return this.#calls.size === 0 && this.#parking === undefined ? this.#flushProgress() : this.#finishCalls()
  }

  /** A lease that is refused is lost. */
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

  /** The store has let go of the execution, or has ended it. Says what every call of this run is refused with. */
  exitEarly(earlyExit: EarlyExit): EngineError {
    this.#services.keeper.remove(this.#leased)
    return this.#leased.exitEarly(earlyExit)
  }

  async #parkAfter<R, T>(
    before: Promise<unknown> | undefined,
    call: () => Promise<R>,
    read: (result: R) => ParkResult<T>,
  ): Promise<ParkResult<T>> {
    const leased = this.#leased
    if (before !== undefined) await before
    // What is answered lets the handler go on, which may say something more, or come to its end.
    await this.#flushProgress()
    while (this.#calls.size > 0) {
      await this.#finishCalls()
      await this.yieldToEventLoop()
    }
    if (this.#isClosed) return await never()
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

  /** A refusal of any other call is due to this one as long as it is under way. */
  async #callToPark<R>(call: () => Promise<R>): Promise<R> {
    this.#leased.isParking = true
    try {
      return await retryUntilAnswered(this.#services, this.#leased, call)
    } finally {
      this.#leased.isParking = false
    }
  }

  async #finishCalls(): Promise<void> {
    await Promise.allSettled([...this.#calls, this.#parking])
    await this.#flushProgress()
  }

  #track<T>(call: Promise<T>): Promise<T> {
    const calls = this.#calls
    calls.add(call)
    const forget = () => calls.delete(call)
    call.then(forget, forget)
    return call
  }
}

/** One for each call: whoever waits for it must not be kept by anybody else. */
function never(): Promise<never> {
  return new Promise(() => undefined)
}
