/** Workers and engines on the store of a conformance test: real code, on the virtual clock of that store. */
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
import { countedStore } from './counted-store.ts'
import type { CountedStore } from './counted-store.ts'
import type { TestFabric } from './fabric.ts'

/** How far the clock advances while a test waits for something. */
const TICK_MS = 5
/** Far more than any test needs. */
const TICK_COUNT_MAX = 5_000

export class Working implements AsyncDisposable {
  readonly client: Client
  readonly #fabric: TestFabric
  readonly #counted: CountedStore
  readonly #workers: Worker[] = []
  readonly #engines: Engine[] = []

  constructor(fabric: TestFabric, options: ClientOptions = {}, store: Store = fabric.store) {
    this.#fabric = fabric
    this.#counted = countedStore(store)
    this.client = new Client(this.#counted.store, fabric.runtime, options)
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

  /** Advances the clock until a promise settles. Each tick waits for the store, so that the clock does not outrun a server. */
  async until<T>(pending: Promise<T>): Promise<T> {
    let isSettled = false as boolean
    const settled = pending.finally(() => (isSettled = true))
    settled.catch(() => undefined)
    for (let tick = 0; !isSettled && tick < TICK_COUNT_MAX; tick++) {
      await this.#counted.untilAnswered()
      await this.#fabric.runtime.advance(TICK_MS)
    }
    if (!isSettled) throw new Error('what the test waits for does not happen')
    return await settled
  }

  /** Advances the clock, as far as it goes without outrunning a server. */
  async elapse(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= TICK_MS) {
      await this.#counted.untilAnswered()
      await this.#fabric.runtime.advance(Math.min(TICK_MS, left))
    }
    await this.#counted.untilAnswered()
    await this.#fabric.runtime.advance(0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#workers) worker.crash()
    for (const engine of this.#engines) await this.until(engine.close())
    await this.client.batcher.close()
  }
}
