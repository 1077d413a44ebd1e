/** Kills a worker process at each call that it makes for a piece of work, has another finish it, and judges the end. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { silentLog } from '../../src/runtime/index.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { until } from '../servers/until.ts'
import { Member } from './fleet.ts'
import { readSideRecord } from './side-record.ts'
import { CALL_COUNT, STEP_NAMES, VOTERS, WAIT_NAME, steppedHandler, steppedTask } from './stepped-work.ts'
import type { StepRunEntry } from './stepped-work.ts'

export interface Kill {
  /** Of the piece of work. */
  readonly number: number
  readonly moment: 'before' | 'after'
  readonly call: number
}

/** Before and after every call. */
export const everyKill: readonly Kill[] = Array.from({ length: 2 * CALL_COUNT }, (_, number) => ({
  number,
  moment: number < CALL_COUNT ? 'before' : 'after',
  call: 1 + (number % CALL_COUNT),
}))

/** Some of them: a step, the sleep, what is read when it is over, the approval, and the end. */
export const someKills: readonly Kill[] = everyKill.filter(({ moment, call }) =>
  (moment === 'before' ? [1, 7] : [1, 4, 5, 7, CALL_COUNT]).includes(call),
)

/** Processes at a time. */
const AT_ONCE = 3
const DEATH_LIMIT_MS = 30_000
const END_LIMIT_MS = 30_000
const LEASE_MS = 1_000
const PROGRAM = new URL('./stepper-process.ts', import.meta.url)

/** `ahead` is a module that each process loads before its program. */
export async function killAtEachCall(location: string, kills: readonly Kill[], ahead?: URL): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'flowfabric-steps-'))
  try {
    await using fabric = await createFabric(location, { log: silentLog, keys: 'none' })
    const ids = new Map<number, string>()
    for (const { number } of kills) {
      const { id } = await fabric.submit(steppedTask(number), { number }, { id: `stepped:${number}` })
      ids.set(number, id)
    }
    fabric.engine()
    await using voters = startVoting(fabric)
    await inTurns(kills, (kill) => killOne(location, folder, kill, ahead))

    const runs: StepRunEntry[] = []
    const handlers = kills.map(({ number }) => steppedHandler(number, 'the healer', (run) => void runs.push(run)))
    await fabric.work(handlers, { leaseTtl: LEASE_MS })
    const signal = AbortSignal.timeout(END_LIMIT_MS)
    const results = await Promise.all(
      kills.map(({ number }) => fabric.execution(ids.get(number)!, steppedTask(number)).result({ signal })),
    )
    voters.stop()

    for (const file of readdirSync(folder)) {
      if (file.endsWith('.jsonl')) runs.push(...readSideRecord<StepRunEntry>(path.join(folder, file)))
    }
    for (const [i, { number, moment, call }] of kills.entries()) {
      await judge(fabric, ids.get(number)!, results[i]!, runs, `killed ${moment} call ${call}`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The result is made of what is recorded, and each recorded value comes from one run, in every answer. */
async function judge(
  fabric: Fabric,
  executionId: string,
  result: string,
  runs: readonly StepRunEntry[],
  how: string,
): Promise<void> {
  const recorded = new Map<string, unknown>()
  for await (const { kind, name, value } of fabric.steps(executionId, { values: true })) {
    if (kind === 'call') recorded.set(name, value)
  }
  const [one, two, three, four, five] = STEP_NAMES.map((name) => recorded.get(name))
  expect(JSON.parse(result), how).toEqual([one, two, three, four, ...VOTERS, five])
  for (const name of STEP_NAMES) {
    const own = runs.filter((run) => run.executionId === executionId && run.step === name)
    expect(
      own.map(({ value }) => value),
      how,
    ).toContain(recorded.get(name))
    expect(new Set(own.map(({ idempotencyKey }) => idempotencyKey)).size, how).toBe(1)
    // Only the step that was not recorded yet when its worker was killed is done again.
    expect(own.length, `${name}, ${how}`).toBeLessThanOrEqual(2)
  }
  const repeated = STEP_NAMES.filter(
    (name) => runs.filter((run) => run.executionId === executionId && run.step === name).length > 1,
  )
  expect(repeated.length, how).toBeLessThanOrEqual(1)
}

async function killOne(
  location: string,
  folder: string,
  { number, moment, call }: Kill,
  ahead: URL | undefined,
): Promise<void> {
  const side = path.join(folder, `${number}.jsonl`)
  const args = [location, side, String(number), moment, String(call)]
  const plan = { name: `stepper-${number}`, program: PROGRAM, args }
  const member = new Member(plan, path.join(folder, 'cache'), ahead)
  const limit = setTimeout(() => void member.stop(), DEATH_LIMIT_MS)
  await member.exited
  clearTimeout(limit)
  expect([member.ending, member.errorText], `${moment} call ${call}`).toEqual(['SIGKILL', ''])
}

/** Voters that answer every open waitpoint, more than once. */
function startVoting(fabric: Fabric): AsyncDisposable & { readonly stop: () => void } {
  let isStopped = false as boolean
  const voting = until('all votes are cast', 2 * DEATH_LIMIT_MS + END_LIMIT_MS, async () => {
    if (isStopped) return true
    const { items } = await fabric.waitpoints()
    for (const { executionId, key } of items.filter((one) => one.key === WAIT_NAME)) {
      for (const by of VOTERS)
        await fabric.try.signal(executionId, 'approve', undefined, { waitpoint: key, by, key: by })
    }
    return undefined
  })
  return {
    stop: () => {
      isStopped = true
    },
    [Symbol.asyncDispose]: async () => {
      isStopped = true
      await voting
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
