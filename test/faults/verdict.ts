/** Judges what is left after a fault: every partition is sound, and whatever was acknowledged has ended exactly once. */
import { expect } from 'vitest'
import { executionPartition } from '../../src/stores/store.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { problemsOf } from '../conformance/invariants.ts'
import { findDisagreements } from '../crash/agreement.ts'
import { executionsOf, findFaults } from '../crash/history.ts'
import { until } from '../servers/until.ts'
import type { Ledger } from './ledger.ts'
import type { Load } from './load.ts'

/** Generous: a machine that is busy with other things still makes it. */
export const RECOVERY_LIMIT_MS = 15_000
/** What is woken starts at once; this is what a busy machine may make of it. Nothing else starts the work of a sleeper. */
export const WAKE_LIMIT_MS = 2_000
/** How long everything may take to end once nothing more is submitted. */
const END_LIMIT_MS = 90_000
const FOLLOW_LIMIT_MS = 30_000
const ENDED = ['completed', 'failed', 'cancelled', 'expired']

export interface Verdict {
  readonly acknowledged: number
  /** Keys of what was acknowledged and is not there. */
  readonly lost: readonly string[]
  readonly ended: number
  /** Leases that ran out. */
  readonly reclaimed: number
}

export interface Allowance {
  /** What the server's durability lets it lose, by key. Everything else that was acknowledged must be there. */
  readonly mayLose?: (key: string, acknowledgedAt: number) => boolean
}

/** Lets the work come to its end, stops everything and judges the store. */
export async function judge(load: Load, { mayLose }: Allowance = {}): Promise<Verdict> {
  const { ledger, fabric } = load
  await load.stopSubmitting()
  await untilAllEnded(fabric)
  await load.stopWorking()
  const dumps = await dumpsOf(fabric)
  for (const dump of dumps) expect([...problemsOf(dump), ...findFaults(dump)]).toEqual([])

  const acknowledged = ledger.acknowledgements.size
  const whole = mergedDump(dumps)
  const lost = lostOf(ledger, whole)
  expect(lost.filter((key) => mayLose?.(key, ledger.acknowledgements.get(key)?.at ?? 0) !== true)).toEqual([])
  ledger.strike(lost)
  const bodies = mayLose === undefined ? ledger.bodies() : rememberedBodies(ledger, whole)
  const seen = { acknowledged: () => ledger.acknowledged(), bodies: () => bodies }
  expect(await findDisagreements(seen, fabric, whole)).toEqual([])
  await expectFollowed(load, whole, mayLose !== undefined)
  expect(ledger.complaints).toEqual([])
  return { acknowledged, lost, ended: executionsOf(whole).length, reclaimed: countOf(whole, 'lease_expired') }
}

/** An event reader has seen every end, or got a gap; and there is one only if something was lost. */
async function expectFollowed({ follower }: Load, dump: PartitionDump, mayHaveGap: boolean): Promise<void> {
  const ids = executionsOf(dump).map(({ id }) => id)
  const hasSeenAll = async (): Promise<true | undefined> =>
    follower.gapCount > 0 || ids.every((id) => follower.ended.has(id)) || undefined
  await until('every end is seen by who follows the events', FOLLOW_LIMIT_MS, hasSeenAll)
  if (!mayHaveGap) expect(follower.gapCount).toBe(0)
}

export async function untilAllEnded(fabric: Fabric): Promise<void> {
  let unfinished: string[] = []
  const look = async (): Promise<true | undefined> => {
    const states = (await fabric.lanes()).flatMap(({ counts }) => Object.keys(counts))
    unfinished = states.filter((state) => !ENDED.includes(state))
    return unfinished.length === 0 || undefined
  }
  await until('everything ends', END_LIMIT_MS, look).catch((error: unknown) => {
    throw new Error(`Some are still ${unfinished.join(', ')}.`, { cause: error })
  })
}

export async function dumpsOf(fabric: Fabric): Promise<PartitionDump[]> {
  const dumps: PartitionDump[] = []
  for (let number = 0; number < fabric.store.settings.executionPartitions; number++) {
    dumps.push(await fabric.store.dump(executionPartition(number)))
  }
  return dumps
}

/** For questions that do not care in which partition something is. */
export function mergedDump(dumps: readonly PartitionDump[]): PartitionDump {
  return {
    records: dumps.flatMap(({ records }) => records),
    entries: dumps.flatMap(({ entries }) => entries),
    blobKeys: dumps.flatMap(({ blobKeys }) => blobKeys),
    events: dumps.flatMap(({ events }) => events),
  }
}

function lostOf(ledger: Ledger, dump: PartitionDump): string[] {
  const keys = new Set(executionsOf(dump).map(({ key }) => key))
  return [...ledger.acknowledgements.keys()].filter((key) => !keys.has(key))
}

/** A store that forgot its last moments has also forgotten who it had given its last attempts to. */
function rememberedBodies(ledger: Ledger, dump: PartitionDump): ReturnType<Ledger['bodies']> {
  const attempts = new Map<string, number>(executionsOf(dump).map(({ id, attempt }) => [id, attempt?.number ?? 0]))
  return ledger.bodies().filter(({ executionId, attempt }) => attempt <= (attempts.get(executionId) ?? 0))
}

function countOf({ events }: PartitionDump, type: string): number {
  return events.filter((event) => event.type === type).length
}

/** One line for each scenario. */
export function say(what: string, numbers: Readonly<Record<string, number | string>>): void {
  const words = Object.entries(numbers).map(([name, number]) => `${name} ${number}`)
  console.log(`${what}: ${words.join(', ')}`)
}
