/** Kills a worker process at each call that it makes for a piece of work, has another finish it, and judges the end. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import type { Handler, Task } from '../../src/client/index.ts'
import { silentLog } from '../../src/runtime/index.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { until } from '../servers/until.ts'
import { Member } from './fleet.ts'
import { readSideRecord } from './side-record.ts'

/** The input of a piece of work. */
export interface KilledWork {
  readonly number: number
}

/** One run of a step's work, as its process wrote it down. Its value is unique to the run. */
export interface StepRunEntry {
  readonly executionId: string
  readonly step: string
  readonly idempotencyKey: string
  readonly value: string
}

export interface Kill {
  /** Of the piece of work. */
  readonly number: number
  readonly moment: 'before' | 'after'
  readonly call: number
}

/** Work of one kind. */
export interface Killable {
  /** By which a process knows it. */
  readonly name: string
  readonly taskOf: (number: number) => Task<KilledWork, KilledWork, string, string>
  readonly handlerOf: (number: number, who: string, note: (run: StepRunEntry) => void) => Handler
  /** What happens again and again from outside, until all work has ended. */
  readonly act: (fabric: Fabric) => Promise<void>
  readonly judge: (piece: EndedPiece) => Promise<void>
}

export interface EndedPiece {
  readonly fabric: Fabric
  readonly executionId: string
  readonly end: PromiseSettledResult<string>
  /** All runs of its own steps. */
  readonly runs: readonly StepRunEntry[]
  readonly kill: Kill
  /** The kill in words. */
  readonly how: string
}

/** Before and after each of the first calls. */
export function killsAt(callCount: number): readonly Kill[] {
  return Array.from({ length: 2 * callCount }, (_, number) => ({
    number,
    moment: number < callCount ? 'before' : 'after',
    call: 1 + (number % callCount),
  }))
}

/** Processes at a time. */
const AT_ONCE = 3
const DEATH_LIMIT_MS = 60_000
const END_LIMIT_MS = 120_000
/** Far longer than any stall: none of what the healer does is repeated. */
const HEALER_LEASE_MS = 60_000
const PROGRAM = new URL('./stepper-process.ts', import.meta.url)

/** `ahead` is a module that each process loads before its program. */
export async function killAtEachCall(
  work: Killable,
  location: string,
  kills: readonly Kill[],
  ahead?: URL,
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'flowfabric-steps-'))
  try {
    await using fabric = await createFabric(location, { log: silentLog, keys: 'none' })
    const ids = new Map<number, string>()
    for (const { number } of kills) {
      const { id } = await fabric.submit(work.taskOf(number), { number }, { id: `${work.name}:${number}` })
      ids.set(number, id)
    }
    fabric.engine()
    await using acting = startActing(fabric, work)
    await inTurns(kills, (kill) => killOne(location, folder, work, kill, ahead))

    const runs: StepRunEntry[] = []
    const handlers = kills.map(({ number }) => work.handlerOf(number, 'the healer', (run) => void runs.push(run)))
    await fabric.work(handlers, { leaseTtl: HEALER_LEASE_MS })
    const signal = AbortSignal.timeout(END_LIMIT_MS)
    const ends = await Promise.allSettled(
      kills.map(({ number }) => fabric.execution(ids.get(number)!, work.taskOf(number)).result({ signal })),
    )
    acting.stop()

    for (const file of readdirSync(folder)) {
      if (file.endsWith('.jsonl')) runs.push(...readSideRecord<StepRunEntry>(path.join(folder, file)))
    }
    for (const [i, kill] of kills.entries()) {
      const executionId = ids.get(kill.number)!
      const own = runs.filter((run) => run.executionId === executionId)
      const how = `killed ${kill.moment} call ${kill.call}`
      await work.judge({ fabric, executionId, end: ends[i]!, runs: own, kill, how })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Expects that each step ran, under one key, and that only the one was done again that was not recorded at the kill. A
 * process that was short of a core may have lost a lease before it was killed; each lost lease may repeat one step more.
 */
export async function expectRunOnce(
  { fabric, executionId, runs, how }: EndedPiece,
  steps: readonly string[],
  repeatedMax: number,
): Promise<void> {
  const { reclaimCount } = await fabric.describe(executionId)
  const earlierLosses = Math.max(0, reclaimCount - 1)
  const byStep = Map.groupBy(runs, ({ step }) => step)
  expect([...byStep.keys()].sort(), how).toEqual([...steps].sort())
  for (const [step, own] of byStep) {
    expect(new Set(own.map(({ idempotencyKey }) => idempotencyKey)).size, `${step}, ${how}`).toBe(1)
    expect(own.length, `${step}, ${how}`).toBeLessThanOrEqual(2 + earlierLosses)
  }
  const repeated = [...byStep].flatMap(([step, own]) => own.slice(1).map(() => step))
  expect(repeated.length, `${repeated.join(', ')}, ${how}`).toBeLessThanOrEqual(repeatedMax + earlierLosses)
}

async function killOne(
  location: string,
  folder: string,
  work: Killable,
  { number, moment, call }: Kill,
  ahead: URL | undefined,
): Promise<void> {
  const side = path.join(folder, `${number}.jsonl`)
  const args = [location, side, work.name, String(number), moment, String(call)]
  const plan = { name: `stepper-${number}`, program: PROGRAM, args }
  const member = new Member(plan, ahead)
  const limit = setTimeout(() => void member.stop(), DEATH_LIMIT_MS)
  await member.exited
  clearTimeout(limit)
  expect([member.ending, member.errorText], `${moment} call ${call}`).toEqual(['SIGKILL', ''])
}

/** Acts from outside until it is stopped. */
function startActing(fabric: Fabric, { act }: Killable): AsyncDisposable & { readonly stop: () => void } {
  let isStopped = false as boolean
  const acting = until('all work has ended', 2 * DEATH_LIMIT_MS + END_LIMIT_MS, async () => {
    if (isStopped) return true
    await act(fabric)
    return undefined
  })
  return {
    stop: () => {
      isStopped = true
    },
    [Symbol.asyncDispose]: async () => {
      isStopped = true
      await acting
    },
  }
}

async function inTurns<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  const turns = Array.from({ length: AT_ONCE }, async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item)
  })
  await Promise.all(turns)
}
