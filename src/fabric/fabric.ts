/**
 * A fabric: a store with its client, and the workers and the engine that run on it. Closing it loses no work: workers drain
 * first, then the engine stops, and the store closes last.
 */
import { Bulk } from './bulk.ts'
import type { BulkFilter } from './bulk.ts'
import { bulkHandler } from './bulk-task.ts'
import { Client } from '../client/client.ts'
import { CodecChain } from '../codec/index.ts'
import type { Bucket, SweepReport, ValueCodec } from '../codec/index.ts'
import type { Consumer } from '../client/consumers/consumer.ts'
import type { ConsumeOptions, ConsumerFilter, EventHandler } from '../client/consumers/consumer-options.ts'
import type { KeySource } from '../client/tokens/key-ring.ts'
import { openKeys } from '../client/tokens/keys-option.ts'
import type { KeysOption } from '../client/tokens/keys-option.ts'
import { checkNamespace, checkPrincipal, checkTagQuery } from '../client/checks/names.ts'
import { boolean, shape, unchecked, wholeNumber } from '../options/shape.ts'
import type { LogLevel } from './create-log.ts'
import type { ScheduleDefinition } from '../client/define/schedule.ts'
import type { Handler } from '../client/define/task.ts'
import { RetiredKeys } from '../client/tokens/retired-keys.ts'
import { Tokens } from '../client/tokens/token.ts'
import { startEngine } from '../engine/index.ts'
import type { Engine, EngineOptions } from '../engine/index.ts'
import { isLog, noTracing, nonThrowingLog, openTelemetryTracing, silentLog, systemRuntime } from '../runtime/index.ts'
import type { Log, MetricsRegistry, OpenTelemetryApi, Runtime, Tracing } from '../runtime/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import type { TenantFilter } from '../kernel/index.ts'
import { STORE_PARTITION } from '../stores/partitions.ts'
import { openStore } from '../stores/open/open-store.ts'
import type { OpenStoreOptions, TokenSource } from '../stores/open/open-store.ts'
import type { PostgresOptions } from '../stores/postgres/options/postgres-options.ts'
import type { CallCodec } from '../stores/call-codec.ts'
import type { Store } from '../stores/store.ts'
import type { ValkeyOptions } from '../stores/valkey/options/valkey-options.ts'
import type { Middleware } from '../worker/attempt/middleware.ts'
import type { WorkerOptions } from '../worker/worker-options.ts'
import { sweepOffloaded } from './sweep-offloaded.ts'
import type { SweepOffloadedOptions } from './sweep-offloaded.ts'
import { WebhookDeliverer } from './webhooks/deliverer.ts'
import { post } from './webhooks/post.ts'
import { onShutdownSignal } from '../worker/shutdown-signals.ts'
import { startWorker } from '../worker/worker.ts'
import type { Worker, WorkerCloseOptions } from '../worker/worker.ts'

export interface FabricOptions {
  /** Scopes the ids that callers choose, and everything that the fabric reaches by id. `default` unless given. */
  readonly namespace?: string
  /** True reaches executions and flows of all namespaces by id, and lists them, for tools of operators. */
  readonly allNamespaces?: boolean
  /** The logger, or the level of the log on standard error. `warn` unless given. */
  readonly log?: Log | LogLevel
  readonly runtime?: Runtime
  /** Names of tags with an index, so that listing by them is fast at any size. Fixed when the store is first used. */
  readonly indexedTags?: readonly string[]
  /** For a SQLite file: `full` survives a power failure, `normal` (the default) a crash of the process. */
  readonly synchronous?: 'normal' | 'full'
  /** For a Valkey store: settings that do not belong in its location, such as a password or certificates. */
  readonly valkey?: ValkeyOptions
  /** For a Postgres store: the same, the size of its pool, and the location that listens for wake-ups. */
  readonly postgres?: PostgresOptions
  /**
   * The keys that sign the tokens of waitpoints: a file that `flowfabric keys` manages, or a ring. Unless given, the file that
   * FLOWFABRIC_KEYS_FILE names. Asked for when a token is issued. `none` ignores the variable.
   */
  readonly keys?: KeysOption
  /** The module `@opentelemetry/api` of the program. Submits, runs of handlers and steps are spans then; none unless given. */
  readonly openTelemetry?: OpenTelemetryApi
  /** For the address of a FlowFabric server: the token of its requests, or a function that returns the present one. */
  readonly token?: TokenSource
  /**
   * Seals the values of this program before they are stored: inputs, results, values of steps and signals, frames, summaries and log
   * lines. All programs that read them need it. `encryption` and `offload` return codecs; several are applied in order.
   */
  readonly codec?: ValueCodec | readonly ValueCodec[]
  /** False throws if no store exists at the location, instead of creating one. */
  readonly create?: boolean
}

type LocatedOptions = FabricOptions & { readonly store: string }

/** Settings of the fabric's engine. */
export interface EngineSettings extends Pick<EngineOptions, 'filter' | 'intervals' | 'metrics'> {
  /**
   * Whether webhooks are delivered too, once there are any and the fabric has a key ring; true unless given, and false for an engine
   * with a filter. An object is how.
   */
  readonly webhooks?: boolean | DeliverWebhooksOptions
}

export interface FabricWorkerOptions extends WorkerOptions {
  /** Whether to start the fabric's engine, unless it runs already; true unless given. An object is its settings. */
  readonly engine?: boolean | EngineSettings
  /** Schedules that this code declares: those that are new are created, and those that differ are changed. */
  readonly schedules?: readonly ScheduleDefinition[]
  /**
   * Names who declares the schedules, such as the service. Schedules that the same owner declared before and declares no more are
   * deleted. Without an owner none is.
   */
  readonly schedulesOwner?: string
}

export interface DeliverWebhooksOptions {
  /** Sends to private hosts and over http too, for tests. */
  readonly allowPrivate?: boolean
  /** Requests at the same time; 16 unless given. */
  readonly concurrency?: number
}

/**
 * Opens a store and returns a fabric for it.
 *
 * @example
 * await using fabric = await createFabric('sqlite:./fabric.db')
 * await using worker = await fabric.work([greetHandler], { concurrency: 8 })
 * const execution = await fabric.submit(greet, { name: 'Ada' })
 */
export async function createFabric(location: string, options?: FabricOptions): Promise<Fabric>
export async function createFabric(options: LocatedOptions): Promise<Fabric>
export async function createFabric(first: string | LocatedOptions, second: FabricOptions = {}): Promise<Fabric> {
  const options = typeof first === 'string' ? second : checkLocated(first)
  fabricOptions(options)
  const { runtime = systemRuntime(), indexedTags, synchronous, valkey, postgres, create, token } = options
  const log = await openLog(options.log)
  const keys = openKeys(options.keys, process.env, runtime, log)
  const storeOptions: OpenStoreOptions = { runtime, indexedTags, synchronous, valkey, postgres, create, token, log }
  const store = await openStore(typeof first === 'string' ? first : first.store, storeOptions)
  try {
    const { openTelemetry: api } = options
    const tracing = api === undefined ? noTracing : openTelemetryTracing(api)
    const scope = scopeWithin(store, options)
    const codec = options.codec === undefined ? undefined : new CodecChain([options.codec].flat())
    const fabric = new Fabric(store, runtime, { ...scope, log, keys, tracing, ...(codec && { codec }) })
    if (keys?.isLazy !== true) await fabric.tokens.confirm()
    return fabric
  } catch (error) {
    await store.close()
    throw error
  }
}

/** A token that is bound to a namespace decides about it, unless the program asks for another one. */
function scopeWithin(
  { namespace: bound }: Store,
  { namespace, allNamespaces = false }: FabricOptions,
): Pick<FabricOptions, 'namespace' | 'allNamespaces'> {
  if (bound === undefined) return { ...(namespace === undefined ? {} : { namespace }), allNamespaces }
  if (namespace === undefined || namespace === bound) return { namespace: bound }
  const message = `The server and the token admit only the namespace '${bound}', and namespace is '${namespace}'.`
  throw new EngineError('invalid_configuration', { field: 'namespace', message })
}

/** Returns a log that never throws: the given one, or one that writes lines of this level to standard error. */
export async function openLog(log: Log | LogLevel = 'warn'): Promise<Log> {
  if (typeof log !== 'string') return nonThrowingLog(checkLog(log))
  // Loads the logging library only when the fabric uses it.
  const { createLog } = await import('./create-log.ts')
  return nonThrowingLog(createLog(log))
}

function checkLog(log: Log): Log {
  if (isLog(log)) return log
  throw new EngineError('invalid_configuration', {
    field: 'log',
    message: 'log must be a level, or an object with the methods debug, info, warn and error.',
  })
}

/** The log, the keys and the store check the values that are unchecked here. */
/** Namespaces in which one process runs bulk changes. Beyond it, the worker of the namespace that was first is closed. */
const BULK_WORKERS_MAX = 32

const fabricOptions = shape<LocatedOptions>()("{ namespace: 'acme' }", {
  store: unchecked(),
  namespace: checkNamespace,
  allNamespaces: boolean,
  log: unchecked(),
  runtime: unchecked(),
  indexedTags: unchecked(),
  synchronous: unchecked(),
  valkey: unchecked(),
  postgres: unchecked(),
  keys: unchecked(),
  openTelemetry: checkOpenTelemetry,
  token: unchecked(),
  codec: checkCodec,
  create: boolean,
})

function checkCodec(value: unknown): ValueCodec | readonly ValueCodec[] {
  const codecs = [value].flat() as readonly Partial<ValueCodec>[]
  const isCodec = (each: Partial<ValueCodec> | null) =>
    typeof each?.name === 'string' && typeof each.encode === 'function' && typeof each.decode === 'function'
  if (codecs.length > 0 && codecs.every(isCodec)) return value as ValueCodec | readonly ValueCodec[]
  throw new EngineError('invalid_configuration', {
    field: 'codec',
    message: 'codec must be what encryption() or offload() returns, or a list of such.',
  })
}

function checkOpenTelemetry(value: unknown): OpenTelemetryApi {
  const { trace, context } = (value ?? {}) as Partial<OpenTelemetryApi>
  if (typeof trace?.getTracer === 'function' && typeof context?.with === 'function') return value as OpenTelemetryApi
  throw new EngineError('invalid_configuration', {
    field: 'openTelemetry',
    message: "openTelemetry must be the module: import * as openTelemetry from '@opentelemetry/api'.",
  })
}

const DELIVERIES_DEFAULT = 16
const DELIVERIES_MAX = 1_000

const deliverOptions = shape<DeliverWebhooksOptions>()('{ concurrency: 32 }', {
  allowPrivate: boolean,
  concurrency: wholeNumber(1, DELIVERIES_MAX),
})

const engineSettings = shape<EngineSettings>()("{ filter: { namespace: 'acme' } }", {
  filter: shape<TenantFilter>()("{ namespace: 'acme' }", { namespace: checkNamespace, tag: checkTagQuery }),
  intervals: unchecked<EngineSettings['intervals']>(),
  metrics: unchecked<EngineSettings['metrics']>(),
  webhooks: (value) => (typeof value === 'boolean' ? value : deliverOptions(value as DeliverWebhooksOptions)),
})

function checkLocated(options: LocatedOptions): LocatedOptions {
  const given: unknown = options
  if (typeof given === 'object' && given !== null && 'store' in given && typeof given.store === 'string') return options
  throw new EngineError('invalid_configuration', {
    field: 'store',
    message: "createFabric takes a location such as 'sqlite:./fabric.db', or an object with one as its store.",
  })
}

/** What a fabric is made of besides its store. */
interface FabricParts extends Pick<FabricOptions, 'namespace' | 'allNamespaces'> {
  readonly log?: Log
  readonly keys?: KeySource | undefined
  readonly tracing?: Tracing
  readonly codec?: CallCodec
}

export class Fabric extends Client {
  readonly log: Log
  readonly #workers = new Set<Worker>()
  readonly #consumers = new Set<Consumer>()
  readonly #deliverers = new Set<WebhookDeliverer>()
  /** Delivers along with the engine. */
  #automatic: WebhookDeliverer | undefined
  readonly #middleware: Middleware[] = []
  #engine: Engine | undefined
  /** By namespace, the latest used ones at the end. */
  readonly #bulkWorkers = new Map<string, Worker>()
  #ending: Promise<void> | undefined
  #stopListening: (() => void) | undefined

  constructor(store: Store, runtime: Runtime, parts: FabricParts = {}) {
    const { namespace = 'default', allNamespaces = false, keys, tracing = noTracing } = parts
    const log = nonThrowingLog(parts.log ?? silentLog)
    const tokens = keys === undefined ? undefined : new Tokens(keys, runtime, log, new RetiredKeys(store))
    const scope = { namespace, allNamespaces, tracing, ...(parts.codec && { codec: parts.codec }) }
    super(store, runtime, tokens === undefined ? scope : { ...scope, tokens })
    this.log = log
  }

  /** What this process measures of its submits, calls, handlers and scanners. */
  get metrics(): MetricsRegistry {
    return this.batcher.metrics
  }

  /** Adds middleware around the handlers of all workers started later. The first one added is outermost. */
  use(middleware: Middleware): this {
    this.#middleware.push(middleware)
    return this
  }

  /**
   * Declares the schedules, and starts a worker for these handlers and the fabric's engine, unless it runs already.
   */
  async work(handlers: readonly Handler[], options: FabricWorkerOptions = {}): Promise<Worker> {
    this.#refuseIfEnding()
    const { engine = true, signals = false, middleware = [], schedules, schedulesOwner, ...rest } = options
    if (schedules !== undefined) await this.#declare(schedules, schedulesOwner)
    this.#refuseIfEnding()
    const startsEngine = engine !== false && this.#engine === undefined && this.store.isRemote !== true
    if (startsEngine) this.engine(engine === true ? {} : engine)
    let worker: Worker
    try {
      worker = startWorker(this, handlers, {
        log: this.log,
        ...rest,
        middleware: [...this.#middleware, ...middleware],
      })
    } catch (error) {
      // A refused worker must leave nothing running.
      if (startsEngine) await this.#endEngine()
      throw error
    }
    this.#workers.add(worker)
    void worker.closed.then(() => this.#workers.delete(worker))
    if (signals) this.#listenToSignals()
    return worker
  }

  /**
   * Removes offloaded values whose execution or flow does not exist any more. Never removes one whose owner exists, nor one that was
   * written in the last day, or `minAge`: its owner may be about to be stored. Run it daily, with the bucket of the codec. It needs the
   * store itself: a server hides what belongs to other namespaces.
   *
   * @example
   * await fabric.sweepOffloaded(bucket)
   */
  async sweepOffloaded(bucket: Bucket, options: SweepOffloadedOptions = {}): Promise<SweepReport> {
    return await sweepOffloaded(this, bucket, options)
  }

  /**
   * Starts a process of a durable consumer of events. Each event is handled by one of its processes, at least once, and the events of
   * an execution in order. The position is stored: a later call with this name continues there.
   *
   * @example
   * await using billing = await fabric.consume('billing', { types: ['execution_ended'] }, async (event, { eventId }) => {
   *   await charge(event.executionId, eventId)
   * })
   */
  async consume(
    name: string,
    filter: ConsumerFilter,
    handle: EventHandler,
    options: ConsumeOptions = {},
  ): Promise<Consumer> {
    this.#refuseIfEnding()
    const consumer = await this.startConsumer(this.log, name, filter, handle, options)
    this.#consumers.add(consumer)
    void consumer.closed.then(() => this.#consumers.delete(consumer))
    if (this.#ending !== undefined) await consumer.close()
    return consumer
  }

  /**
   * Delivers the webhooks of the store: sends the events that they want, with retries. The fabric's engine does so too, unless an
   * option turns that off. Any number of processes may deliver. It needs the key ring, and reaches only public hosts over https
   * unless `allowPrivate` is set.
   *
   * @example
   * await using deliverer = fabric.deliverWebhooks()
   */
  deliverWebhooks(options: DeliverWebhooksOptions = {}): WebhookDeliverer {
    this.#refuseIfEnding()
    const checked = deliverOptions(options)
    this.tokens.requireKeyId()
    this.#endAutomatic()
    return this.#deliver(checked, false)
  }

  #deliver({ allowPrivate = false, concurrency = DELIVERIES_DEFAULT }: DeliverWebhooksOptions, isIdleWithout: boolean) {
    const deliverer = new WebhookDeliverer({
      session: this.openSession(),
      log: this.log,
      post,
      allowPrivate,
      isIdleWithout,
      looksForAll: () => this.#engine?.holds(STORE_PARTITION) ?? true,
      forNamespace: (namespace) => this.forNamespace(namespace),
      work: (handler) => this.work([handler], { concurrency, drainTimeout: '10s' }),
    })
    this.#deliverers.add(deliverer)
    void deliverer.closed.then(() => this.#deliverers.delete(deliverer))
    return deliverer
  }

  /**
   * Starts the fabric's engine, which handles timers and retention, or returns the one that runs, with its metrics. A fabric has
   * at most one, so settings are refused while it runs.
   */
  engine(settings?: EngineSettings): Engine {
    this.#refuseIfEnding()
    if (this.store.isRemote === true) throw engineElsewhere()
    if (this.#engine === undefined) {
      const given = engineSettings(settings ?? {})
      const { metrics } = this
      const { webhooks = given.filter === undefined, ...rest } = given
      this.#engine = startEngine({ batcher: this.batcher, runtime: this.runtime, log: this.log, metrics, ...rest })
      if (webhooks !== false && this.#deliverers.size === 0) {
        this.#automatic = this.#deliver(webhooks === true ? {} : webhooks, true)
      }
    } else if (settings !== undefined) {
      throw new EngineError('invalid_configuration', {
        field: 'engine',
        message:
          "The fabric's engine runs already. Call fabric.engine() without settings to get it, or set it up before fabric.work(…).",
      })
    }
    return this.#engine
  }

  /**
   * Changes many executions of this namespace by a filter. `preview()` counts them first. A change runs as an execution of its
   * own, on a worker of this process that starts with the first one, or of another process that makes bulk changes.
   *
   * @example
   * const failed = fabric.bulk({ state: 'failed', task: 'charge', error: 'timeout' })
   * if ((await failed.preview()).count < 1_000) await (await failed.replay({ perSecond: 20 })).result()
   */
  bulk(filter: BulkFilter): Bulk {
    this.#refuseIfEnding()
    return new Bulk(this, filter, () => this.#startBulkWorker(this))
  }

  /**
   * Like `bulk`, in the namespace of a client of this fabric.
   * @internal
   */
  bulkIn(client: Client, filter: BulkFilter): Bulk {
    this.#refuseIfEnding()
    return new Bulk(client, filter, () => this.#startBulkWorker(client))
  }

  /** Starts a worker that continues bulk changes of this namespace which another process has left. */
  continueBulk(): void {
    this.#refuseIfEnding()
    this.#startBulkWorker(this)
  }

  /**
   * Like `continueBulk`, in the namespace of a client of this fabric.
   * @internal
   */
  continueBulkIn(client: Client): void {
    this.#refuseIfEnding()
    this.#startBulkWorker(client)
  }

  #startBulkWorker(client: Client): void {
    const { namespace } = client
    const former = this.#bulkWorkers.get(namespace)
    // An operator may have drained the former one.
    if (former?.state === 'running' || this.#ending !== undefined) return
    const worker = startWorker(client, [bulkHandler(client)], { log: this.log, concurrency: 2, prefetch: 0 })
    this.#bulkWorkers.delete(namespace)
    this.#bulkWorkers.set(namespace, worker)
    this.#workers.add(worker)
    void worker.closed.then(() => this.#workers.delete(worker))
    const oldest = this.#bulkWorkers.entries().next().value
    if (this.#bulkWorkers.size <= BULK_WORKERS_MAX || oldest === undefined) return
    this.#bulkWorkers.delete(oldest[0])
    void oldest[1].close()
  }

  /** Closes the workers as `Worker.close` does, then stops the engine, subscriptions and waits, and closes the store. */
  override async close(options: WorkerCloseOptions = {}): Promise<void> {
    if (this.#ending !== undefined && options.drain === 0) await this.#closeWorkers(options)
    this.#ending ??= this.#end(options)
    await this.#ending
  }

  async #end(options: WorkerCloseOptions): Promise<void> {
    await Promise.all([...this.#deliverers].map((deliverer) => deliverer.close()))
    await Promise.all([this.#closeWorkers(options), this.#closeConsumers()])
    await this.#endEngine()
    await super.close()
    this.#stopListening?.()
  }

  #endAutomatic(): void {
    void this.#automatic?.close()
    this.#automatic = undefined
  }

  async #endEngine(): Promise<void> {
    this.#endAutomatic()
    const engine = this.#engine
    this.#engine = undefined
    await engine?.close()
  }

  async #closeWorkers(options: WorkerCloseOptions): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.close(options)))
  }

  async #closeConsumers(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()))
  }

  /** The first signal closes the fabric, so that the process can exit. A second one skips draining. */
  #listenToSignals(): void {
    this.#stopListening ??= onShutdownSignal((count) => void this.close(count > 1 ? { drain: 0 } : {}))
  }

  async #declare(schedules: readonly ScheduleDefinition[], owner: string | undefined): Promise<void> {
    const { created, changed, deleted } = await this.declareSchedules(
      schedules,
      owner && checkPrincipal(owner, 'schedulesOwner'),
    )
    if (created.length + changed.length + deleted.length === 0) return
    this.log.info({ owner, created, changed, deleted }, 'changed the schedules that the code declares')
  }

  #refuseIfEnding(): void {
    if (this.#ending !== undefined) throw new EngineError('fabric_closed')
  }
}

function engineElsewhere(): EngineError {
  const message = 'The engine runs in the server. A program that connects to a server over HTTP has none.'
  return new EngineError('invalid_configuration', { field: 'engine', message })
}
