/**
 * A fabric for tests: the real kernel, worker and engine on the memory store, with a clock that the test owns. Days pass
 * in milliseconds, retries come when the test says so, and a worker dies on demand.
 */
import type { ExecutionDescription, ExecutionHandle, Handler, LogLevel } from '../client/index.ts'
import { parseDuration } from '../client/index.ts'
import type { Duration } from '../client/index.ts'
import { publicStates } from '../kernel/index.ts'
import type { PublicState } from '../kernel/index.ts'
import { virtualRuntime } from '../runtime/index.ts'
import type { Log, VirtualRuntime } from '../runtime/index.ts'
import { MemoryStore } from '../stores/memory/memory-store.ts'
import { executionPartition } from '../stores/store.ts'
import type { StoredEvent } from '../stores/store.ts'
import { Fabric } from '../worker/index.ts'
import type { Worker, WorkerOptions } from '../worker/index.ts'

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
const SWEEP: Duration = '10m'
const INTERVALS = { due: 600_000, retention_trimmer: 600_000, index_reconciler: 3_600_000 }
const UNTIL_WITHIN: Duration = '30d'
/** Timers that `until` lets pass before it gives up. */
const UNTIL_TIMERS_MAX = 10_000
const EVENT_PAGE = 1_000

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
  #worker: Worker | undefined

  static async start(handlers: readonly Handler[], options: TestFabricOptions): Promise<TestFabric> {
    const fabric = new TestFabric(handlers, options)
    fabric.#worker = await fabric.#startWorker()
    return fabric
  }

  private constructor(handlers: readonly Handler[], options: TestFabricOptions) {
    const { namespace = 'default', startAt, seed, indexedTags = [], log = 'silent', ...workerOptions } = options
    const clock = virtualRuntime(startAt, seed)
    super(new MemoryStore(clock, { executionPartitions: 1, indexedTags }), clock, { namespace, log })
    this.clock = clock
    const engine = { intervals: INTERVALS }
    this.#startWorker = () => this.work(handlers, { sweep: SWEEP, workerId: 'test-worker', ...workerOptions, engine })
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
   * Moves the clock from timer to timer until the execution is in the state, and answers its description then. Fails
   * with what it hangs in, and why, if it ends otherwise or does not get there in time.
   */
  async until(
    execution: ExecutionHandle | string,
    state: PublicState,
    options: { readonly within?: Duration } = {},
  ): Promise<ExecutionDescription> {
    const id = typeof execution === 'string' ? execution : execution.id
    if (!publicStates.includes(state))
      throw new Error(`'${state}' is no state; the states are ${publicStates.join(', ')}.`)
    const lastAt = this.clock.now() + parseDuration(options.within ?? UNTIL_WITHIN, 'within')
    await this.clock.advance(0)
    for (let passed = 0; passed < UNTIL_TIMERS_MAX; passed++) {
      const description = await this.describe(id)
      if (description.state === state) return description
      const nextAt = this.clock.nextTimerAt()
      if (description.outcome !== undefined || nextAt === undefined || nextAt > lastAt) break
      await this.clock.advance(Math.max(1, Math.ceil(nextAt - this.clock.now())))
    }
    throw await this.#notReached(id, state)
  }

  /** The worker vanishes as a killed process does, and a new one starts. What it held comes back when the lease expires. */
  async crashWorker(): Promise<void> {
    this.worker.crash()
    await this.clock.advance(0)
    this.#worker = await this.#startWorker()
    await this.clock.advance(0)
  }

  /** Everything that the log still has, oldest first; of one execution, if it is given. */
  async events(execution?: ExecutionHandle | string): Promise<StoredEvent[]> {
    const id =
      execution === undefined ? undefined : this.try.resolve(typeof execution === 'string' ? execution : execution.id)
    const events: StoredEvent[] = []
    for (let after = 0; ;) {
      const page = await this.store.readEvents(executionPartition(0), after, EVENT_PAGE)
      events.push(...page.events.filter((event) => id === undefined || event.executionId === id))
      const last = page.events.at(-1)
      if (last === undefined) return events
      after = last.sequence
    }
  }

  /** Ends at once: nothing of a test outlives it, so nothing is drained. */
  override async close(): Promise<void> {
    this.#worker?.crash()
    await super.close()
  }

  async #notReached(id: string, state: PublicState): Promise<Error> {
    const description = await this.describe(id)
    const { text } = await this.why(id)
    const at = new Date(this.clock.now()).toISOString()
    return new Error(
      `${description.task} (${id}) is '${description.state}' and not '${state}' at ${at} by the test's clock. ${text}`,
    )
  }
}
