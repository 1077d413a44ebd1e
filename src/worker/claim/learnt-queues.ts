/**
 * Learns of queues that a submit has made: those with needs that its task does not declare, and for a worker of all namespaces those
 * of other namespaces. A wake-up names a new queue at once. A listing at the start and every few seconds finds the queues whose wake-up
 * was lost. A queue that stays empty is forgotten until the next wake-up or listing finds it with work.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import {
  NEEDS_CLASS_MAX,
  NEEDS_SEPARATOR,
  missingNeeds,
  parseClass,
  queueOfIndex,
  readyIndex,
  taskClass,
} from '../../kernel/index.ts'
import type { ListedQueue, Position, QueueName } from '../../kernel/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'
import type { CallHealth } from '../../stores/store-health.ts'
import type { ServedTask, WorkerScope } from '../served-task.ts'

/** How often the queues of the store are listed. */
const LIST_EVERY_MS = 5_000
/** The same for a worker that knows all its queues, unless tasks take turns by another definition than its own. */
const RARE_LIST_MS = 3_600_000
/** Jitter of the interval, as a fraction in both directions, so that workers do not synchronise. */
const LIST_JITTER = 0.2
/** How long a learnt queue may be empty before it is forgotten. */
const EMPTY_QUEUE_MS = 60_000
/** Learnt queues of one partition. A further one takes the place of the one learnt first, which the next listing finds again. */
const LEARNT_QUEUE_MAX = NEEDS_CLASS_MAX
/** Names of queues that are remembered as not served. */
const REFUSED_QUEUE_MAX = 10_000

export interface LearntQueuesOptions {
  readonly batcher: Batcher
  readonly runtime: Runtime
  readonly health: CallHealth
  readonly tasks: readonly ServedTask[]
  readonly lanes: readonly string[] | undefined
  readonly scope: WorkerScope
}

/** Where learnt queues are claimed from. */
export interface QueueListener {
  /** A queue has work that the worker may run. */
  readonly onLearnt: (partition: Partition, queue: QueueName, task: ServedTask) => void
  readonly onForgotten: (partition: Partition, queue: QueueName) => void
  /** A listing has ended, which may have found queues. */
  readonly onListed: () => void
  readonly onFabricClosed: () => void
}

interface LearntQueue extends QueueName {
  /** When it was last known to have work, on the monotonic clock. */
  readyAt: number
}

export class LearntQueues {
  readonly #options: LearntQueuesOptions
  readonly #listener: QueueListener
  readonly #tasks: ReadonlyMap<string, ServedTask>
  readonly #lanes: readonly string[]
  readonly #learnt = new Map<Partition, Map<string, LearntQueue>>()
  /** The needs that a digest in a class stands for. */
  readonly #needsByClass = new Map<string, readonly string[]>()
  readonly #refused = new Set<string>()
  /** Partitions whose queues are being listed; true if they are to be listed again after that. */
  readonly #listing = new Map<Partition, boolean>()
  readonly #everyMs: number
  #timer: Timer | undefined
  #isOpen = true

  constructor(options: LearntQueuesOptions, listener: QueueListener) {
    const { tasks, lanes } = options
    this.#options = options
    this.#listener = listener
    this.#tasks = new Map(tasks.flatMap((task) => task.versions.map((version) => [version, task])))
    this.#lanes = lanes ?? [...new Set(tasks.map(laneOf))]
    this.#everyMs = hasUnknown(options.scope) ? LIST_EVERY_MS : RARE_LIST_MS
  }

  /** Lists the queues of all partitions, now and once per interval. */
  start(): void {
    if (!this.#isOpen) return
    const { batcher, runtime } = this.#options
    const jitter = 1 - LIST_JITTER + 2 * LIST_JITTER * runtime.random()
    this.#timer = runtime.after(this.#everyMs * jitter, () => this.start())
    for (let number = 0; number < batcher.store.settings.executionPartitions; number++) {
      void this.#list(executionPartition(number))
    }
  }

  close(): void {
    this.#isOpen = false
    this.#timer?.cancel()
  }

  /** Takes note of a ready index that is not claimed from. Returns whether it is from now on. */
  consider(partition: Partition, index: string): boolean {
    if (!this.#isOpen || this.#refused.has(index)) return false
    const queue = queueOfIndex(index)
    const needs = this.#needsOf(queue.class)
    if (needs !== undefined) return this.#learn(partition, queue, needs)
    if (this.#taskOf(queue) === undefined) this.#refuse(index)
    // Only the record of the queue has the needs that a digest stands for.
    else void this.#list(partition)
    return false
  }

  #learn(partition: Partition, queue: QueueName, needs: readonly string[]): boolean {
    const index = readyIndex(queue.lane, queue.class)
    const task = this.#taskOf(queue)
    if (task === undefined || missingNeeds(needs, this.#options.scope.capabilities).length > 0) {
      this.#refuse(index)
      return false
    }
    if (task.classes.includes(queue.class)) return false
    const learnt = this.#learntIn(partition)
    const known = learnt.get(index)
    if (known !== undefined) {
      known.readyAt = this.#options.runtime.monotonic()
      return true
    }
    for (const [first, oldest] of learnt) {
      if (learnt.size < LEARNT_QUEUE_MAX) break
      this.#forget(partition, first, oldest)
    }
    learnt.set(index, { ...queue, readyAt: this.#options.runtime.monotonic() })
    this.#listener.onLearnt(partition, queue, task)
    return true
  }

  /** Returns the task that runs the executions of a queue, if the worker serves its version, lane and namespace. */
  #taskOf({ lane, class: className }: QueueName): ServedTask | undefined {
    const { task: name, version, namespace } = parseClass(className)
    const { scope, lanes } = this.#options
    const task = this.#tasks.get(taskClass(name, version))
    if (task === undefined || (scope.namespace !== undefined && namespace !== scope.namespace)) return undefined
    return (lanes ?? [laneOf(task)]).includes(lane) ? task : undefined
  }

  /** Returns undefined if the class has only a digest of needs that were not listed yet. */
  #needsOf(className: string): readonly string[] | undefined {
    const { needs } = parseClass(className)
    if (needs === undefined) return []
    return needs.isDigest ? this.#needsByClass.get(className) : needs.text.split(NEEDS_SEPARATOR)
  }

  #refuse(index: string): void {
    if (this.#refused.size >= REFUSED_QUEUE_MAX) this.#refused.clear()
    this.#refused.add(index)
  }

  #learntIn(partition: Partition): Map<string, LearntQueue> {
    const learnt = this.#learnt.get(partition) ?? new Map<string, LearntQueue>()
    this.#learnt.set(partition, learnt)
    return learnt
  }

  #forget(partition: Partition, index: string, queue: QueueName): void {
    this.#learntIn(partition).delete(index)
    this.#listener.onForgotten(partition, queue)
  }

  /** Lists the queues of one partition. A listing under way may have passed a new queue, so another one follows it. */
  async #list(partition: Partition): Promise<void> {
    if (this.#listing.has(partition)) {
      this.#listing.set(partition, true)
      return
    }
    do {
      this.#listing.set(partition, false)
      await this.#listLanes(partition)
    } while (this.#isOpen && this.#listing.get(partition) === true)
    this.#listing.delete(partition)
  }

  /** The next listing repairs a failed one. */
  async #listLanes(partition: Partition): Promise<void> {
    const { health } = this.#options
    try {
      for (const lane of this.#lanes) await this.#listLane(partition, lane)
    } catch (error) {
      if (error instanceof EngineError && error.code === 'fabric_closed') this.#listener.onFabricClosed()
      else health.failed(partition, error)
      return
    }
    health.answered(partition)
    this.#forgetEmpty(partition)
    this.#listener.onListed()
  }

  async #listLane(partition: Partition, lane: string): Promise<void> {
    const { batcher, scope } = this.#options
    let cursor: Position | undefined
    do {
      const { result } = await batcher.run(partition, 'listQueues', { lane, namespace: scope.namespace, cursor })
      if (!this.#isOpen) return
      for (const queue of result.queues) this.#noteListed(partition, lane, queue)
      cursor = result.cursor
    } while (cursor !== undefined)
  }

  #noteListed(partition: Partition, lane: string, { class: className, needs, isReady }: ListedQueue): void {
    if (!isReady) return
    if (needs !== undefined && parseClass(className).needs?.isDigest === true) this.#noteDigest(className, needs)
    this.#learn(partition, { lane, class: className }, needs ?? this.#needsOf(className) ?? [])
  }

  #noteDigest(className: string, needs: readonly string[]): void {
    if (this.#needsByClass.size >= NEEDS_CLASS_MAX) this.#needsByClass.clear()
    this.#needsByClass.set(className, needs)
  }

  #forgetEmpty(partition: Partition): void {
    const emptySince = this.#options.runtime.monotonic() - EMPTY_QUEUE_MS
    for (const [index, queue] of this.#learntIn(partition)) {
      if (queue.readyAt < emptySince) this.#forget(partition, index, queue)
    }
  }
}

function laneOf(task: ServedTask): string {
  return task.handler.task.policy.lane
}

/** Whether many queues may arise that the worker does not know: of other namespaces, or with other needs. */
function hasUnknown({ namespace, capabilities }: WorkerScope): boolean {
  return namespace === undefined || capabilities.size > 0
}
