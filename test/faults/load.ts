/**
 * Work under way while something happens to a server. Submitters and workers have connections of their own,
 * as if they were different processes: one learns what another does only through the server.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { mintExecutionId, partitionOf, prepareSubmit } from '../../src/client/index.ts'
import type { Handler } from '../../src/client/index.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import type { Call, Partition } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { EngineSettings, Fabric, FabricOptions } from '../../src/fabric/index.ts'
import { atThisPace } from '../crash/slowness.ts'
import { keyOf, kindOf, kinds } from '../crash/work.ts'
import type { Kind, Work } from '../crash/work.ts'
import { until } from '../servers/until.ts'
import { Follower } from './follower.ts'
import { Ledger } from './ledger.ts'

export interface LoadOptions {
  /** Store options of all fabrics. */
  readonly fabric?: Pick<FabricOptions, 'valkey' | 'postgres'>
  readonly engine?: EngineSettings
  /** The failures that callers have to expect. */
  readonly expected?: readonly string[]
}

const SUBMITTERS = 8
const SUBMITS_PER_SECOND = 250
const WORKERS = 2
const CONCURRENCY = 40
/**
 * Short, so that what a worker has lost comes back while the test still runs. A worker that loses its leases for want of a core would
 * exhaust the reclaims of an execution, so it is twice the shortest that there is, and longer on a machine that is busy.
 */
export const SHORT_LEASE_MS = atThisPace(2_000)
const PROGRESS_LIMIT_MS = 90_000
/** How long a probe may take during any fault. */
const SEE_LIMIT_MS = 60_000
/** Between two tries of the same call while the store cannot be reached. */
const TRY_AGAIN_MS = 20

/** Ends as soon as it is begun. */
export const plain = kinds.find(({ task }) => task.name === 'plain')!

export class Load implements AsyncDisposable {
  readonly ledger: Ledger
  /** For those who look at the store while the work is under way. */
  readonly fabric: Fabric
  readonly follower: Follower
  readonly #workers: readonly Fabric[]
  readonly #options: LoadOptions
  readonly #stop = new AbortController()
  readonly #submitting: Promise<unknown>
  readonly #cancels = new Set<Promise<void>>()
  #next = 0

  private constructor(ledger: Ledger, fabric: Fabric, workers: readonly Fabric[], options: LoadOptions) {
    this.ledger = ledger
    this.fabric = fabric
    this.follower = new Follower(fabric)
    this.#workers = workers
    this.#options = options
    this.#submitting = Promise.all(Array.from({ length: SUBMITTERS }, () => this.#submitSome()))
  }

  static async start(location: string, options: LoadOptions = {}): Promise<Load> {
    const ledger = new Ledger()
    const fabricOptions = { ...options.fabric, log: ledger.log }
    const fabric = await createFabric(location, fabricOptions)
    const workers: Fabric[] = []
    for (let number = 0; number < WORKERS; number++) {
      const worker = await createFabric(location, fabricOptions)
      await worker.work(handlersOf(kinds, ledger), {
        concurrency: CONCURRENCY,
        leaseTtl: SHORT_LEASE_MS,
        engine: number === 0 && (options.engine ?? true),
      })
      workers.push(worker)
    }
    return new Load(ledger, fabric, workers, options)
  }

  get acknowledgedCount(): number {
    return this.ledger.acknowledgements.size
  }

  /** Waits until this many more pieces of work were acknowledged, and handlers have returned half as many times. */
  async untilBusy(count: number): Promise<void> {
    const { ledger } = this
    const [acknowledged, ended] = [this.acknowledgedCount + count, ledger.endedBodyCount + Math.floor(count / 2)]
    const isBusy = async (): Promise<true | undefined> =>
      (this.acknowledgedCount >= acknowledged && ledger.endedBodyCount >= ended) || undefined
    await until(`${count} more pieces of work are under way`, PROGRESS_LIMIT_MS, isBusy)
  }

  /**
   * How long it takes from a moment on until a new piece of work in every partition has been done and its submitter has
   * learned of it.
   */
  async recoveryMs(since: number): Promise<number> {
    await Promise.all(onePerPartition(this.fabric, 'probe').map((work) => this.#see(work)))
    return Math.round(performance.now() - since)
  }

  /** Submits nothing more, and waits for the pending submits. */
  async stopSubmitting(): Promise<void> {
    this.#stop.abort()
    await this.#submitting
    await Promise.all(this.#cancels)
  }

  async stopWorking(): Promise<void> {
    await Promise.all(this.#workers.map((fabric) => fabric.close()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopSubmitting()
    await this.follower.stop()
    await Promise.all(this.#workers.map((fabric) => fabric.close({ drain: 0 })))
    await this.fabric.close()
  }

  async #submitSome(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#submit({ submitter: 'submitter', number: this.#next++ })
      await this.#pause((1_000 * SUBMITTERS) / SUBMITS_PER_SECOND)
    }
  }

  /** Retries a submit until it is acknowledged, always under the same id; gives up only at the end. */
  async #submit(work: Work): Promise<void> {
    const kind = kindOf(work)
    const execution = await this.#say(() => this.fabric.submit(kind.task, work, { ...kind.submit, id: keyOf(work) }))
    if (execution === undefined) return
    this.ledger.acknowledge(keyOf(work), execution.id)
    // It may have gone on without, and ended.
    if (kind.isTold)
      for (const _ of [1, 2]) await this.#say(() => this.fabric.try.signal(execution.id, 'go', 1, { key: 'go' }))
    if (kind.cancel === undefined) return
    const cancelled = this.#cancelLater(execution.id, kind.cancel).finally(() => this.#cancels.delete(cancelled))
    this.#cancels.add(cancelled)
  }

  async #cancelLater(executionId: string, { afterMs, ...options }: NonNullable<Kind['cancel']>): Promise<void> {
    await this.#pause(afterMs)
    await this.#say(async () => {
      const result = await this.fabric.try.cancel(executionId, 'its submitter changed its mind', options)
      const isAnswer = result.kind !== 'refused' || ['execution_ended', 'execution_not_found'].includes(result.code)
      if (!isAnswer) throw new EngineError(result.code)
      return result.kind
    })
  }

  async #see(work: Work): Promise<void> {
    const signal = AbortSignal.timeout(SEE_LIMIT_MS)
    const seen = async (): Promise<true> => {
      const execution = await this.fabric.submit(plain.task, work, { id: keyOf(work) })
      this.ledger.acknowledge(keyOf(work), execution.id)
      await execution.result({ signal })
      return true
    }
    const answer = await this.#say(seen, signal)
    if (answer === undefined) throw new Error(`Within ${SEE_LIMIT_MS} ms no worker completed ${keyOf(work)}.`)
  }

  /** Retries a call while the store cannot be reached. Undefined once the load has stopped. */
  async #say<T>(call: () => Promise<T>, end = this.#stop.signal): Promise<T | undefined> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (end.aborted) return undefined
        this.ledger.refuse(error, this.#options.expected ?? ['store_unavailable'])
      }
      await this.#pause(TRY_AGAIN_MS)
    }
  }

  /** Ends early, not with an error, when it is time to stop. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined)
  }
}

/** Handlers that do the work and note what they did. */
export function handlersOf(of: readonly Kind[], ledger: Ledger): Handler[] {
  return of.map(({ task, run }) =>
    task.handle(async (work, context) => {
      const { executionId, attempt } = context
      ledger.note({ step: 'begun', executionId, attempt })
      const answer = await run(work, context)
      ledger.note({ step: 'ended', executionId, attempt, answer })
      return answer
    }),
  )
}

/** A submit to the first partition as the store receives it, without a client that would retry it. */
export async function submitCall({ runtime }: Fabric): Promise<Call> {
  const ids = { executionId: mintExecutionId(0, runtime), requestId: runtime.uuid() }
  const item = { task: plain.task, input: { submitter: 'once', number: 0 } }
  const { input, blobs } = await prepareSubmit(item, ids, { namespace: 'default', indexedTags: [] })
  return { operation: 'createExecution', input, blobs }
}

let onePerPartitionCount = 0

/** New pieces of work, one for each partition. */
export function onePerPartition(fabric: Fabric, name: string): Work[] {
  const works = new Map<Partition, Work>()
  const submitter = `${name}-${onePerPartitionCount++}`
  for (let number = 0; works.size < fabric.store.settings.executionPartitions; number++) {
    const work = { submitter, number }
    works.set(partitionOf(fabric.try.resolve(keyOf(work))), work)
  }
  return [...works.values()]
}
