/**
 * Wakes work that a limit blocks and a change has given room. The limit names the partitions with such work, and their gates are
 * opened. If the process crashes in between, the gates open at their time, after a minute at the latest.
 */
import { GATE_OPEN_MAX } from '../../kernel/index.ts'
import type { KeyWake, Position } from '../../kernel/index.ts'
import { limitPartition } from '../../stores/partitions.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Session } from '../session.ts'

/** Steps over the keys of a limit, of 50 keys each. Keys behind them, which are less busy, wait for their time. */
const STEPS_MAX = 200

export async function wakeBlocked(session: Session, name: string): Promise<void> {
  const partition = limitPartition(name, session.settings)
  let cursor: Position | undefined
  for (let step = 0; step < STEPS_MAX; step++) {
    const { result } = await session.runIn(partition, 'wakeWaiting', { name, cursor })
    await openWoken(session, name, result.wakes)
    cursor = result.cursor
    if (cursor === undefined) return
  }
}

/** Opens the gates of keys, in every partition that was named. */
export async function openWoken(session: Session, limit: string, wakes: readonly KeyWake[]): Promise<void> {
  const byPartition = Map.groupBy(wakes, ({ partition }) => partition)
  await Promise.all(
    [...byPartition].map(async ([number, own]) => {
      const gates = own.map(({ key, permits }) => ({ limit, key, permits, afterMs: 0 }))
      for (let i = 0; i < gates.length; i += GATE_OPEN_MAX) {
        await session.runIn(executionPartition(number), 'openGates', { gates: gates.slice(i, i + GATE_OPEN_MAX) })
      }
    }),
  )
}
