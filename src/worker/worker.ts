/**
 * A worker claims executions and runs their handlers. It survives store outages. When it closes, it drains running handlers and
 * releases the other executions.
 */
import type { Client } from '../client/client.ts'
import { parseDuration } from '../client/define/duration.ts'
import type { Duration } from '../client/define/duration.ts'
import { invalidInput } from '../client/checks/names.ts'
import { budgetUsesOf, limitUsesOf } from '../client/executions/submit.ts'
import { declaredLimitsOf } from '../client/limits/declared-limits.ts'
import { isHandler } from '../client/define/task.ts'
import type { Handler } from '../client/define/task.ts'
import type { EngineError } from '../kernel/engine-error.ts'
import { DEFAULT_NAMESPACE } from '../kernel/index.ts'
import { errorFields, silentLog, sleep } from '../runtime/index.ts'
import type { Log, Runtime } from '../runtime/index.ts'
import { FlowConditions } from './context/flow-conditions.ts'
import { composeHandler } from './attempt/middleware.ts'
import { parseWorkerOptions } from './worker-options.ts'
import type { WorkerOptions, WorkerSettings } from './worker-options.ts'
import { Registration } from './registry/registration.ts'
import { workerFacts } from './registry/worker-facts.ts'
import { BatchCollector } from './batch/batch-collector.ts'
import { ServedTask } from './served-task.ts'
import type { WorkerScope } from './served-task.ts'
import { onShutdownSignal } from './shutdown-signals.ts'
import { shape } from '../options/shape.ts'
import { WorkLoop } from './work-loop.ts'
import { summarise } from './worker-stats.ts'
import type { WorkerState, WorkerStats, WorkerSummary } from './worker-stats.ts'

export interface WorkerCloseOptions {
  /** Overrides the drain timeout of the worker. 0 aborts running handlers at once. */
  readonly drain?: Duration
}

const closeOptions = shape<WorkerCloseOptions>()('{ drain: 0 }', { drain: parseDuration })

/** Starts a worker. Close it before its client. */
export function startWorker(client: Client, handlers: readonly Handler[], options: WorkerOptions = {}): Worker {
  return new Worker(client, handlers, options)
}

export class Worker implements AsyncDisposable {
  readonly id: string
  /** Unique per start, so that two processes with the same id can be distinguished. */
  readonly instanceId: string
  /** Resolves when the worker has stopped, for whatever reason. */
  readonly closed: Promise<WorkerSummary>
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #settings: WorkerSettings
  readonly #loop: WorkLoop
  readonly #registration: Registration
  readonly #skipDrain = new AbortController()
  readonly #stopListening: () => void
  #resolveClosed: (summary: WorkerSummary) => void = () => undefined
  #state: WorkerState = 'running'

  constructor(client: Client, handlers: readonly Handler[], options: WorkerOptions) {
    const settings = parseWorkerOptions(options)
    const { batcher, runtime, tokens } = client
    this.id = settings.workerId
    this.instanceId = runtime.uuid()
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve))
    this.#runtime = runtime
    this.#log = options.log ?? silentLog
    this.#settings = settings
    const scope = scopeOf(client, settings)
    const tasks = serveTasks(handlers, options, settings, { scope, runtime })
    this.#loop = new WorkLoop({
      batcher,
      tokens,
      runtime,
      log: this.#log,
      settings: { ...settings, workerInstanceId: this.instanceId },
      tasks,
      scope,
      conditions: new FlowConditions(settings.flows),
      onFabricClosed: () => this.#onFabricClosed(),
    })
    this.#declareLimits(client, tasks)
    const facts = workerFacts(scope, settings, tasks)
    this.#registration = new Registration({
      batcher,
      runtime,
      log: this.#log,
      workerInstanceId: this.instanceId,
      facts: () => ({ ...facts, runningCount: this.#loop.counts.running }),
      isDraining: () => this.#state !== 'running',
      onDrain: () => this.#onDrain(),
    })
    this.#loop.start()
    this.#registration.start()
    this.#stopListening =
      options.signals === true ? onShutdownSignal((count) => this.#onSignal(count)) : () => undefined
  }

  get state(): WorkerState {
    return this.#state
  }

  stats(): WorkerStats {
    return { state: this.#state, ...this.#loop.counts }
  }

  /**
   * Stops claiming, releases executions that have not started, and drains running handlers. After the drain timeout, aborts the
   * remaining handlers and releases those that react. A second call with a `drain` of 0 skips the rest of the drain.
   */
  async close(options: WorkerCloseOptions = {}): Promise<WorkerSummary> {
    const { drain: drainMs = this.#settings.drainTimeoutMs } = closeOptions(options)
    if (drainMs === 0) this.#skipDrain.abort()
    if (this.#state === 'running') await this.#close(drainMs)
    return await this.closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /**
   * Stops like a killed process: releases nothing, and records nothing that handlers still do.
   * @internal
   */
  crash(): void {
    if (this.#state === 'stopped') return
    this.#registration.abandon()
    this.#finish({ finished: 0, released: 0, abandoned: this.#loop.abandon() })
  }

  async #close(drainMs: number): Promise<void> {
    const before = this.stats()
    this.#state = 'draining'
    this.#loop.drain.begin()
    await this.#idleWithin(drainMs, this.#skipDrain.signal)
    if (!this.#loop.drain.isIdle && !this.#isStopped) {
      this.#state = 'stopping'
      this.#loop.drain.abortRunning()
      await this.#idleWithin(this.#settings.killTimeoutMs)
    }
    if (!this.#isStopped) await this.#loop.returnPermits()
    if (this.#isStopped) return
    const abandoned = this.#loop.abandon()
    const summary = summarise(before, this.stats(), abandoned)
    await this.#registration.close()
    this.#finish(summary)
  }

  /** Work that other programs have submitted needs them, too. */
  #declareLimits({ batcher, runtime }: Client, tasks: readonly ServedTask[]): void {
    const uses = tasks.flatMap(({ handler }) => limitUsesOf(handler.task))
    const budgets = tasks.flatMap(({ handler }) => budgetUsesOf(handler.task))
    const declared = declaredLimitsOf(batcher, runtime)
    const warn = (error: unknown) =>
      this.#log.warn(
        errorFields(error),
        'could not define the limits and budgets of the tasks; the next submit tries again',
      )
    declared.declare(uses)?.catch(warn)
    declared.budgets.declare(budgets)?.catch(warn)
  }

  get #isStopped(): boolean {
    return this.#state === 'stopped'
  }

  #finish(summary: WorkerSummary): void {
    if (this.#isStopped) return
    this.#state = 'stopped'
    this.#stopListening()
    this.#log.info({ workerId: this.id, ...summary }, 'the worker has stopped')
    this.#resolveClosed(summary)
  }

  async #idleWithin(ms: number, skip?: AbortSignal): Promise<void> {
    const over = new AbortController()
    const end = () => over.abort()
    if (skip?.aborted === true) return
    skip?.addEventListener('abort', end, { once: true })
    this.#loop.drain.onceIdle(end)
    await sleep(this.#runtime, ms, over.signal)
    skip?.removeEventListener('abort', end)
  }

  /** An operator has asked for it. */
  #onDrain(): void {
    this.#log.info({ workerId: this.id }, 'the worker was asked to drain; it finishes its work and stops')
    void this.close()
  }

  #onFabricClosed(): void {
    this.#log.error(
      { workerId: this.id },
      'fabric closed before its worker; leased executions are claimable again when their leases expire',
    )
    this.crash()
  }

  #onSignal(count: number): void {
    void this.close(count > 1 ? { drain: 0 } : {})
  }
}

function scopeOf({ namespace, isBound }: Client, { capabilities }: WorkerSettings): WorkerScope {
  return {
    namespace: isBound ? namespace : undefined,
    knownNamespaces: isBound ? [namespace] : [...new Set([namespace, DEFAULT_NAMESPACE])],
    capabilities: new Set(capabilities),
  }
}

function serveTasks(
  handlers: readonly Handler[],
  options: WorkerOptions,
  settings: WorkerSettings,
  { scope, runtime }: { readonly scope: WorkerScope; readonly runtime: Runtime },
): ServedTask[] {
  if (!Array.isArray(handlers) || handlers.length === 0 || !handlers.every(isHandler)) {
    throw invalidInput('handlers', 'handlers must be a list of at least one handler: task(…).handle(…) makes one.')
  }
  const versions = new Set<string>()
  return handlers.map((handler) => {
    const { concurrency } = handler.options
    const limit = concurrency !== undefined && concurrency < settings.concurrency ? concurrency : undefined
    const served = new ServedTask(
      handler,
      composeHandler(options.middleware ?? [], runOf(handler, settings, runtime)),
      limit,
      scope,
    )
    if (served.slots > settings.concurrency) throw tooManySlots(served, settings)
    if (served.versions.some((version) => versions.has(version))) throw twoHandlers(handler)
    for (const version of served.versions) versions.add(version)
    return served
  })
}

/** Returns what runs one execution: the handler, or the collector of its batches. */
function runOf(
  { task: { name }, options, batch, run }: Handler,
  settings: WorkerSettings,
  runtime: Runtime,
): Handler['run'] {
  if (batch === undefined) return run
  const slots = Math.floor(settings.concurrency / (options.slots ?? 1))
  const most = Math.min(slots, options.concurrency ?? slots)
  if (batch.max > most) {
    throw invalidInput(
      'max',
      `max of task '${name}' is ${batch.max}, but the worker runs ${most} of its executions at once: no batch could ever be full. Raise the concurrency, or lower max.`,
    )
  }
  const collector = new BatchCollector(batch, runtime)
  return (input, context) => collector.run(input, context)
}

function tooManySlots({ name, slots }: ServedTask, { concurrency }: WorkerSettings): EngineError {
  return invalidInput(
    'slots',
    `slots of task '${name}' is ${slots}, but the worker has a concurrency of ${concurrency}: no execution of the task could ever start.`,
  )
}

function twoHandlers({ task: { name, version } }: Handler): EngineError {
  const remedy =
    version === undefined ? '' : ' and version: name the versions that each serves, as in handle({ versions: [1] }, …)'
  return invalidInput('handlers', `Task '${name}' has two handlers, but a worker runs one handler per task${remedy}.`)
}
