/** Times flows of one root, many children and one join, one flow at a time. */
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { freshStore } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import type { Child } from '../processes/child.ts'
import { conflictShareOf, growthOf } from '../processes/process-use.ts'
import type { ProcessUse } from '../processes/process-use.ts'
import { CONCURRENCY, PREFETCH, measured } from '../stages.ts'
import type { Effort } from '../stages.ts'
import { fan, memberCount, pieceHandler } from './fan-flow.ts'
import type { WorkerDuties } from './worker-process.ts'

/** A flow before the clock starts makes the queue known and opens connections. */
const SETTLING_WIDTH = 50

export interface FanoutOrder {
  readonly store: BenchStore
  readonly width: number
  /** Flows that are run, one after the other. */
  readonly count: number
}

export interface FanoutTime {
  /** Until the store has acknowledged all of the flow. */
  readonly submitMs: number
  /** From the submit until the flow has ended. */
  readonly totalMs: number
}

export interface FanoutRound {
  readonly times: readonly FanoutTime[]
  readonly effort: Effort
}

export interface SharedFanoutRound extends FanoutRound {
  /** Operations of the workers that met a conflict, as a share of all their operations. */
  readonly conflictShare: number
}

/** With client, worker and engine in this process. */
export async function measureFanout({ store, width, count }: FanoutOrder): Promise<FanoutRound> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  await fabric.work([pieceHandler], { concurrency: CONCURRENCY, prefetch: PREFETCH[store] })
  await runFanout(fabric, Math.min(width, SETTLING_WIDTH))
  const times: FanoutTime[] = []
  const effort = await measured(place, count * memberCount(width), async () => {
    for (let number = 0; number < count; number++) times.push(await runFanout(fabric, width))
  })
  return { times, effort }
}

/** With the client in this process, and a worker and an engine in each of the others. */
export async function measureSharedFanout(
  workers: readonly Child<WorkerDuties>[],
  { store, width, count }: FanoutOrder,
): Promise<SharedFanoutRound> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const order = { url: place.url, concurrency: CONCURRENCY, prefetch: PREFETCH[store] }
  await Promise.all(workers.map((worker) => worker.ask('open', order)))
  await runFanout(fabric, Math.min(width, SETTLING_WIDTH))
  const members = count * memberCount(width)
  const times: FanoutTime[] = []
  const before = await usesOf(workers)
  const effort = await measured(place, members, async () => {
    for (let number = 0; number < count; number++) times.push(await runFanout(fabric, width))
  })
  const after = await usesOf(workers)
  await Promise.all(workers.map((worker) => worker.ask('close', null)))
  const growth = growthOf(before, after)
  return {
    times,
    effort: { ...effort, clientMicros: effort.clientMicros + growth.cpuMicros / members },
    conflictShare: conflictShareOf(growth),
  }
}

async function runFanout(fabric: Fabric, width: number): Promise<FanoutTime> {
  const startedAt = performance.now()
  const handle = await fabric.submit(fan, { width })
  const submitMs = performance.now() - startedAt
  await handle.result()
  return { submitMs, totalMs: performance.now() - startedAt }
}

function usesOf(workers: readonly Child<WorkerDuties>[]): Promise<ProcessUse[]> {
  return Promise.all(workers.map((worker) => worker.ask('use', null)))
}
