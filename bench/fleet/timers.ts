/** The timers of lives: which of them are submitted with a delay, and whose first attempt fails and is retried. */

export interface Timers {
  /** Share of executions that are submitted with a delay. */
  readonly delayedShare: number
  /** Share of executions whose first attempt fails. */
  readonly retryShare: number
}

export const NO_TIMERS: Timers = { delayedShare: 0, retryShare: 0 }

/** Short beside a run, which ends only when the last timer has fired. */
export const SUBMIT_DELAY_MS = 25
export const RETRY_BACKOFF_MS = 25
/** The first attempt and its retry. */
export const ATTEMPTS = 2

export function hasTimers({ delayedShare, retryShare }: Timers): boolean {
  return delayedShare > 0 || retryShare > 0
}

export function isDelayed(number: number, { delayedShare }: Timers): boolean {
  return isChosen(number, delayedShare)
}

export function failsFirst(number: number, { retryShare }: Timers): boolean {
  return isChosen(number, retryShare)
}

/** Chooses this share of all numbers, evenly spread, and the same ones in every process. */
function isChosen(number: number, share: number): boolean {
  return Math.floor((number + 1) * share) > Math.floor(number * share)
}
