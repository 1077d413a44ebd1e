/**
 * A fabric for tests: the real kernel, worker and engine on the memory store, with a virtual clock. The test advances time,
 * triggers retries and crashes the worker.
 */
import type { LogLevel } from '../fabric/create-log.ts'
import { APPROVE, FlowHandle, parseDuration } from '../client/index.ts'
import type {
  Duration,
  ExecutionDescription,
  ExecutionHandle,
  FlowDescription,
  Handler,
  SignalReceipt,
  Vote,
} from '../client/index.ts'
import { checkPrincipal } from '../client/checks/names.ts'
import { KeyRing } from '../client/tokens/key-ring.ts'
import type { ScannerName } from '../engine/engine.ts'
import { publicFlowStates, publicStates } from '../kernel/index.ts'
import type { ExecutionId, PublicFlowState, PublicState } from '../kernel/index.ts'
import { oneOf, required, shape, unchecked } from '../options/shape.ts'
import { virtualRuntime } from '../runtime/index.ts'
import type { Log, VirtualRuntime } from '../runtime/index.ts'
import { MemoryStore } from '../stores/memory/memory-store.ts'
import { executionPartition } from '../stores/store.ts'
import type { StoredEvent } from '../stores/store.ts'
import { Fabric, openLog } from '../fabric/fabric.ts'
import type { Worker, WorkerOptions } from '../worker/index.ts'
import { CrashPoints } from './crash-points.ts'
import type { CrashPoint } from './crash-points.ts'
import { observeHandler } from './observed-handler.ts'
import type { StepWatcher } from './observed-handler.ts'
import { explainStuck, explainStuckFlow } from './stuck-report.ts'

export interface TestFabricOptions extends Omit<WorkerOptions, 'signals' | 'log'> {
  readonly namespace?: string
  /** The initial time of the clock, in milliseconds since the epoch. */
  readonly startAt?: number
  /** Seed of all random values, such as the jitter of retries. */
  readonly seed?: number
  readonly indexedTags?: readonly string[]
  /** Default: silent. */
  readonly log?: Log | LogLevel
}

/** Wake-ups of the memory store are never lost, so polling is rare: each poll would only slow down advancing the clock. */
const SWEEP: Duration = '1d'
const RARELY_MS = 86_400_000
/** Rare heartbeats for the same reason. */
const LIVENESS: Duration = '30d'
/** Removing expired records depends on polling, as no wake-up triggers it. */
const TRIM_MS = 3_600_000
const INTERVALS: Readonly<Record<ScannerName, number>> = {
  due: RARELY_MS,
  retention_trimmer: TRIM_MS,
  index_reconciler: RARELY_MS,
  dependency_reconciler: RARELY_MS,
  edge_cancel_reconciler: RARELY_MS,
  cancel_reconciler: RARELY_MS,
  flow_projector: RARELY_MS,
  worker_sweep: RARELY_MS,
  lane_copier: RARELY_MS,
  excess_trimmer: RARELY_MS,
  quota_reconciler: RARELY_MS,
  budget_reconciler: RARELY_MS,
  unblock: RARELY_MS,
}
const UNTIL_WITHIN_MS = 30 * 86_400_000
/** Maximum number of timers that `until` fires. */
const UNTIL_TIMERS_MAX = 10_000
const EVENT_PAGE = 1_000
const ONLY_A_SIGNAL = ' This wait has no timeout: end it in the test, with t.signal(…), t.vote(…) or t.resume(…).'

export interface UntilOptions {
  /** How much virtual time may pass. Default: 30 days. */
  readonly within?: Duration
}

const untilOptions = shape<UntilOptions>()("{ within: '1d' }", { within: parseDuration })

export interface VoteOptions {
  /** The voter. */
  readonly by: string
  /** Default: `approve`. */
  readonly verdict?: Vote['verdict']
  readonly value?: unknown
}

const voteOptions = shape<VoteOptions>()("{ by: 'ada' }", {
  by: required(checkPrincipal),
  verdict: oneOf<Vote['verdict']>({ approve: true, reject: true }),
  value: unchecked(),
})

/**
 * Starts a fabric, a worker for these handlers and an engine.
 *
 * @example
 * await using t = await testFabric([chargeHandler])
 * const execution = await t.submit(charge, { order: 'A-17' })
 * await t.until(execution, 'delayed')
 * await t.advance('1m')
 * expect(await execution.state()).toBe('completed')
 */
export async function testFabric(handlers: readonly Handler[], options: TestFabricOptions = {}): Promise<TestFabric> {
  return await TestFabric.start(handlers, options)
}

export class TestFabric extends Fabric {
  /** The virtual clock. Only the test advances it. */
  readonly clock: VirtualRuntime
  readonly #startWorker: () => Promise<Worker>
  readonly #crashes = new CrashPoints()
  /** Incremented by each crash: handlers of a crashed worker still exist in this process, and must not continue. */
  #incarnation = 0
  #worker: Worker | undefined

  static async start(handlers: readonly Handler[], options: TestFabricOptions): Promise<TestFabric> {
    const { log = 'silent', ...settings } = options
    const fabric = new TestFabric(handlers, settings, await openLog(log))
    fabric.#worker = await fabric.#startWorker()
    return fabric
  }

  private constructor(handlers: readonly Handler[], options: Omit<TestFabricOptions, 'log'>, log: Log) {
    const { namespace = 'default', startAt, seed, indexedTags = [], ...workerOptions } = options
    const clock = virtualRuntime(startAt, seed, { settle: 'quiet' })
    const keys = KeyRing.begin(clock.now())
    super(new MemoryStore(clock, { executionPartitions: 1, indexedTags }), clock, { namespace, log, keys })
    this.clock = clock
    // A test that delivers webhooks calls deliverWebhooks.
    const engine = { intervals: INTERVALS, webhooks: false }
    this.#startWorker = () => {
      const watcher = this.#watch(++this.#incarnation)
      const observed = handlers.map((handler) => observeHandler(handler, watcher))
      return this.work(observed, {
        sweep: SWEEP,
        livenessTtl: LIVENESS,
        workerId: 'test-worker',
        ...workerOptions,
        engine,
      })
    }
  }

  /** The current worker; a new one after each crash. */
  get currentWorker(): Worker {
    if (this.#worker === undefined) throw new Error('The worker of this test fabric has not started yet.')
    return this.#worker
  }

  /** Advances the clock. Each timer fires at its time, and its effects settle before the next timer. */
  async advance(duration: Duration): Promise<void> {
    await this.clock.advance(parseDuration(duration, 'duration'))
  }

  /**
   * Advances the clock from timer to timer until the execution or the flow is in the state. Returns its description. Throws an
   * error that explains what it waits for if it ends in another state or does not get there in time. A string is an execution id.
   */
  async until(
    execution: ExecutionHandle | string,
    state: PublicState,
    options?: UntilOptions,
  ): Promise<ExecutionDescription>
  async until(flow: FlowHandle, state: PublicFlowState, options?: UntilOptions): Promise<FlowDescription>
  async until(
    subject: ExecutionHandle | FlowHandle | string,
    state: PublicState | PublicFlowState,
    options: UntilOptions = {},
  ): Promise<ExecutionDescription | FlowDescription> {
    if (subject instanceof FlowHandle) {
      checkState(state, publicFlowStates)
      return await this.#until(
        () => subject.describe(),
        state,
        options,
        (text) => explainStuckFlow(this, subject, text),
      )
    }
    const id = this.#idOf(subject)
    checkState(state, publicStates)
    const description = await this.#until(
      () => this.describe(id),
      state,
      options,
      (text) => explainStuck(this, id, text),
    )
    if (description.outcome !== undefined) this.#crashes.throwIfMissed(description)
    return description
  }

  async #until<D extends Described>(
    describe: () => Promise<D>,
    state: string,
    options: UntilOptions,
    explain: (text: string) => Promise<string>,
  ): Promise<D> {
    const { within = UNTIL_WITHIN_MS } = untilOptions(options)
    const lastAt = this.clock.now() + within
    let hint = ''
    await this.clock.advance(0)
    for (let passed = 0; passed < UNTIL_TIMERS_MAX; passed++) {
      const description = await describe()
      if (description.state === state) return description
      const nextAt = this.clock.nextTimerAt()
      if (description.outcome !== undefined || nextAt === undefined || nextAt > lastAt) break
      if (description.state === 'suspended' && (await this.#hasNoTimers())) {
        hint = ONLY_A_SIGNAL
        break
      }
      await this.clock.advance(Math.max(1, Math.ceil(nextAt - this.clock.now())))
    }
    const { state: reached } = await describe()
    const at = new Date(this.clock.now()).toISOString()
    throw new Error((await explain(`'${reached}' and not '${state}' at ${at} by the test's clock.`)) + hint)
  }

  /** Whether no stored record has a timer, so that time alone changes nothing. */
  async #hasNoTimers(): Promise<boolean> {
    const { result } = await this.batcher.run(executionPartition(0), 'inspectPartition', { limit: 1 })
    return result.due.count === 0 && result.due.nextAt === undefined
  }

  /**
   * Without an argument, crashes the worker at once, like a killed process, and starts a new one. Leased executions are claimable
   * again when their leases expire. With a crash point, resolves at once, and the worker crashes when a handler reaches that
   * point: `until` continues across the crash, and throws if an execution ends without reaching it.
   *
   * @example
   * await t.crashWorker({ after: 'charge' })
   * const execution = await t.submit(order, { item: 'honey' })
   * await t.until(execution, 'completed')
   * expect(t.stepRuns(execution, 'charge')).toBe(1)
   */
  async crashWorker(point?: CrashPoint): Promise<void> {
    if (point !== undefined) {
      this.#crashes.arm(point, (execution) => this.#idOf(execution))
      return
    }
    await this.#crash()
    await this.clock.advance(0)
  }

  /** How often the work of a step was started, over all attempts and crashes. */
  stepRuns(execution: ExecutionHandle | string, step: string): number {
    return this.#crashes.runCount(this.#idOf(execution), step)
  }

  /** Sends a vote to an approval, by the name of its wait or by the key of its waitpoint. */
  async vote(execution: ExecutionHandle | string, waitpoint: string, options: VoteOptions): Promise<SignalReceipt> {
    const { by, verdict = APPROVE, value } = voteOptions(options)
    const receipt = await this.signal(this.#idOf(execution), verdict, value, { waitpoint, by })
    await this.clock.advance(0)
    return receipt
  }

  /** Returns all events in the log, oldest first; only those of one execution, or of one flow and its members, if given. */
  async events(subject?: ExecutionHandle | FlowHandle | string): Promise<StoredEvent[]> {
    const concerns = this.#filterOf(subject)
    const events: StoredEvent[] = []
    for (let after = 0; ;) {
      const page = await this.store.readEvents(executionPartition(0), after, EVENT_PAGE)
      events.push(...page.events.filter(concerns))
      const last = page.events.at(-1)
      if (last === undefined) return events
      after = last.sequence
    }
  }

  /** Closes at once, without draining the worker. */
  override async close(): Promise<void> {
    this.#incarnation++
    this.#worker?.crash()
    await super.close()
  }

  async #crash(): Promise<void> {
    this.currentWorker.crash()
    this.#worker = await this.#startWorker()
  }

  #watch(incarnation: number): StepWatcher {
    // A handler in a killed process never continues, not even in its `catch` or `finally`.
    const continueUnlessCrashed = () =>
      incarnation === this.#incarnation ? Promise.resolve() : new Promise<never>(() => undefined)
    return {
      continueUnlessCrashed,
      countRun: (executionId, step) => this.#crashes.countRun(executionId, step),
      reach: async (moment, executionId, step) => {
        if (incarnation === this.#incarnation && this.#crashes.take(moment, executionId, step)) await this.#crash()
        await continueUnlessCrashed()
      },
    }
  }

  #idOf(execution: ExecutionHandle | string): ExecutionId {
    return this.try.resolve(typeof execution === 'string' ? execution : execution.id)
  }

  #filterOf(subject: ExecutionHandle | FlowHandle | string | undefined): (event: StoredEvent) => boolean {
    if (subject === undefined) return () => true
    if (subject instanceof FlowHandle) return (event) => event.flowId === subject.id
    const id = this.#idOf(subject)
    return (event) => event.executionId === id
  }
}

/** The part of a description that `until` checks. */
interface Described {
  readonly state: string
  readonly outcome: string | undefined
}

function checkState(state: string, states: readonly string[]): void {
  if (!states.includes(state)) throw new Error(`'${state}' is not a state. States: ${states.join(', ')}.`)
}
