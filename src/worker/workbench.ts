/**
 * Where executions are worked on, from the claim to the end that the store knows of. Handlers that end in one turn are
 * settled together when it is over, so their calls and the next claim travel in one batch.
 */
import type { TokenSigner } from '../client/tokens/token.ts'
import type { Claimed } from '../kernel/index.ts'
import { errorFields } from '../runtime/index.ts'
import type { Log, Runtime, Timer } from '../runtime/index.ts'
import type { Batcher } from '../stores/batcher.ts'
import { EngineError } from '../kernel/engine-error.ts'
import type { Partition, Wake } from '../stores/store.ts'
import { runAttempt } from './attempt/run-attempt.ts'
import { failureOf } from './attempt/error-text.ts'
import { groupQueues } from './claim/claim-group.ts'
import { Claimer } from './claim/claimer.ts'
import type { ClaimerSettings, Haul } from './claim/claimer.ts'
import { HandlerContext } from './context/handler-context.ts'
import type { ContextServices } from './context/handler-context.ts'
import { HeldExecution } from './lease/leased-execution.ts'
import { HolderWatch } from './lease/cancel-watch.ts'
import { LeaseKeeper } from './lease/lease-keeper.ts'
import type { WorkerSettings } from './worker-options.ts'
import { sendProgress } from './attempt/progress-call.ts'
import type { ServedTask } from './claim/served-task.ts'
import { settle } from './attempt/report-outcome.ts'
import type { SettlementServices } from './attempt/report-outcome.ts'
import { Slots } from './claim/slots.ts'
import { StoreHealth } from './store/store-health.ts'
import type { Verdict } from './attempt/attempt-outcome.ts'
import { emptyCounts } from './worker-stats.ts'
import type { WorkerStats } from './worker-stats.ts'

/** How long handlers are started one after the other before the event loop gets its turn. */
const TURN_MS = 10

const LEAVE: Verdict = { kind: 'leave' }
const HAND_BACK: Verdict = { kind: 'release', reason: 'the worker is closing' }
const NO_SLOT: Verdict = { kind: 'release', reason: 'the worker had no free slot' }

export interface WorkbenchOptions {
  readonly batcher: Batcher
  readonly tokens: TokenSigner
  readonly runtime: Runtime
  readonly log: Log
  readonly settings: WorkerSettings & ClaimerSettings
  readonly tasks: readonly ServedTask[]
  readonly onFabricClosed: () => void
}

export class Workbench {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #settings: WorkerSettings & ClaimerSettings
  readonly #tasks: ReadonlyMap<string, ServedTask>
  readonly #slots: Slots
  readonly #keeper: LeaseKeeper
  readonly #watch: HolderWatch
  readonly #claimer: Claimer
  readonly #stopped = new AbortController()
  readonly #services: SettlementServices & ContextServices
  readonly #settledCounts = emptyCounts()
  #claimedCount = 0
  #ended: { readonly held: HeldExecution; readonly verdict: Verdict }[] = []
  #isTurnEndAwaited = false
  #turnBeganAt = 0
  #isStartingLater = false
  #holdTimer: Timer | undefined
  #isDraining = false
  #stopListening: (() => void) | undefined
  #onQuiet: (() => void) | undefined

  constructor({ batcher, tokens, runtime, log, settings, tasks, onFabricClosed }: WorkbenchOptions) {
    this.#batcher = batcher
    this.#runtime = runtime
    this.#log = log
    this.#settings = settings
    this.#tasks = new Map(tasks.map((task) => [task.name, task]))
    this.#slots = new Slots(settings.concurrency, settings.prefetch, tasks, () => runtime.monotonic())
    const health = new StoreHealth(log)
    this.#keeper = new LeaseKeeper(batcher, runtime, settings.leaseTtlMs, health, {
      onLost: (held) => this.#onLost(held),
      onCancelWished: (held) => this.#onCancelWished(held),
      onTimedOut: (held) => this.#sayTimedOut(held),
    })
    this.#watch = new HolderWatch(batcher, runtime, this.#keeper, health)
    const groups = groupQueues(tasks, settings.lanes)
    this.#claimer = new Claimer(
      { batcher, runtime, settings, groups, slots: this.#slots, health },
      { onHaul: (haul) => this.#take(haul), onUnanswered: () => this.#awaitTurnEnd(), onFabricClosed },
    )
    this.#services = {
      batcher,
      tokens,
      runtime,
      log,
      health,
      claimer: this.#claimer,
      keeper: this.#keeper,
      stopped: this.#stopped.signal,
      sendProgress: (held, report) => sendProgress(this.#services, held, report),
    }
  }

  get counts(): Omit<WorkerStats, 'state'> {
    const { runningCount, waitingCount, settlingCount } = this.#slots
    return {
      running: runningCount,
      waiting: waitingCount,
      settling: settlingCount,
      claimed: this.#claimedCount,
      settled: { ...this.#settledCounts },
    }
  }

  /** Whether nothing is under way. */
  get isQuiet(): boolean {
    const { runningCount, waitingCount, settlingCount } = this.#slots
    return runningCount + waitingCount + settlingCount + this.#claimer.underWayCount === 0
  }

  start(): void {
    const stopHearing = this.#batcher.store.onWake((wake) => this.#hear(wake))
    const stopExpecting = this.#batcher.hints.onReady((partition, index) => {
      this.#hear({ partition, ready: [index], hasEvents: false, holdersOf: [] })
    })
    this.#stopListening = () => {
      stopHearing()
      stopExpecting()
    }
    this.#claimer.sweep()
  }

  /** Takes in nothing more and hands back what has not been started. */
  drain(): void {
    this.#isDraining = true
    this.#claimer.close()
    for (const held of this.#slots.withdrawAll()) this.#end(held, HAND_BACK)
  }

  /** Tells every handler to stop. */
  abortRunning(): void {
    for (const held of this.#keeper) held.abort(new EngineError('worker_stopping', { executionId: held.id }))
  }

  /** Calls back once nothing is under way. */
  onceQuiet(callback: () => void): void {
    this.#onQuiet = callback
    this.#awaitTurnEnd()
  }

  /** Lets go of everything at once: it stays leased until the leases expire. Says how many executions were in hand. */
  abandon(): number {
    this.#isDraining = true
    this.#stopListening?.()
    this.#claimer.abandon()
    this.#watch.close()
    this.#holdTimer?.cancel()
    this.#slots.withdrawAll()
    for (const held of this.#keeper) held.refuse(new EngineError('worker_stopping', { executionId: held.id }))
    this.#keeper.close()
    this.#stopped.abort()
    return this.#slots.runningCount + this.#slots.settlingCount
  }

  #hear(wake: Wake): void {
    this.#watch.hear(wake)
    if (this.#claimer.hear(wake)) this.#awaitTurnEnd()
  }

  #take(haul: Haul): void {
    this.#awaitTurnEnd()
    if (this.#stopped.signal.aborted) return
    const { executions, at } = haul.result
    this.#claimedCount += executions.length
    const times = { sentAt: haul.sentAt, at, leaseTtlMs: this.#settings.leaseTtlMs }
    for (const claimed of executions) {
      const task = this.#tasks.get(claimed.task)
      if (task === undefined) {
        void this.#handBackUnknown(haul.partition, claimed)
        continue
      }
      const held = new HeldExecution(claimed, haul.partition, haul.blobs, task, times)
      this.#keeper.add(held)
      if (this.#isDraining) this.#end(held, HAND_BACK)
      else this.#slots.wait(held)
    }
    this.#startWaiting()
    this.#limitWaiting()
  }

  /** What was claimed ahead and finds no slot goes back, so that a worker with a free one can take it. */
  #limitWaiting(): void {
    if (this.#holdTimer !== undefined || this.#slots.waitingCount === 0) return
    const { prefetchHoldMs } = this.#settings
    const waitMs = this.#slots.waitingSince + prefetchHoldMs - this.#runtime.monotonic()
    this.#holdTimer = this.#runtime.after(Math.max(1, Math.ceil(waitMs)), () => {
      this.#holdTimer = undefined
      const moment = this.#runtime.monotonic() - prefetchHoldMs
      for (const held of this.#slots.withdrawWaitingSince(moment)) this.#end(held, NO_SLOT)
      this.#limitWaiting()
    })
  }

  /** Handlers that compute without a pause would otherwise run one after the other and keep everything else waiting. */
  #startWaiting(): void {
    if (this.#isStartingLater) return
    for (let held = this.#slots.start(); held !== undefined; held = this.#slots.start()) {
      void this.#run(held)
      if (this.#runtime.monotonic() - this.#turnBeganAt > TURN_MS) {
        this.#startLater()
        return
      }
    }
  }

  #startLater(): void {
    if (this.#isStartingLater) return
    this.#isStartingLater = true
    this.#runtime.soon(() => {
      this.#isStartingLater = false
      this.#awaitTurnEnd()
      this.#startWaiting()
    })
  }

  async #run(held: HeldExecution): Promise<void> {
    const verdict = this.#keeper.isSafe(held) ? await this.#attempt(held) : LEAVE
    this.#slots.free(held)
    this.#end(held, verdict)
    this.#startWaiting()
  }

  async #attempt(held: HeldExecution): Promise<Verdict> {
    this.#keeper.begin(held)
    try {
      return await runAttempt(held, new HandlerContext(held, this.#services))
    } catch (error) {
      // Not supposed to happen; but no handler may take the worker down or keep its slot for ever.
      this.#log.error(
        { executionId: held.id, task: held.task.name, ...errorFields(error) },
        'an attempt could not be judged',
      )
      return { kind: 'fail', failure: failureOf('error', error), retryAfterMs: undefined }
    }
  }

  /** Nothing remains but to tell the store. */
  #end(held: HeldExecution, verdict: Verdict): void {
    held.isSettling = true
    this.#slots.settlingCount += 1
    this.#ended.push({ held, verdict })
    this.#awaitTurnEnd()
  }

  /** When all that is ready to run in this turn has run, and before the batch of the turn is sent. */
  #awaitTurnEnd(): void {
    if (this.#isTurnEndAwaited) return
    this.#isTurnEndAwaited = true
    this.#turnBeganAt = this.#runtime.monotonic()
    process.nextTick(() => this.#onTurnEnd())
  }

  #onTurnEnd(): void {
    this.#isTurnEndAwaited = false
    const ended = this.#ended
    this.#ended = []
    for (const { held, verdict } of ended) {
      void this.#settle(held, verdict)
      // What the end of a member releases is claimed in the same batch, behind all the ends of this turn.
      if (held.claimed.flowId !== undefined && verdict.kind === 'complete') this.#claimer.lookAt(held.partition)
    }
    this.#claimer.claim()
    if (this.#onQuiet === undefined || !this.isQuiet) return
    this.#onQuiet()
    this.#onQuiet = undefined
  }

  async #settle(held: HeldExecution, verdict: Verdict): Promise<void> {
    try {
      const settled = await settle(this.#services, held, verdict)
      this.#settledCounts[settled] += 1
      if (settled === 'lost') this.#warnOfLoss(held)
    } catch (error) {
      this.#settledCounts.lost += 1
      // A lease that was lost meanwhile has been warned of; anything else is not supposed to happen.
      if (held.refusal === undefined) this.#sayUnsettled(held, verdict, error)
    }
    this.#keeper.remove(held)
    this.#slots.settlingCount -= 1
    this.#awaitTurnEnd()
  }

  #sayUnsettled(held: HeldExecution, verdict: Verdict, error: unknown): void {
    this.#log.error(
      { executionId: held.id, task: held.task.name, verdict: verdict.kind, ...errorFields(error) },
      'the end of an attempt could not be stored; the execution is offered again when its lease expires',
    )
  }

  /** A handler that runs goes on until it obeys its signal; what waits is dropped. */
  #onLost(held: HeldExecution): void {
    this.#warnOfLoss(held)
    if (this.#slots.withdraw(held)) this.#settledCounts.left += 1
  }

  #sayTimedOut(held: HeldExecution): void {
    const { executionId, task, fence } = held.claimed
    this.#log.warn(
      { executionId, task, attempt: fence.attempt },
      'an attempt is out of time; its slot is free again once its handler obeys its signal',
    )
  }

  #warnOfLoss(held: HeldExecution): void {
    const { executionId, task, fence, flowId } = held.claimed
    const fields = { executionId, task, attempt: fence.attempt, code: held.refusal?.code }
    // A flow that no longer needs a member ends it: losers of a race are no reason to worry.
    if (flowId !== undefined && held.refusal?.code === 'execution_not_active') {
      this.#log.info({ ...fields, flowId }, 'an execution was ended elsewhere; what its handler did is not recorded')
      return
    }
    this.#log.warn(fields, 'a lease was lost; what its handler did is not recorded')
  }

  /** What waits need not be started to be cancelled. */
  #onCancelWished(held: HeldExecution): void {
    const { cancelWish } = held
    if (cancelWish === undefined || !this.#slots.withdraw(held)) return
    this.#end(held, { kind: 'cancel', reason: cancelWish.reason, by: cancelWish.by })
  }

  /** A claim asks for known tasks only, so this is a stray; it goes back unharmed. */
  async #handBackUnknown(partition: Partition, claimed: Claimed): Promise<void> {
    const { executionId, fence, task } = claimed
    this.#log.error(
      { executionId, task },
      'a claim brought an execution of a task without a handler; it is handed back',
    )
    try {
      await this.#batcher.run(partition, 'releaseExecution', { executionId, fence, reason: 'no handler for this task' })
    } catch (error) {
      this.#log.warn({ executionId, ...errorFields(error) }, 'an execution could not be handed back; its lease expires')
    }
  }
}
