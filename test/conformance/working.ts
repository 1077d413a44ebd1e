/** Workers and engines on the store of a conformance test: real code, on the virtual clock of that store. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../../src/client/client.ts'
import type { ClientOptions } from '../../src/client/client.ts'
import type { Handler } from '../../src/client/index.ts'
import { startEngine } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { silentLog } from '../../src/runtime/index.ts'
import type { WorkerOptions } from '../../src/worker/index.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { Worker } from '../../src/worker/index.ts'
import type { Store } from '../../src/stores/store.ts'
import type { TestFabric } from './fabric.ts'

/** How far the clock advances while a test waits for something. */
const TICK_MS = 5
/** Far more than any test needs. */
const TICK_COUNT_MAX = 5_000
/** Ticks after which the clock slows down, so that it does not outrun a server on a busy machine. */
const FAST_TICK_COUNT = 1_000
/** How long a slow tick takes at least, in real time. */
const SLOW_TICK_MS = 2

export class Working implements AsyncDisposable {
  readonly client: Client
  readonly #fabric: TestFabric
  readonly #workers: Worker[] = []
  readonly #engines: Engine[] = []

  constructor(fabric: TestFabric, options: ClientOptions = {}, store: Store = fabric.store) {
    this.#fabric = fabric
    this.client = new Client(store, fabric.runtime, options)
  }

  work(handlers: readonly Handler[], options: WorkerOptions = {}): Worker {
    const worker = startWorker(this.client, handlers, { workerId: 'conformance', ...options })
    this.#workers.push(worker)
    return worker
  }

  /** Does what is due, in every partition of the store. */
  maintain(): Engine {
    const engine = startEngine({ batcher: this.client.batcher, runtime: this.#fabric.runtime, log: silentLog })
    this.#engines.push(engine)
    return engine
  }

  /** Advances the clock until a promise settles. */
  async until<T>(pending: Promise<T>): Promise<T> {
    let isSettled = false as boolean
    const settled = pending.finally(() => (isSettled = true))
    settled.catch(() => undefined)
    for (let tick = 0; !isSettled && tick < TICK_COUNT_MAX; tick++) {
      if (tick >= FAST_TICK_COUNT) await sleep(SLOW_TICK_MS)
      await this.#fabric.runtime.advance(TICK_MS)
    }
    if (!isSettled) throw new Error('what the test waits for does not happen')
    return await settled
  }

  /** Advances the clock. */
  elapse(ms: number): Promise<void> {
    return this.#fabric.runtime.advance(ms)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#workers) worker.crash()
    for (const engine of this.#engines) await this.until(engine.close())
    await this.client.batcher.close()
  }
}
