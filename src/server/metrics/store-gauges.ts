/** What is read from the store for a scrape: lanes, workers, budgets, limits and consumers. It is the same in every process. */
import type { Client } from '../../client/index.ts'
import { metricsRegistry, sleep } from '../../runtime/index.ts'
import type { Gauge, MetricSample, Metrics, Runtime } from '../../runtime/index.ts'
import { readConsumers } from './consumer-gauges.ts'
import { readLimits } from './limit-gauges.ts'

export const laneExecutions: Gauge<'lane' | 'state'> = {
  kind: 'gauge',
  name: 'ff_lane_executions',
  help: 'Executions of a lane by state.',
  labels: ['lane', 'state'],
}

export const laneOldestWaiting: Gauge<'lane'> = {
  kind: 'gauge',
  name: 'ff_lane_oldest_waiting_seconds',
  help: 'For how long the execution waits that is claimed next; 0 if none waits.',
  labels: ['lane'],
}

export const laneHeld: Gauge<'lane'> = {
  kind: 'gauge',
  name: 'ff_lane_held',
  help: '1 if an operator holds the lane, else 0.',
  labels: ['lane'],
}

export const liveWorkers: Gauge<'state'> = {
  kind: 'gauge',
  name: 'ff_workers',
  help: 'Registered workers by state.',
  labels: ['state'],
}

export const workerSlots: Gauge<never> = {
  kind: 'gauge',
  name: 'ff_worker_slots',
  help: 'Slots of all workers that run or drain.',
  labels: [],
}

export const workerRunning: Gauge<never> = {
  kind: 'gauge',
  name: 'ff_worker_running',
  help: 'Handlers that run on these workers, as of their latest heartbeats.',
  labels: [],
}

export const budgetSpent: Gauge<'budget' | 'dimension'> = {
  kind: 'gauge',
  name: 'ff_budget_spent',
  help: 'Spent by a budget without a key since it began anew; money in millionths.',
  labels: ['budget', 'dimension'],
}

export const budgetReserved: Gauge<'budget' | 'dimension'> = {
  kind: 'gauge',
  name: 'ff_budget_reserved',
  help: 'Reserved in a budget without a key; money in millionths.',
  labels: ['budget', 'dimension'],
}

export const budgetHardLimit: Gauge<'budget' | 'dimension'> = {
  kind: 'gauge',
  name: 'ff_budget_hard_limit',
  help: 'The hard limit of a budget without a key, with what was raised. Absent without one.',
  labels: ['budget', 'dimension'],
}

export const storeUp: Gauge<never> = {
  kind: 'gauge',
  name: 'ff_store_up',
  help: '1 if the store has answered this scrape, else 0. Then the other gauges of the store are missing.',
  labels: [],
}

/** How long a scrape waits for the store. Prometheus waits for ten seconds by default. */
const READ_MS = 5_000
/** For how long a reading answers further scrapes. */
const FRESH_MS = 5_000
/** Pages of workers. Further ones are not counted. */
const WORKER_PAGES_MAX = 20

export class StoreGauges {
  readonly #client: Client
  readonly #runtime: Runtime
  #readAt = -Infinity
  #reading: Promise<MetricSample[]> | undefined

  constructor(client: Client, runtime: Runtime) {
    this.#client = client
    this.#runtime = runtime
  }

  /** Returns no gauges but one if the store does not answer: the counters of the process are needed most then. */
  async read(): Promise<MetricSample[]> {
    const over = new AbortController()
    const inTime = sleep(this.#runtime, READ_MS, over.signal).then(() => undefined)
    const samples = await Promise.race([this.#shared().catch(() => undefined), inTime])
    over.abort()
    const up = { metric: storeUp, labels: {}, value: samples === undefined ? 0 : 1 }
    return [up, ...(samples ?? [])]
  }

  /** Scrapes at the same time share a reading. */
  #shared(): Promise<MetricSample[]> {
    const now = this.#runtime.monotonic()
    if (this.#reading !== undefined && now - this.#readAt < FRESH_MS) return this.#reading
    this.#readAt = now
    const reading = readGauges(this.#client, this.#runtime)
    this.#reading = reading
    reading.catch(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    return reading
  }
}

async function readGauges(client: Client, runtime: Runtime): Promise<MetricSample[]> {
  const metrics = metricsRegistry()
  for (const { lane, counts, waitingSince, state } of await client.lanes()) {
    for (const [of, count] of Object.entries(counts)) metrics.set(laneExecutions, { lane, state: of }, count)
    const waitMs = waitingSince === undefined ? 0 : Math.max(0, runtime.now() - waitingSince)
    metrics.set(laneOldestWaiting, { lane }, waitMs / 1_000)
    metrics.set(laneHeld, { lane }, state === 'active' ? 0 : 1)
  }
  const states = { running: 0, draining: 0, lost: 0, dead: 0 }
  let slots = 0
  let running = 0
  let cursor: string | undefined
  for (let i = 0; i < WORKER_PAGES_MAX; i++) {
    const page = await client.workers(cursor === undefined ? {} : { cursor })
    for (const worker of page.items) {
      states[worker.state] += 1
      if (worker.state === 'lost' || worker.state === 'dead') continue
      slots += worker.slots
      running += worker.running
    }
    cursor = page.cursor
    if (cursor === undefined) break
  }
  for (const [state, count] of Object.entries(states)) metrics.set(liveWorkers, { state }, count)
  metrics.set(workerSlots, {}, slots)
  metrics.set(workerRunning, {}, running)
  await Promise.all([
    readBudgets(client, metrics),
    readLimits(client, metrics),
    readConsumers(client, runtime, metrics),
  ])
  return metrics.snapshot()
}

/** Budgets by name. Keys are no labels, because there may be many. */
async function readBudgets(client: Client, metrics: Metrics): Promise<void> {
  for (const { name: budget, dimensions } of await client.budgets.keyless()) {
    for (const { dimension, spent, reserved, hard } of dimensions) {
      const labels = { budget, dimension }
      metrics.set(budgetSpent, labels, spent)
      metrics.set(budgetReserved, labels, reserved)
      if (hard !== undefined) metrics.set(budgetHardLimit, labels, hard)
    }
  }
}
