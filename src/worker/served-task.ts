/** A task that a worker serves: its handler, and the counts of its running, waiting and requested executions. */
import { canonicalList, classWithNeeds } from '../client/executions/canonical-needs.ts'
import { servedVersions } from '../client/define/task.ts'
import type { Handler } from '../client/define/task.ts'
import { fairClass, missingNeeds, taskClass } from '../kernel/index.ts'

/** What a worker may run. */
export interface WorkerScope {
  /** The namespaces that it serves: all of them, or one. */
  readonly namespace: string | undefined
  /** The namespaces whose queues it reads before it has learnt of others. */
  readonly knownNamespaces: readonly string[]
  readonly capabilities: ReadonlySet<string>
}

export class ServedTask {
  readonly name: string
  /** Each version that the handler serves, as a class without namespace and needs. */
  readonly versions: readonly string[]
  /** The classes that the worker knows before it has learnt of others: without needs, and with those of the task; each twice if executions take turns. */
  readonly classes: readonly string[]
  readonly handler: Handler
  /** The handler wrapped in its middleware. */
  readonly run: Handler['run']
  /** The concurrency limit of the task, if it is lower than that of the worker. */
  readonly limit: number | undefined
  /** How many slots of the worker one execution takes. */
  readonly slots: number
  runningCount = 0
  /** Claimed but not started. */
  waitingCount = 0
  /** Claimed, and waiting for permits. */
  admittingCount = 0
  /** Executions that pending claims may return; counted only for tasks that are claimed alone. */
  requestedCount = 0

  constructor(handler: Handler, run: Handler['run'], limit: number | undefined, scope: WorkerScope) {
    const { name, policy } = handler.task
    const versions = servedVersions(handler)
    this.name = name
    this.versions = versions.map((version) => taskClass(name, version))
    const classes = scope.knownNamespaces.flatMap((namespace) =>
      needsKnown(policy.needs, scope).flatMap((needs) =>
        versions.map((version) => classWithNeeds({ name, version }, namespace, needs)),
      ),
    )
    // Executions that were submitted by a definition without fairness take no turns.
    this.classes = handler.task.fairness === undefined ? classes : [...classes, ...classes.map(fairClass)]
    this.handler = handler
    this.run = run
    this.limit = limit
    this.slots = handler.options.slots ?? 1
  }

  get isSaturated(): boolean {
    return this.limit !== undefined && this.runningCount >= this.limit
  }

  /** Whether a claim must name no other task, because the room for its executions differs from that for others. */
  get isClaimedAlone(): boolean {
    return this.limit !== undefined || this.slots > 1
  }
}

/** Executions without the needs of the task were submitted before the task had them. */
function needsKnown(declared: readonly string[], { capabilities }: WorkerScope): (readonly string[])[] {
  const needs = canonicalList(declared, 'needs')
  return needs.length > 0 && missingNeeds(needs, capabilities).length === 0 ? [[], needs] : [[]]
}
