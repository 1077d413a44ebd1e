/** Raises the level of a store by one step, once every live process can run the next one. */
import type { LevelPlace, ProcessInfo } from './level-place.ts'
import { refuseOtherLevel } from './store-level.ts'
import type { Levels } from './store-level.ts'

export interface LevelMigration {
  /**
   * The level was raised, would be raised by anything but a dry run, is the highest that this program can run, or cannot be
   * raised while processes run that do not know the next one.
   */
  readonly kind: 'raised' | 'pending' | 'up_to_date' | 'held_back'
  readonly from: number
  /** The level that the store has now, would have, or could have without the processes that hold it back. */
  readonly to: number
  /** The live processes that cannot run the next level. */
  readonly heldBackBy: readonly ProcessInfo[]
}

/** Returns undefined if the store was never used: the first process to open it gives it the highest level that the process can run. */
export async function raiseLevel(
  place: LevelPlace,
  levels: Levels,
  isDryRun: boolean,
): Promise<LevelMigration | undefined> {
  const from = await place.readLevel()
  if (from === undefined) return undefined
  refuseOtherLevel(from, levels)
  if (from === levels.max) return { kind: 'up_to_date', from, to: from, heldBackBy: [] }
  const to = from + 1
  const heldBackBy = (await place.liveProcesses()).filter(({ levelMax }) => levelMax < to)
  if (heldBackBy.length > 0) return { kind: 'held_back', from, to, heldBackBy }
  if (isDryRun) return { kind: 'pending', from, to, heldBackBy }
  await place.raise(to)
  return { kind: 'raised', from, to, heldBackBy }
}
