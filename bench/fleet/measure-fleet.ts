/** Measures processes that share one Valkey server: each submits its part of the work, and all complete it together. */
import { setTimeout as sleep } from 'node:timers/promises'
import { freshStore } from '../bench-store.ts'
import { perSecond, timed } from '../load.ts'
import type { Child } from '../processes/child.ts'
import { conflictShareOf, growthOf } from '../processes/process-use.ts'
import type { ProcessUse } from '../processes/process-use.ts'
import { watchServers } from '../server-watch.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import type { Effort } from '../stages.ts'
import type { FleetSystem, MemberDuties } from './member-process.ts'
import type { Timers } from './timers.ts'

export type Member = Child<MemberDuties>

export interface FleetOrder {
  readonly system: FleetSystem
  readonly members: readonly Member[]
  /** Executions of the whole fleet. */
  readonly count: number
  readonly timers: Timers
  readonly delayMs: number | undefined
}

export interface FleetEffort extends Effort {
  /** Operations that met a conflict, as a share of all operations of the fleet. */
  readonly conflictShare: number
}

/** Executions that each process submits before the clock starts, so that queues are known and connections are open. */
const SETTLING_COUNT = 200
const LOOK_EVERY_MS = 10
const STALL_LIMIT_MS = 30_000

export async function measureFleet(order: FleetOrder): Promise<FleetEffort> {
  const { system, members, count, timers, delayMs } = order
  await using place = await freshStore('valkey', delayMs)
  const memberOrder = { system, url: place.url, concurrency: CONCURRENCY, prefetch: PREFETCH.valkey, timers }
  // One after the other, so that the first one alone sets up the store.
  for (const member of members) await member.ask('open', memberOrder)
  const settlingCount = SETTLING_COUNT * members.length
  await runLives(members, { first: count, count: settlingCount, goal: settlingCount })

  const before = await usesOf(members)
  const watch = await watchServers(place.servers)
  const elapsedMs = await timed(() => runLives(members, { first: 0, count, goal: settlingCount + count }))
  const servers = await watch.end()
  const after = await usesOf(members)
  await proveCompleted(members, settlingCount + count)
  await Promise.all(members.map((member) => member.ask('close', null)))

  const growth = growthOf(before, after)
  return {
    perSecond: perSecond(count, elapsedMs),
    clientMicros: growth.cpuMicros / count,
    servers,
    conflictShare: conflictShareOf(growth),
  }
}

/** Executions with these numbers, until the fleet has completed as many as the goal since it was opened. */
interface Lives {
  readonly first: number
  readonly count: number
  readonly goal: number
}

async function runLives(members: readonly Member[], { first, count, goal }: Lives): Promise<void> {
  const submits = members.map((member, i) => {
    const [from, to] = [i, i + 1].map((part) => Math.floor((count * part) / members.length)) as [number, number]
    return member.ask('submit', { first: first + from, count: to - from })
  })
  await Promise.all([...submits, untilCompleted(members, goal)])
}

async function untilCompleted(members: readonly Member[], goal: number): Promise<void> {
  let [last, changedAt] = [0, performance.now()]
  for (;;) {
    const counts = await Promise.all(members.map((member) => member.ask('completedCount', null)))
    const completed = counts.reduce((sum, count) => sum + count, 0)
    if (completed >= goal) return
    if (completed > last) [last, changedAt] = [completed, performance.now()]
    if (performance.now() - changedAt > STALL_LIMIT_MS) {
      throw new Error(`The fleet stopped at ${completed} of ${goal} executions.`)
    }
    await sleep(LOOK_EVERY_MS)
  }
}

function usesOf(members: readonly Member[]): Promise<ProcessUse[]> {
  return Promise.all(members.map((member) => member.ask('use', null)))
}

async function proveCompleted([member]: readonly Member[], count: number): Promise<void> {
  const stored = await member?.ask('storedCount', null)
  if (stored !== count) throw new Error(`The store has ${stored ?? 'no'} completed executions instead of ${count}.`)
}
