/**
 * The level of a store. New record types, phases and timers are written only from their level on, so that every program that
 * uses the store knows them. A program refuses a store whose level it cannot run. A level is only ever raised.
 */
import { EngineError } from '../../kernel/engine-error.ts'

/** The levels that a program can run, both included. A new store gets the highest one. */
export interface Levels {
  readonly min: number
  readonly max: number
}

/** The levels of this program. */
export const programLevels: Levels = { min: 1, max: 2 }

/** From this level on a store has limits, lane settings, requirements, fairness and a registry of workers. */
export const ADMISSION_LEVEL = 2

/** Returns the error for a feature that needs a higher level than the store has, if any. `feature` is the subject of a sentence. */
export function levelTooLow(
  store: { readonly level: number },
  level: number,
  feature: string,
): EngineError | undefined {
  if (store.level >= level) return undefined
  const message =
    `${feature} needs a store of level ${level}, and this store has level ${store.level}. ` +
    'Once every process runs this version, run "flowfabric migrate".'
  return new EngineError('level_too_low', { message })
}

/** The level of a store whose settings have none: it was set up before there were levels. */
const FIRST_LEVEL = 1

/** Returns the level that the settings of a store hold. Throws if `found` is not a level. */
export function storedLevel(found: unknown): number {
  const level = found ?? FIRST_LEVEL
  if (typeof level === 'number' && Number.isSafeInteger(level) && level >= FIRST_LEVEL) return level
  const message = `The settings of the store have level ${JSON.stringify(level)}, which is not a whole number from 1.`
  throw new EngineError('corruption', { field: 'location', message })
}

/** Refuses a store whose level a program cannot run. `found` is what the settings hold. */
export function refuseOtherLevel(found: unknown, levels: Levels): void {
  const refusal = levelRefusal(found, levels)
  if (refusal !== undefined) throw refusal
}

function levelRefusal(found: unknown, levels: Levels): EngineError | undefined {
  const level = storedLevel(found)
  if (level > levels.max) {
    return new EngineError('newer_schema', {
      message:
        `The store has level ${level}, this program can run a store up to level ${levels.max}. ` +
        `Nothing was written. Stop this process and start it with a version that runs level ${level}.`,
    })
  }
  if (level < levels.min) {
    return new EngineError('older_schema', {
      message:
        `The store has level ${level}, this program can run a store from level ${levels.min} on. ` +
        `Run "flowfabric migrate" with a version that runs levels ${level} and ${level + 1} first.`,
    })
  }
  return undefined
}

/** Refuses all work of a process once its store was seen at a level that the process cannot run. */
export class LevelGuard {
  readonly levels: Levels
  #level: number
  #refusal: EngineError | undefined

  /** `found` is what the settings held when the store was opened. */
  constructor(levels: Levels, found?: unknown) {
    this.levels = levels
    this.#level = found === undefined ? FIRST_LEVEL : storedLevel(found)
  }

  /** The highest level that was observed. */
  get level(): number {
    return this.#level
  }

  /** Throws if the process cannot run the level, now and at every later check. */
  observe(found: unknown): void {
    this.#refusal ??= levelRefusal(found, this.levels)
    this.check()
    this.#level = Math.max(this.#level, storedLevel(found))
  }

  /** Throws the refusal of an earlier level. */
  check(): void {
    if (this.#refusal !== undefined) throw this.#refusal
  }
}
