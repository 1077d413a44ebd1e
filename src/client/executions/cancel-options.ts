import { optionKeys } from '../checks/exhaustive.ts'
import type { Duration } from '../define/duration.ts'

export interface CancelOptions {
  readonly by?: string
  /** End a running execution now instead of asking its worker to stop. */
  readonly force?: boolean
  /** How long its worker is given to stop. */
  readonly grace?: Duration
}

export const CANCEL_KEYS = optionKeys<CancelOptions>()(['by', 'force', 'grace'])
