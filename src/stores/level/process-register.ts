/**
 * Announces a process while it has a store open, so that the level of the store is raised only once every live process can
 * run the next level. Each renewal also reads the level, so an idle process notices that it cannot run the store any more.
 */
import { hostname } from 'node:os'
import { endWithin, errorFields, packageVersion } from '../../runtime/index.ts'
import type { Log, Runtime, Timer } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { ANNOUNCE_EVERY_MS } from './level-place.ts'
import type { LevelPlace, ProcessInfo } from './level-place.ts'
import type { LevelGuard, Levels } from './store-level.ts'

/** How long closing a store waits for the withdrawal of its announcement. */
const WITHDRAW_MAX_MS = 1_000

const REFUSED = 'the level of the store is higher than this process can run; restart it with a newer version'

export interface ProcessRegisterOptions {
  readonly place: LevelPlace
  readonly guard: LevelGuard
  readonly runtime: Runtime
  readonly log: Log
}

export class ProcessRegister {
  readonly #place: LevelPlace
  readonly #guard: LevelGuard
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #process: ProcessInfo
  #timer: Timer | undefined
  #isClosed = false

  constructor({ place, guard, runtime, log }: ProcessRegisterOptions) {
    this.#place = place
    this.#guard = guard
    this.#runtime = runtime
    this.#log = log
    this.#process = ownProcess(runtime.uuid(), guard.levels)
  }

  /**
   * Announces the process and renews the announcement until the register is closed or the process cannot run the level.
   * A failure is logged and repaired by the next renewal.
   */
  async start(): Promise<void> {
    try {
      await this.#place.announce(this.#process)
      const level = await this.#place.readLevel()
      if (level !== undefined) this.#guard.observe(level)
    } catch (error) {
      if (isRefusal(error)) {
        this.#log.error(errorFields(error), REFUSED)
        await this.close()
      } else if (!this.#isClosed) {
        this.#log.debug(errorFields(error), 'could not announce this process to the store; trying again later')
      }
    }
    if (this.#isClosed) return
    // Scheduled only now, so renewals never overlap.
    this.#timer = this.#runtime.after(ANNOUNCE_EVERY_MS, () => void this.start(), { background: true })
  }

  /** Withdraws the announcement; should that fail, the announcement lapses. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await endWithin(this.#runtime, WITHDRAW_MAX_MS, this.#place.withdraw(this.#process))
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'newer_schema'
}

function ownProcess(processId: string, { min, max }: Levels): ProcessInfo {
  return { processId, host: hostname(), pid: process.pid, version: packageVersion(), levelMin: min, levelMax: max }
}
