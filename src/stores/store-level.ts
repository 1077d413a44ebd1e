/**
 * The level of a store. New record types, phases and timers are written only from their level on, so that every program that
 * uses the store knows them. A program refuses a store whose level it cannot run.
 */
import { EngineError } from './engine-error.ts'

/** The levels that this program can run. A new store gets the highest one. */
export const LEVEL_MIN = 1
export const LEVEL_MAX = 1

/** The level of a store whose settings have none: it was set up before there were levels. */
const FIRST_LEVEL = 1

/** Refuses a store whose level this program cannot run. `found` is what the settings hold. */
export function refuseOtherLevel(found: unknown): void {
  const level = found ?? FIRST_LEVEL
  if (typeof level !== 'number' || !Number.isSafeInteger(level) || level < FIRST_LEVEL) {
    const message = `The settings of the store have level ${JSON.stringify(level)}, which is not a whole number from 1.`
    throw new EngineError('corruption', { field: 'location', message })
  }
  if (level > LEVEL_MAX) {
    throw new EngineError('newer_schema', {
      message: `The store has level ${level}, this program can run a store up to level ${LEVEL_MAX}.`,
    })
  }
  if (level < LEVEL_MIN) {
    throw new EngineError('older_schema', {
      message: `The store has level ${level}, this program can run a store from level ${LEVEL_MIN} on.`,
    })
  }
}
