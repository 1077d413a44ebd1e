/**
 * Wakes work that a limit or a budget blocks and a change has given room: opens the gates of the partitions with such work. Wakes of a budget
 * are confirmed then. If a process crashes before, the engine delivers them seconds later; those of a limit open at the time of their gate,
 * a minute later at most.
 */
import { GATE_OPEN_MAX, LIMIT_WAKE_COUNT, isBudgetId } from '../kernel/index.ts'
import type { KeyWake, WakeCursor } from '../kernel/index.ts'
import type { Batcher } from './batcher.ts'
import { limitPartition } from './partitions.ts'
import { executionPartition } from './store.ts'

/** Steps over the keys of a limit, of up to 50 keys each. Keys behind them, which are less busy, wait for their time. */
const STEPS_MAX = 200

/** Opens the gates of keys, and ends the delays of executions, in every partition that was named. */
export async function deliverWakes(batcher: Batcher, limit: string, wakes: readonly KeyWake[]): Promise<void> {
  if (wakes.length === 0) return
  const byPartition = Map.groupBy(wakes, ({ partition }) => partition)
  await Promise.all(
    [...byPartition].map(async ([number, own]) => {
      const opened = own.filter(({ permits }) => permits > 0)
      const gates = opened.map(({ key, permits }) => ({ limit, key, permits, afterMs: 0 }))
      const executions = own.flatMap((wake) => wake.executions ?? [])
      for (let i = 0; i < Math.max(gates.length, executions.length); i += GATE_OPEN_MAX) {
        const woken = executions.slice(i, i + GATE_OPEN_MAX)
        await batcher.run(executionPartition(number), 'openGates', {
          gates: gates.slice(i, i + GATE_OPEN_MAX),
          executions: woken.length === 0 ? undefined : woken,
        })
      }
    }),
  )
  if (isBudgetId(limit)) await confirm(batcher, limit, wakes)
}

async function confirm(batcher: Batcher, limit: string, wakes: readonly KeyWake[]): Promise<void> {
  const latest = new Map<string, number>()
  for (const { key, at = 0 } of wakes) latest.set(key, Math.max(at, latest.get(key) ?? 0))
  const keys = [...latest].map(([key, at]) => ({ key, at }))
  for (let i = 0; i < keys.length; i += LIMIT_WAKE_COUNT) {
    const input = { limit, keys: keys.slice(i, i + LIMIT_WAKE_COUNT) }
    await batcher.run(limitPartition(limit, batcher.store.settings), 'confirmWakes', input)
  }
}

/**
 * Wakes the work of all keys of a limit or a budget that have room. A partition that does not answer delays no key of a later page: the
 * error is thrown at the end. What is confirmed then is that each key owes its wakes.
 */
export async function wakeBlocked(batcher: Batcher, name: string): Promise<void> {
  const partition = limitPartition(name, batcher.store.settings)
  let cursor: WakeCursor | undefined
  let change: number | undefined
  let failure: { readonly cause: unknown } | undefined
  for (let step = 0; step < STEPS_MAX; step++) {
    const { result } = await batcher.run(partition, 'wakeWaiting', { name, cursor })
    if (step === 0) change = result.wakeAt
    await deliverWakes(batcher, name, result.wakes).catch((cause: unknown) => (failure ??= { cause }))
    cursor = result.cursor
    if (cursor === undefined) break
  }
  if (change !== undefined) await batcher.run(partition, 'confirmWakes', { limit: name, keys: [], wakeAt: change })
  if (failure !== undefined) throw failure.cause
}
