/** Starts the handlers of claimed executions as slots become free, and releases executions that it cannot start. */
import { taskClass } from '../../kernel/index.ts'
import type { Claimed } from '../../kernel/index.ts'
import type { Timer } from '../../runtime/index.ts'
import type { Partition } from '../../stores/store.ts'
import type { HandlerOutcome } from '../attempt/handler-outcome.ts'
import { runAttempt } from '../attempt/run-attempt.ts'
import type { AnsweredClaim } from '../claim/claimer.ts'
import type { Slots } from '../claim/slots.ts'
import { HandlerContext } from '../context/handler-context.ts'
import type { ContextServices } from '../context/handler-context.ts'
import { failureOf } from '../error-text.ts'
import { LeasedExecution } from '../lease/leased-execution.ts'
import type { Refusal } from '../permits/permit-desk.ts'
import type { Permits } from '../permits/permits.ts'
import type { ServedTask } from '../served-task.ts'
import type { AttemptLog } from './attempt-log.ts'
import { attemptSpan, endOf } from './attempt-span.ts'
import type { AttemptMeter } from './attempt-meter.ts'
import type { Settler } from './settler.ts'
import type { TurnEnd } from './turn-end.ts'

/** How long handlers are started one after the other before the event loop continues. */
const TURN_MS = 10

const LEAVE: HandlerOutcome = { kind: 'leave' }
const CLOSING: HandlerOutcome = { kind: 'release', reason: 'the worker is closing' }
const CANCELLED: HandlerOutcome = { kind: 'release', reason: 'a cancel was requested' }
const NO_SLOT: HandlerOutcome = { kind: 'release', reason: 'the worker had no free slot' }

export interface DispatcherSettings {
  readonly leaseTtlMs: number
  readonly prefetchHoldMs: number
}

export interface DispatcherServices extends ContextServices {
  readonly permits: Permits
}

export interface DispatcherOptions {
  readonly services: DispatcherServices
  readonly settings: DispatcherSettings
  readonly tasks: readonly ServedTask[]
  readonly slots: Slots
  readonly settler: Settler
  readonly turnEnd: TurnEnd
  readonly log: AttemptLog
  readonly meter: AttemptMeter
}

export class Dispatcher {
  readonly #services: DispatcherServices
  readonly #settings: DispatcherSettings
  /** By the versions that they serve. */
  readonly #tasks: ReadonlyMap<string, ServedTask>
  readonly #slots: Slots
  readonly #settler: Settler
  readonly #turnEnd: TurnEnd
  readonly #log: AttemptLog
  readonly #meter: AttemptMeter
  claimedCount = 0
  #isDraining = false
  #isStartingLater = false
  #holdTimer: Timer | undefined

  constructor({ services, settings, tasks, slots, settler, turnEnd, log, meter }: DispatcherOptions) {
    this.#services = services
    this.#settings = settings
    this.#tasks = new Map(tasks.flatMap((task) => task.versions.map((version) => [version, task])))
    this.#slots = slots
    this.#settler = settler
    this.#turnEnd = turnEnd
    this.#log = log
    this.#meter = meter
  }

  /** Takes over the executions of a claim, and starts as many as there are slots for. */
  accept(reply: AnsweredClaim): void {
    this.#turnEnd.request()
    if (this.#services.stopped.aborted) return
    const { permits } = this.#services
    const { executions, at } = reply.result
    this.claimedCount += executions.length
    const times = { sentAt: reply.sentAt, at, leaseTtlMs: this.#settings.leaseTtlMs }
    for (const claimed of executions) {
      const task = this.#tasks.get(taskClass(claimed.task, claimed.version))
      if (task === undefined) {
        void this.#releaseUnknown(reply.partition, claimed)
        continue
      }
      const leased = new LeasedExecution(claimed, reply.partition, reply.blobs, task, times)
      leased.maxValueBytes = this.#services.batcher.codec?.maxBytes
      this.#services.keeper.add(leased)
      if (claimed.limits.length === 0 || permits.admit(leased, reply.hand)) this.#accept(leased)
      else this.#slots.countAdmitting(task, 1)
    }
    permits.claimed(reply.partition, reply.hand, reply.result.gates)
    this.#startWaiting()
    this.#limitWaiting()
  }

  /** Starts an execution that has got its permits, as soon as there is a slot. */
  admitted(leased: LeasedExecution): void {
    this.#slots.countAdmitting(leased.task, -1)
    this.#accept(leased)
    this.#startWaiting()
    this.#limitWaiting()
  }

  /** Gives back an execution without a permit. */
  refused(leased: LeasedExecution, refusal: Refusal): void {
    this.#slots.countAdmitting(leased.task, -1)
    if (leased.refusal === undefined) this.#settler.add(leased, { kind: 'block', refusal })
    else this.#settler.counts.left += 1
    this.#turnEnd.request()
  }

  /** An execution whose permits are complete may have been lost, cancelled or released meanwhile. */
  #accept(leased: LeasedExecution): void {
    const { permits } = this.#services
    if (leased.refusal === undefined && leased.pendingCancel === undefined && !this.#isDraining) {
      this.#slots.wait(leased)
      return
    }
    permits.release(leased, leased.refusal === undefined)
    if (leased.refusal !== undefined) this.#settler.counts.left += 1
    else this.#settler.add(leased, this.#isDraining ? CLOSING : CANCELLED)
  }

  /** Gives back an execution that has not started. It continues elsewhere, and is not counted by rates again. */
  #giveBack(leased: LeasedExecution, outcome: HandlerOutcome): void {
    this.#services.permits.release(leased, true)
    this.#settler.add(leased, outcome)
  }

  /** Starts nothing more, and releases the executions that wait for a slot. */
  drain(): void {
    this.#isDraining = true
    for (const leased of this.#slots.withdrawAll()) this.#giveBack(leased, CLOSING)
  }

  /** Starts nothing more, and drops the executions that wait for a slot. */
  abandon(): void {
    this.#isDraining = true
    this.#holdTimer?.cancel()
    this.#slots.withdrawAll()
  }

  /** Drops an execution whose lease was lost. A handler that runs continues until it reacts to its signal. */
  drop(leased: LeasedExecution): void {
    this.#log.lost(leased)
    this.#meter.lost(leased)
    if (!this.#slots.withdraw(leased)) return
    this.#services.permits.release(leased, false)
    this.#settler.counts.left += 1
  }

  /** Gives back an execution that waits for a slot, without starting its handler. The store applies the pending cancel. */
  cancelWaiting(leased: LeasedExecution): void {
    if (leased.pendingCancel !== undefined && this.#slots.withdraw(leased)) this.#giveBack(leased, CANCELLED)
  }

  /** Releases executions that have waited too long for a slot, so that a worker with a free slot can claim them. */
  #limitWaiting(): void {
    if (this.#holdTimer !== undefined || this.#slots.waitingCount === 0) return
    const { runtime } = this.#services
    const { prefetchHoldMs } = this.#settings
    const waitMs = this.#slots.waitingSince + prefetchHoldMs - runtime.monotonic()
    this.#holdTimer = runtime.after(Math.max(1, Math.ceil(waitMs)), () => {
      this.#holdTimer = undefined
      const moment = runtime.monotonic() - prefetchHoldMs
      for (const leased of this.#slots.withdrawWaitingSince(moment)) this.#giveBack(leased, NO_SLOT)
      this.#limitWaiting()
    })
  }

  /** Yields to the event loop after `TURN_MS`, so that handlers that compute without a pause do not block everything else. */
  #startWaiting(): void {
    if (this.#isStartingLater) return
    for (let leased = this.#slots.start(); leased !== undefined; leased = this.#slots.start()) {
      void this.#run(leased)
      if (this.#services.runtime.monotonic() - this.#turnEnd.beganAt > TURN_MS) {
        this.#startLater()
        return
      }
    }
  }

  #startLater(): void {
    if (this.#isStartingLater) return
    this.#isStartingLater = true
    this.#services.runtime.soon(() => {
      this.#isStartingLater = false
      this.#turnEnd.request()
      this.#startWaiting()
    })
  }

  async #run(leased: LeasedExecution): Promise<void> {
    const { keeper } = this.#services
    let outcome = LEAVE
    if (keeper.ensureLease(leased)) {
      keeper.begin(leased)
      this.#meter.started(leased)
      try {
        outcome = await this.#attempt(leased)
      } catch (error) {
        // Unexpected: an attempt returns an outcome for whatever its handler throws. The slot must still become free.
        this.#log.unclassified(leased, error)
        outcome = { kind: 'fail', failure: failureOf('error', error), retryAfterMs: undefined }
      }
    }
    this.#meter.stopped(leased)
    this.#slots.free(leased)
    this.#services.permits.release(leased, leased.isStarted)
    this.#settler.add(leased, outcome)
    this.#startWaiting()
  }

  #attempt(leased: LeasedExecution): Promise<HandlerOutcome> {
    return this.#services.batcher.tracing.span(
      () => attemptSpan(leased),
      () => runAttempt(leased, new HandlerContext(leased, this.#services)),
      (span, outcome) => {
        span.set('flowfabric.outcome', endOf(outcome))
        if (outcome.kind === 'fail') span.fail(outcome.failure.category)
      },
    )
  }

  /** Releases an execution of a task that this worker has no handler for. Unexpected: claims name the served tasks. */
  async #releaseUnknown(partition: Partition, claimed: Claimed): Promise<void> {
    const { executionId, fence, task } = claimed
    this.#log.unknownTask(executionId, task)
    try {
      const input = { executionId, fence, reason: 'no handler for this task' }
      await this.#services.batcher.run(partition, 'releaseExecution', input)
    } catch (error) {
      this.#log.notReleased(executionId, error)
    }
  }
}
