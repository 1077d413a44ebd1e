/**
 * A fabric for tests: the real kernel, worker and engine on the memory store, with a clock that the test owns. Days pass
 * in milliseconds, retries come when the test says so, and a worker dies on demand.
 */
import { APPROVE, FlowHandle, parseDuration } from '../client/index.ts'
import type {
  Duration,
  ExecutionDescription,
  ExecutionHandle,
  FlowDescription,
  Handler,
  LogLevel,
  SignalReceipt,
  Vote,
} from '../client/index.ts'
import { KeyRing } from '../client/tokens/key-ring.ts'
import type { ScannerName } from '../engine/engine.ts'
import { publicFlowStates, publicStates } from '../kernel/index.ts'
import type { ExecutionId, PublicFlowState, PublicState } from '../kernel/index.ts'
import { virtualRuntime } from '../runtime/index.ts'
import type { Log, VirtualRuntime } from '../runtime/index.ts'
import { MemoryStore } from '../stores/memory/memory-store.ts'
import { executionPartition } from '../stores/store.ts'
import type { StoredEvent } from '../stores/store.ts'
import { Fabric } from '../fabric/index.ts'
import type { Worker, WorkerOptions } from '../worker/index.ts'
import { CrashPoints } from './crash-points.ts'
import type { CrashPoint } from './crash-points.ts'
import { observeHandler } from './observed-handler.ts'
import type { StepWatcher } from './observed-handler.ts'
import { explainStuck, explainStuckFlow } from './stuck-report.ts'

export interface TestFabricOptions extends Omit<WorkerOptions, 'signals' | 'log'> {
  readonly namespace?: string
  /** Where the clock begins, in milliseconds since the epoch. */
  readonly startAt?: number
  /** The same seed makes the same chance, such as the jitter of retries. */
  readonly seed?: number
  readonly indexedTags?: readonly string[]
  /** Silent unless given. */
  readonly log?: Log | LogLevel
}

/** Wake-ups of the memory store are never lost, so looking without one is rare: it would only make time pass slowly. */
const SWEEP: Duration = '1d'
const RARELY_MS = 86_400_000
/** Nothing wakes whoever removes what was kept for long enough. */
const TRIM_MS = 3_600_000
const INTERVALS: Readonly<Record<ScannerName, number>> = {
  due: RARELY_MS,
  retention_trimmer: TRIM_MS,
  index_reconciler: RARELY_MS,
  dependency_reconciler: RARELY_MS,
  edge_cancel_reconciler: RARELY_MS,
  cancel_reconciler: RARELY_MS,
  flow_projector: RARELY_MS,
}
const UNTIL_WITHIN: Duration = '30d'
/** Timers that `until` lets pass before it gives up. */
const UNTIL_TIMERS_MAX = 10_000
const EVENT_PAGE = 1_000
const ONLY_A_SIGNAL = ' No time ends this wait: let the test do it, with t.signal(…), t.vote(…) or t.resume(…).'

export interface UntilOptions {
  /** How much time may pass by the test's clock. 30 days unless given. */
  readonly within?: Duration
}

export interface VoteOptions {
  /** Whose vote it is. */
  readonly by: string
  /** `approve` unless given. */
  readonly verdict?: Vote['verdict']
  readonly value?: unknown
}

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
  /** The clock, which stands still unless the test moves it. */
  readonly clock: VirtualRuntime
  readonly #startWorker: () => Promise<Worker>
  readonly #crashes = new CrashPoints()
  /** Handlers of a worker that crashed may still run in this process: nothing that they do counts any more. */
  #incarnation = 0
  #worker: Worker | undefined

  static async start(handlers: readonly Handler[], options: TestFabricOptions): Promise<TestFabric> {
    const fabric = new TestFabric(handlers, options)
    fabric.#worker = await fabric.#startWorker()
    return fabric
  }

  private constructor(handlers: readonly Handler[], options: TestFabricOptions) {
    const { namespace = 'default', startAt, seed, indexedTags = [], log = 'silent', ...workerOptions } = options
    const clock = virtualRuntime(startAt, seed, { settle: 'quiet' })
    const keys = KeyRing.begin(clock.now())
    super(new MemoryStore(clock, { executionPartitions: 1, indexedTags }), clock, { namespace, log, keys })
    this.clock = clock
    const engine = { intervals: INTERVALS }
    this.#startWorker = () => {
      const watcher = this.#watch(++this.#incarnation)
      const observed = handlers.map((handler) => observeHandler(handler, watcher))
      return this.work(observed, { sweep: SWEEP, workerId: 'test-worker', ...workerOptions, engine })
    }
  }

  /** The worker that runs now; another one after a crash. */
  get worker(): Worker {
    if (this.#worker === undefined) throw new Error('The worker of a test fabric runs from the start.')
    return this.#worker
  }

  /** Lets time pass: every timer on the way fires at its moment, and what it starts settles before the next. */
  async advance(duration: Duration): Promise<void> {
    await this.clock.advance(parseDuration(duration, 'duration'))
  }

  /**
   * Moves the clock from timer to timer until the execution or the flow is in the state, and answers its description then.
   * Fails with what it hangs in, and why, if it ends otherwise or does not get there in time. A text names an execution.
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
    const lastAt = this.clock.now() + parseDuration(options.within ?? UNTIL_WITHIN, 'within')
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

  /** Whether nothing that is stored will change however much time passes. */
  async #hasNoTimers(): Promise<boolean> {
    const { result } = await this.batcher.run(executionPartition(0), 'inspectPartition', { limit: 1 })
    return result.due.count === 0 && result.due.nextAt === undefined
  }

  /**
   * Without an argument the worker vanishes at once, as a killed process does, and a new one starts. What it held comes back
   * when the lease expires. With a place, the worker is to vanish when a handler gets there, and the promise resolves now:
   * `until` goes on over the crash, and fails if an execution ends without having come to it.
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

  /** How often the work of a step was begun, over all attempts and crashes. */
  stepRuns(execution: ExecutionHandle | string, step: string): number {
    return this.#crashes.runCount(this.#idOf(execution), step)
  }

  /** Sends a vote to an approval, by the name of its wait or by the key of its waitpoint, and says what it did. */
  async vote(execution: ExecutionHandle | string, waitpoint: string, options: VoteOptions): Promise<SignalReceipt> {
    const { by, verdict = APPROVE, value } = options
    const receipt = await this.signalAt(this.#idOf(execution), waitpoint, verdict, value, { by })
    await this.clock.advance(0)
    return receipt
  }

  /** Everything that the log still has, oldest first; of one execution, or of one flow and its members, if it is given. */
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

  /** Ends at once: nothing of a test outlives it, so nothing is drained. */
  override async close(): Promise<void> {
    this.#incarnation++
    this.#worker?.crash()
    await super.close()
  }

  async #crash(): Promise<void> {
    this.worker.crash()
    this.#worker = await this.#startWorker()
  }

  #watch(incarnation: number): StepWatcher {
    // A handler in a killed process does not come back, not even to its `catch` or `finally`.
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

/** What a description is waited for by. */
interface Described {
  readonly state: string
  readonly outcome: string | undefined
}

function checkState(state: string, states: readonly string[]): void {
  if (!states.includes(state)) throw new Error(`'${state}' is no state; the states are ${states.join(', ')}.`)
}
