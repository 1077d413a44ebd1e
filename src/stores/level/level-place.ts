/** The interface by which the level of a store is raised while processes use it. */

/** A process that has a store open. */
export interface ProcessInfo {
  readonly processId: string
  readonly host: string
  readonly pid: number
  /** The version of the package. */
  readonly version: string
  /** The levels that the process can run. */
  readonly levelMin: number
  readonly levelMax: number
}

/** Reads an announcement from a row of the table `process`, which SQL stores share. */
export function processOf(row: Readonly<Record<string, unknown>>): ProcessInfo {
  return {
    processId: row['id'] as string,
    host: row['host'] as string,
    pid: row['pid'] as number,
    version: row['version'] as string,
    levelMin: row['level_min'] as number,
    levelMax: row['level_max'] as number,
  }
}

export interface LevelPlace {
  /** Reads the level from the settings; undefined if the store was never used. */
  readLevel(): Promise<number | undefined>
  /** Writes or renews an announcement, and removes some that have lapsed. */
  announce(process: ProcessInfo): Promise<void>
  withdraw(process: ProcessInfo): Promise<void>
  /** Lists the processes whose announcements have not lapsed, in a stable order. */
  liveProcesses(): Promise<readonly ProcessInfo[]>
  /** Raises the level, and never lowers it. A commit that begins after this has returned observes at least this level. */
  raise(to: number): Promise<void>
}

/** Interval of renewals. */
export const ANNOUNCE_EVERY_MS = 30_000
/** An announcement that was not renewed for this long has lapsed: two renewals may fail. */
export const LAPSES_AFTER_MS = 3 * ANNOUNCE_EVERY_MS
/** Limit of lapsed announcements that one renewal removes. */
export const FORGET_MAX = 100
/** Limit of live processes that are checked before a level is raised. */
export const PROCESSES_MAX = 10_000
