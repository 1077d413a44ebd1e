/** Joins the parts of a worker: wake-ups lead to claims, claims to handlers, handlers to outcomes, outcomes to the next claims. */
import { declaredLimitsOf } from '../client/limits/declared-limits.ts'
import type { TokenSigner } from '../client/tokens/token.ts'
import { endWithin } from '../runtime/index.ts'
import type { Log, Runtime } from '../runtime/index.ts'
import type { Batcher } from '../stores/batcher.ts'
import type { Wake } from '../stores/store.ts'
import { Claimer } from './claim/claimer.ts'
import type { ClaimerSettings } from './claim/claimer.ts'
import { Slots } from './claim/slots.ts'
import type { FlowConditions } from './context/flow-conditions.ts'
import { sendProgress } from './context/progress.ts'
import { AttemptLog } from './dispatch/attempt-log.ts'
import { AttemptMeter } from './dispatch/attempt-meter.ts'
import { Dispatcher } from './dispatch/dispatcher.ts'
import type { DispatcherServices } from './dispatch/dispatcher.ts'
import { DrainController } from './dispatch/drain-controller.ts'
import { Settler } from './dispatch/settler.ts'
import type { SettlerServices } from './dispatch/settler.ts'
import { TurnEnd } from './dispatch/turn-end.ts'
import { CancelWatch } from './lease/cancel-watch.ts'
import { LeaseKeeper } from './lease/lease-keeper.ts'
import { Permits } from './permits/permits.ts'
import type { ServedTask, WorkerScope } from './served-task.ts'
import type { WorkerSettings } from './worker-options.ts'
import type { WorkerStats } from './worker-stats.ts'

/** How long closing a worker waits for its permits to be returned. Others lapse. */
const RETURN_MAX_MS = 1_000

export interface WorkLoopOptions {
  readonly batcher: Batcher
  readonly tokens: TokenSigner
  readonly runtime: Runtime
  readonly log: Log
  readonly settings: WorkerSettings & ClaimerSettings
  readonly tasks: readonly ServedTask[]
  readonly scope: WorkerScope
  readonly conditions: FlowConditions
  readonly onFabricClosed: () => void
}

export class WorkLoop {
  readonly drain: DrainController
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #slots: Slots
  readonly #cancelWatch: CancelWatch
  readonly #claimer: Claimer
  readonly #turnEnd: TurnEnd
  readonly #permits: Permits
  readonly #settler: Settler
  readonly #dispatcher: Dispatcher
  readonly #stopped = new AbortController()
  #stopListening: (() => void) | undefined

  constructor({ batcher, tokens, runtime, log, settings, tasks, scope, conditions, onFabricClosed }: WorkLoopOptions) {
    const attemptLog = new AttemptLog(log)
    const meter = new AttemptMeter(batcher.metrics, runtime)
    const health = batcher.health.loggedTo(log)
    const slots = new Slots(settings.concurrency, settings.prefetch, tasks, () => runtime.monotonic())
    const turnEnd = new TurnEnd(runtime, () => this.#onTurnEnd())
    const keeper = new LeaseKeeper(batcher, runtime, settings.leaseTtlMs, health, {
      onLost: (leased) => this.#dispatcher.drop(leased),
      onCancelRequested: (leased) => this.#dispatcher.cancelWaiting(leased),
      onTimedOut: (leased) => attemptLog.timedOut(leased),
    })
    const permits = new Permits(
      {
        services: { batcher, runtime, health, stopped: this.#stopped.signal },
        declared: declaredLimitsOf(batcher, runtime),
        workerInstanceId: settings.workerInstanceId,
        leaseTtlMs: settings.leaseTtlMs,
        freeSlots: () => slots.freeCount,
      },
      {
        onAdmitted: (leased) => this.#dispatcher.admitted(leased),
        onRefused: (leased, refusal) => this.#dispatcher.refused(leased, refusal),
        onRoom: (partition) => this.#claimer.sweepPartition(partition),
        requestTurn: () => turnEnd.request(),
        onLapsed: (leased) => keeper.lose(leased, 'lease_expired'),
      },
    )
    const claimer = new Claimer(
      { batcher, runtime, settings, tasks, lanes: settings.lanes, scope, slots, permits, health },
      { onReply: (reply) => this.#dispatcher.accept(reply), onUnanswered: () => turnEnd.request(), onFabricClosed },
    )
    const services: SettlerServices & DispatcherServices = {
      batcher,
      tokens,
      runtime,
      log,
      health,
      claimer,
      keeper,
      permits,
      conditions,
      refusal: settings.refusal,
      keptLevel: settings.keptLevel,
      stopped: this.#stopped.signal,
      sendProgress: (leased, report) => sendProgress(services, leased, report),
    }
    this.#batcher = batcher
    this.#runtime = runtime
    this.#slots = slots
    this.#turnEnd = turnEnd
    this.#permits = permits
    this.#claimer = claimer
    this.#cancelWatch = new CancelWatch(batcher, runtime, keeper, health)
    this.#settler = new Settler(services, slots, turnEnd, attemptLog, meter)
    this.#dispatcher = new Dispatcher({
      services,
      settings,
      tasks,
      slots,
      settler: this.#settler,
      turnEnd,
      log: attemptLog,
      meter,
    })
    this.drain = new DrainController({ claimer, dispatcher: this.#dispatcher, keeper, permits, slots, turnEnd })
  }

  get counts(): Omit<WorkerStats, 'state'> {
    const { runningCount, waitingCount, settlingCount } = this.#slots
    return {
      running: runningCount,
      waiting: waitingCount,
      settling: settlingCount,
      claimed: this.#dispatcher.claimedCount,
      settled: { ...this.#settler.counts },
    }
  }

  /** Returns the permits that no handler uses, within a bounded time. */
  async returnPermits(): Promise<void> {
    await endWithin(this.#runtime, RETURN_MAX_MS, this.#permits.close())
  }

  start(): void {
    const stopWakes = this.#batcher.store.onWake((wake) => this.#onWake(wake))
    const stopSubmits = this.#batcher.hints.onReady((partition, index) => {
      this.#onWake({ partition, ready: [index], hasEvents: false, holdersOf: [] })
    })
    this.#stopListening = () => {
      stopWakes()
      stopSubmits()
    }
    this.#claimer.start()
  }

  /** Drops everything at once; executions stay leased until their leases expire. Returns how many there were. */
  abandon(): number {
    this.#stopListening?.()
    this.#cancelWatch.close()
    this.#permits.abandon()
    const abandonedCount = this.drain.abandon()
    this.#stopped.abort()
    return abandonedCount
  }

  #onWake(wake: Wake): void {
    this.#cancelWatch.onWake(wake)
    if (this.#claimer.onWake(wake)) this.#turnEnd.request()
  }

  /** Keeps the order of calls in the batch of the turn: all outcomes first, then the claims. */
  #onTurnEnd(): void {
    const reported = this.#settler.flush()
    this.#permits.beforeClaims()
    this.#claimer.claim(reported)
    this.#permits.flush()
    this.drain.checkIdle()
  }
}
